/*
 * executor/cgroup_own.c - control groups of an account that is not root: found
 * where somebody delegated them to it, or not at all.  Linked by
 * bailiff-launch; runs once, at start, with the account's rights to files.
 *
 * v2: whoever moves a process needs write access to cgroup.procs of the group
 * above both ends, and a group that hands controllers down holds no process
 * itself (cgroup-v2.rst, "Delegation" and "No Internal Process Constraint").
 * So we look upwards from our own group for one that hands memory and pids
 * down, or can because only we are in it: then we move beneath it.  A
 * controller that we hand on cannot be taken from us (EBUSY).
 *
 * v1: the target's cgroup.procs is asked for alone (kernel/cgroup/cgroup-v1.c),
 * and groups with processes may have children: our own group does.
 */
#include "executor/cgroup_own.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/knob.h"

/* Levels of groups that are looked at. */
#define CLIMB_MAX 32

struct search {
	struct cgroups *g;
	const struct cgroup_ours *ours;
	const struct cgroup_roots *roots;
	char self[KNOB_TEXT_MAX]; /* /proc/self/cgroup */
};

static bool may_write(int fd, const char *name)
{
	return faccessat(fd, name, W_OK, AT_EACCESS) == 0;
}

/* The delegatee has these files and the directory (cgroup-v2.rst). */
static bool is_delegated(int fd, enum cgroup_mode mode)
{
	return may_write(fd, ".") && may_write(fd, "cgroup.procs") &&
	       (mode != CGROUP_V2 || may_write(fd, "cgroup.subtree_control"));
}

static bool has_both(const char *text)
{
	return cgroup_has_word(text, "memory") && cgroup_has_word(text, "pids");
}

static void close_one(int *fd)
{
	own_close(fd);
	*fd = -1;
}

static void close_tops(struct cgroups *g)
{
	for (size_t i = 0; i < CGROUP_TREES; i++)
		close_one(&g->top_fd[i]);
}

static int serve(const struct search *s, struct error *e)
{
	if (cgroup_serve(s->g, s->ours->launcher, e) < 0)
		return -1;
	return cgroup_serve(s->g, s->ours->supervisor, e);
}

/* Beneath 'fd', with ourselves out of it first. */
static int settle(const struct search *s, int fd, struct error *e)
{
	struct cgroups *g = s->g;

	if (cgroup_top_make(g, CGROUP_UNIFIED, fd, e) < 0 || serve(s, e) < 0 ||
	    cgroup_hand_down(g, fd, e) < 0)
		return -1;
	return cgroup_hand_down(g, g->top_fd[CGROUP_UNIFIED], e);
}

/* Can the group hand memory and pids down, once we are out of it? */
static bool can_hand_down(const struct search *s, int fd)
{
	char text[512];
	struct error ignored;

	if (knob_read(fd, "cgroup.controllers", text, sizeof(text), &ignored) <
	        0 ||
	    !has_both(text))
		return false;
	if (knob_read(
	        fd, "cgroup.subtree_control", text, sizeof(text), &ignored) < 0)
		return false;
	if (has_both(text))
		return true;
	/* What is cut off there names more than two processes. */
	return knob_read(fd, "cgroup.procs", text, sizeof(text), &ignored) ==
	           0 &&
	       cgroup_only_ours(text, s->ours);
}

/* One level up; false at the mount point. */
static bool climb(char *path, size_t mount_len)
{
	char *slash = strrchr(path, '/');

	if (strlen(path) <= mount_len || slash == NULL)
		return false;
	*slash = '\0';
	return true;
}

static bool own_place(const struct search *s, enum cgroup_tree tree,
    char ret[2 * CGROUP_PATH_MAX])
{
	char own[CGROUP_PATH_MAX];

	if (!cgroup_own_path(s->self, tree, own))
		return false;
	(void)snprintf(ret, (size_t)2 * CGROUP_PATH_MAX, "%s%s",
	    s->roots->places.path[tree], own);
	return true;
}

/* A group that looks right and is not (its controllers were taken meanwhile) is
 * none; the words that results have then say so. */
static bool find_v2(const struct search *s)
{
	size_t mount_len = strlen(s->roots->places.path[CGROUP_UNIFIED]);
	char path[2 * CGROUP_PATH_MAX];
	struct error ignored;

	if (!own_place(s, CGROUP_UNIFIED, path))
		return false;
	for (int level = 0; level < CLIMB_MAX; level++) {
		AUTO_FD fd =
		    open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (fd < 0 || !is_delegated(fd, CGROUP_V2))
			return false;
		if (can_hand_down(s, fd) && settle(s, fd, &ignored) == 0)
			return true;
		close_tops(s->g);
		if (!climb(path, mount_len))
			return false;
	}
	return false;
}

static bool open_split(const struct search *s, int fds[CGROUP_TREES])
{
	char path[2 * CGROUP_PATH_MAX];

	for (enum cgroup_tree i = CGROUP_UNIFIED; i < CGROUP_TREES; i++) {
		if (!own_place(s, i, path))
			return false;
		fds[i] =
		    open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fds[i] < 0 || !is_delegated(fds[i], CGROUP_HYBRID))
			return false;
	}
	return true;
}

/* In all three hierarchies, or in none. */
static bool find_split(const struct search *s)
{
	int fds[CGROUP_TREES] = { -1, -1, -1 };
	bool found = open_split(s, fds);
	struct error ignored;

	for (enum cgroup_tree i = CGROUP_UNIFIED; i < CGROUP_TREES; i++) {
		found =
		    found && cgroup_top_make(s->g, i, fds[i], &ignored) == 0;
		close_one(&fds[i]);
	}
	if (found && serve(s, &ignored) == 0)
		return true;
	close_tops(s->g);
	return false;
}

int cgroup_open_own(struct cgroups *g, const struct cgroup_ours *ours,
    bool *ret_found, struct error *e)
{
	struct cgroup_roots roots;
	struct search s = { .g = g, .ours = ours, .roots = &roots };
	struct error ignored;

	*ret_found = false;
	if (cgroup_roots_find(&roots, e) < 0 ||
	    knob_read(
	        AT_FDCWD, "/proc/self/cgroup", s.self, sizeof(s.self), e) < 0)
		return -1;
	/* An account cannot mount the v2 tree that a host lacks (mode v1). */
	if (cgroup_judge(
	        &roots.places, roots.controllers, &g->mode, &ignored) == 0)
		*ret_found = g->mode == CGROUP_V2       ? find_v2(&s)
		             : g->mode == CGROUP_HYBRID ? find_split(&s)
		                                        : false;
	return 0;
}
