/*
 * executor/cgroup_find.h - texts of the kernel about control groups, understood.
 * Pure; the files are read by cgroup.c and cgroup_own.c.
 */
#ifndef EXECUTOR_CGROUP_FIND_H
#define EXECUTOR_CGROUP_FIND_H

#include <stdbool.h>
#include <sys/types.h>

#include "executor/cgroup.h"

/* Mount points as the host has them; "" if there is none. */
struct cgroup_places {
	char path[CGROUP_TREES][CGROUP_PATH_MAX];
};

/* The text of /proc/self/mountinfo to places.  See proc(5). */
void cgroup_find(const char *mountinfo, struct cgroup_places *ret);

/*
 * Which way to go, from the places and the text of cgroup.controllers at
 * the top of the v2 tree ("" if it is not mounted).
 */
int cgroup_judge(const struct cgroup_places *places, const char *controllers,
    enum cgroup_mode *ret, struct error *e) MUST_CHECK;

/* Is 'word' in the text of cgroup.controllers and its like? */
bool cgroup_has_word(const char *text, const char *word);

/*
 * Our own group in a hierarchy, from the text of /proc/self/cgroup, as a
 * path below its mount point ("" for the top; see cgroups(7)).  False if the
 * hierarchy is not in the text, or the path is too long.
 */
bool cgroup_own_path(
    const char *self_cgroup, enum cgroup_tree tree, char ret[CGROUP_PATH_MAX]);

/* Our own processes, which may be moved. */
struct cgroup_ours {
	pid_t launcher, supervisor;
};

/* The text of cgroup.procs names nobody else. */
bool cgroup_only_ours(const char *procs, const struct cgroup_ours *ours);

#endif
