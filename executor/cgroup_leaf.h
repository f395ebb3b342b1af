/*
 * executor/cgroup_leaf.h - the control groups of one run: made, limited, watched
 * by the supervisor, removed.
 */
#ifndef EXECUTOR_CGROUP_LEAF_H
#define EXECUTOR_CGROUP_LEAF_H

#include "executor/cgroup.h"

#define CGROUP_LEAF   17 /* a slot's number in hex, with NUL */
#define CGROUP_FILES  7  /* LAUNCH_FD_KILL to LAUNCH_FD_PIDS_EVENTS */
#define CGROUP_LIMITS 5  /* files that limits are written to, at most */

/* Descriptors are -1 where unused. */
struct cgroup_leaf {
	int fd[CGROUP_TREES];
	int limit_fd[CGROUP_LIMITS];
	int file_fd[CGROUP_FILES]; /* in the order of enum launch_started_fd */
	char name[CGROUP_LEAF];
};

#define CGROUP_NO_LEAF                               \
	((struct cgroup_leaf){ .fd = { -1, -1, -1 }, \
	    .limit_fd = { -1, -1, -1, -1, -1 },      \
	    .file_fd = { -1, -1, -1, -1, -1, -1, -1 } })

struct cgroup_limits {
	uint64_t memory; /* bytes */
	uint64_t pids;
};

/* Make the leaves of one run, and open what will be written and watched. */
int cgroup_leaf_make(const struct cgroups *g, uint64_t slot,
    struct cgroup_leaf *ret, struct error *e) MUST_CHECK;

/* Write its limits and read them back, whoever is in it by now; once. */
int cgroup_leaf_limit(const struct cgroups *g, struct cgroup_leaf *leaf,
    const struct cgroup_limits *limits, struct error *e) MUST_CHECK;

/* Move the calling process into the v1 leaves; nothing to do on v2. */
int cgroup_leaf_join(
    const struct cgroup_leaf *leaf, struct error *e) MUST_CHECK;

/* Its limits are set and the supervisor has the files it watches: close both. */
void cgroup_leaf_going(struct cgroup_leaf *leaf);

/* Remove the leaves; they must be empty.  Closes what it holds. */
int cgroup_leaf_remove(const struct cgroups *g, struct cgroup_leaf *leaf,
    struct error *e) MUST_CHECK;

#endif
