/*
 * executor/template_mounts.c - the mount table that every run must have.
 * Linked by the supervisor, used once at start.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/template.h"

#define MOUNTINFO_MAX 1048576

int template_add_mount(
    struct template *t, const struct posture_mount *mount, struct error *e)
{
	if (t->n_mounts == POSTURE_MOUNTS_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d mounts in the view",
		    POSTURE_MOUNTS_MAX);
	t->mounts[t->n_mounts++] = *mount;
	return 0;
}

static bool is_beneath(const char *path, const char *tree)
{
	size_t n = strlen(tree);

	return strncmp(path, tree, n) == 0 && path[n] == '/';
}

/* The fifth word of a line of mountinfo (proc(5)). */
static int mount_point(const char *line, char ret[LAUNCH_PATH_MAX])
{
	size_t n;

	for (int i = 0; i < 4; i++) {
		line += strcspn(line, " ");
		line += *line == ' ';
	}
	n = strcspn(line, " ");
	if (n == 0 || n >= LAUNCH_PATH_MAX)
		return -1;
	memcpy(ret, line, n);
	ret[n] = '\0';
	return 0;
}

/* A recursive bind brings along what the host has mounted inside a tree. */
int template_add_host_mounts(struct template *t, struct error *e)
{
	AUTO_FD fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	uint8_t *data;
	size_t len;
	size_t n_trees = t->n_mounts;
	char *rest = NULL;

	if (fd < 0)
		return FAIL_SYS(e, "open /proc/self/mountinfo");
	if (file_read_all(fd, MOUNTINFO_MAX, &data, &len, e) < 0)
		return FAIL_IN(e, "/proc/self/mountinfo");
	text = (char *)data;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct posture_mount mount = { .type = "tree",
			.read_only = true };

		if (mount_point(line, mount.point) < 0)
			return FAIL(e, ERROR_MALFORMED, "mountinfo");
		for (size_t i = 0; i < n_trees; i++)
			if (is_beneath(mount.point, t->mounts[i].point) &&
			    template_add_mount(t, &mount, e) < 0)
				return -1;
	}
	return 0;
}

int template_program(const struct template *t, const char *path,
    char ret[LAUNCH_PATH_MAX], struct error *e)
{
	char real[PATH_MAX];

	if (realpath(path, real) == NULL || access(real, X_OK) < 0)
		return FAIL(e, ERROR_UNAVAILABLE, "%s: %s", path,
		    strerrordesc_np(errno));
	if (strlen(real) >= LAUNCH_PATH_MAX)
		return FAIL(e, ERROR_UNAVAILABLE, "%s: path too long", real);
	for (size_t i = 0; i < t->n_mounts; i++)
		if (strcmp(t->mounts[i].type, "tree") == 0 &&
		    is_beneath(real, t->mounts[i].point)) {
			memcpy(ret, real, strlen(real) + 1);
			return 0;
		}
	return FAIL(e, ERROR_UNAVAILABLE, "%s: not beneath /usr", real);
}
