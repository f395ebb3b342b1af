/*
 * executor/template_mounts.c - the mount table that every run must have.
 * Linked by the supervisor, used once at start.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/template.h"

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
