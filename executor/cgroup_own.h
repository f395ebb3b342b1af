/*
 * executor/cgroup_own.h - control groups of an account that is not root, and
 * what opening them shares with root's.  Linked by bailiff-launch.
 */
#ifndef EXECUTOR_CGROUP_OWN_H
#define EXECUTOR_CGROUP_OWN_H

#include "executor/cgroup_find.h"

/*
 * cgroup_open for an account that is not root: in a group that was
 * delegated to it, above or at our own: where it may make groups and move
 * processes, and with memory and pids to limit (cgroup-v2.rst, "Delegation").
 * Moves 'ours' to bailiff/services there.  *ret_found false, and nothing open,
 * if there is none.
 */
int cgroup_open_own(struct cgroups *g, const struct cgroup_ours *ours,
    bool *ret_found, struct error *e) MUST_CHECK;

/* Parts of cgroup_open that both share. */
struct cgroup_roots {
	struct cgroup_places places;
	char controllers[512]; /* of the top of the v2 tree */
};
int cgroup_roots_find(struct cgroup_roots *ret, struct error *e) MUST_CHECK;
/* Make bailiff/ and bailiff/services beneath 'fd', as g->top_fd[tree]. */
int cgroup_top_make(struct cgroups *g, enum cgroup_tree tree, int fd,
    struct error *e) MUST_CHECK;
/* v2: children get a controller only if each group above hands it down. */
int cgroup_hand_down(
    const struct cgroups *g, int fd, struct error *e) MUST_CHECK;

#endif
