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

int template_add_own(
    struct template *t, const struct posture_mount *mount, struct error *e)
{
	if (t->n_mounts == POSTURE_MOUNTS_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d mounts in the view",
		    POSTURE_MOUNTS_MAX);
	t->mounts[t->n_mounts++] = *mount;
	return 0;
}

int template_add_mount(
    struct template *t, const char *point, const char *type, struct error *e)
{
	struct posture_mount mount = { .read_only = true };

	if (strlen(point) >= sizeof(mount.point))
		return FAIL(e, ERROR_LIMIT, "%s: path too long", point);
	memcpy(mount.point, point, strlen(point) + 1);
	memcpy(mount.type, type, strlen(type) + 1);
	return template_add_own(t, &mount, e);
}

bool template_is_beneath(const char *path, const char *tree)
{
	size_t n = strlen(tree);

	return strncmp(path, tree, n) == 0 && path[n] == '/';
}

bool template_is_plain(const char *point)
{
	return strpbrk(point, " \t\n\\") == NULL;
}

/* As proc(5) writes it: space, tab, newline and backslash are \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at != '\0'; to++) {
		bool octal = at[0] == '\\' && strspn(at + 1, "01234567") >= 3;

		*to = *at;
		if (octal)
			*to = (char)(unsigned char)((at[1] - '0') * 64 +
			                            (at[2] - '0') * 8 +
			                            (at[3] - '0'));
		at += octal ? 4 : 1;
	}
	*to = '\0';
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
	unescape(ret);
	return 0;
}

static bool is_top(const char *path)
{
	return strchr(path, '/') == NULL;
}

/* Whether 'point' lies in one of the trees at the top. */
static bool is_inner(const struct template *t, const char *point)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct launch_entry *entry = &t->items[i].entry;

		if (entry->kind == ENTRY_TREE && is_top(entry->path) &&
		    template_is_beneath(point + 1, entry->path))
			return true;
	}
	return false;
}

int template_each_inner(const struct template_inner *inner, struct error *e)
{
	AUTO_FD fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	uint8_t *data;
	size_t len;
	char *rest = NULL;

	if (fd < 0)
		return FAIL_SYS(e, "open /proc/self/mountinfo");
	if (file_read_all(fd, MOUNTINFO_MAX, &data, &len, e) < 0)
		return FAIL_IN(e, "/proc/self/mountinfo");
	text = (char *)data;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		char point[LAUNCH_PATH_MAX];

		if (mount_point(line, point) < 0)
			return FAIL(e, ERROR_MALFORMED, "mountinfo");
		if (is_inner(inner->t, point) &&
		    inner->each(inner->context, point) < 0)
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
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].entry.kind == ENTRY_TREE &&
		    template_is_beneath(real + 1, t->items[i].entry.path)) {
			memcpy(ret, real, strlen(real) + 1);
			return 0;
		}
	return FAIL(e, ERROR_UNAVAILABLE, "%s: not beneath /usr", real);
}
