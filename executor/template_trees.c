/*
 * executor/template_trees.c - what of the host's directories is in the view,
 * and what of them is not.  Linked by the supervisor, used once at start.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"
#include "executor/template_maker.h"
#include "policy/absent.h"
#include "policy/mounts.h"

int maker_add_tree(struct maker *m, const char *name)
{
	AUTO_FD fd = -1;
	char path[LAUNCH_PATH_MAX];

	(void)snprintf(path, sizeof(path), "/%s", name);
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return FAIL_SYS(m->e, "open %s", path);
	if (template_add_mount(m->t, path, "overlay", m->e) < 0)
		return -1;
	return maker_add(m, ENTRY_TREE, name, take_fd(&fd));
}

/*
 * What the host has mounted inside a tree: a layer holds one mount and would
 * show what lies below it.  Directories become trees of their own and files
 * are bound; anything else, and what cannot be opened, is absent.
 */
static int add_nested(void *context, const char *point, struct error *e)
{
	struct maker *m = context;
	const char *name = point + 1;
	enum mounts_inner kind = MOUNTS_INNER_HIDDEN;
	struct stat st;
	AUTO_FD fd = open(point, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	(void)e; /* m->e is the same */
	if (maker_has(m, name))
		return 0; /* mounted over */
	if (fd < 0 && errno == ENOENT)
		return 0; /* hidden by another mount, on the host as well */
	if (fd >= 0 && fstat(fd, &st) == 0)
		kind = mounts_inner_kind(point, &st);
	if (kind == MOUNTS_INNER_HIDDEN)
		return maker_add(m, ENTRY_WHITEOUT, name, -1);
	if (template_add_mount(m->t, point,
	        kind == MOUNTS_INNER_TREE ? "overlay" : "tree", m->e) < 0)
		return -1;
	return maker_add(m, ENTRY_TREE, name, take_fd(&fd));
}

static int add_absent(struct maker *m, const char *path)
{
	for (size_t i = 0; i < m->t->n; i++) {
		const struct launch_entry *entry = &m->t->items[i].entry;

		if (entry->kind == ENTRY_WHITEOUT &&
		    (strcmp(entry->path, path) == 0 ||
		        template_is_beneath(path, entry->path)))
			return 0;
	}
	/* Outside every tree nothing is in the view anyway. */
	for (size_t i = 0; i < m->t->n; i++)
		if (m->t->items[i].entry.kind == ENTRY_TREE &&
		    template_is_beneath(path, m->t->items[i].entry.path))
			return maker_add(m, ENTRY_WHITEOUT, path, -1);
	return 0;
}

int maker_add_denied(struct maker *m, const struct policy_language *l)
{
	struct absent *absent;
	int failed;

	if (!absent_has_any(l))
		return 0;
	absent = calloc(1, sizeof(*absent));
	if (absent == NULL)
		return FAIL_SYS(m->e, "look for denied modules");
	failed = absent_find(l, absent, m->e);
	if (failed == 0)
		failed = absent_judge(absent, m->e);
	for (size_t i = 0; failed == 0 && i < absent->n_paths; i++)
		failed = add_absent(m, absent->paths[i] + 1);
	free(absent);
	return failed;
}

int maker_add_inner(struct maker *m)
{
	const char *tops[MOUNTS_TOPS_N];
	struct mounts_walk walk = { tops, 0, add_nested, m };

	for (size_t i = 0; i < MOUNTS_TOPS_N; i++)
		for (size_t j = 0; j < m->t->n; j++)
			if (m->t->items[j].entry.kind == ENTRY_TREE &&
			    strcmp(m->t->items[j].entry.path, mounts_tops[i]) ==
			        0)
				tops[walk.n_tops++] = mounts_tops[i];
	return mounts_each_inner(&walk, m->e);
}
