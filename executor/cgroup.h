/*
 * executor/cgroup.h - where control groups are on this host, and what lies above
 * the leaves of one run (cgroup_leaf.h).
 *
 * Limits lie where the memory and pids controllers are: in the v2 tree ("v2"),
 * or in v1 hierarchies ("hybrid", "v1").  Life and death always lie in a leaf
 * of the v2 tree, which has cgroup.kill, cgroup.events and cpu.stat even with
 * no controller in it (Linux 5.14); on a host that does not mount it we mount
 * it for ourselves.
 *
 * Layout, the same in each hierarchy: bailiff/services holds our own
 * processes, bailiff/<instance>/<slot> one run.
 */
#ifndef EXECUTOR_CGROUP_H
#define EXECUTOR_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define CGROUP_PATH_MAX 256
#define CGROUP_HEX      33 /* an instance id in hex, with NUL */

enum cgroup_mode {
	CGROUP_V2,
	CGROUP_HYBRID,
	CGROUP_V1
};

/* Hierarchies; MEMORY and PIDS are apart from UNIFIED on v1 only. */
enum cgroup_tree {
	CGROUP_UNIFIED,
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_TREES
};

const char *cgroup_mode_word(enum cgroup_mode mode);

struct cgroups {
	enum cgroup_mode mode;
	int top_fd[CGROUP_TREES];      /* bailiff/ ; -1 where unused */
	int instance_fd[CGROUP_TREES]; /* bailiff/<instance>/ */
	char instance[CGROUP_HEX];
};

/* Find, judge and open; make bailiff/ and its services, with controllers. */
int cgroup_open(struct cgroups *g, struct error *e) MUST_CHECK;

/* Move a process of ours to bailiff/services. */
int cgroup_serve(
    const struct cgroups *g, pid_t pid, struct error *e) MUST_CHECK;

int cgroup_instance(struct cgroups *g, struct error *e) MUST_CHECK;

/* Kill whatever this instance has and remove its groups, as far as it goes; an
 * error if any of them is left. */
int cgroup_instance_end(struct cgroups *g, struct error *e) MUST_CHECK;

/* Kill what the group has, wait until it is empty, at most 'wait_ms'. */
int cgroup_kill(int group_fd, int wait_ms, struct error *e) MUST_CHECK;

/* Wait, at most 'wait_ms', until nothing in the group lives. */
int cgroup_await_empty(int group_fd, int wait_ms, struct error *e) MUST_CHECK;

/* Remove bailiff/<name> and the leaves in it, in every hierarchy. */
int cgroup_remove(
    const struct cgroups *g, const char *name, struct error *e) MUST_CHECK;

/* Remove one group; none is fine.  Busy for a moment after its last process is
 * gone, which is waited out. */
int cgroup_rmdir(int dir_fd, const char *name, struct error *e) MUST_CHECK;

#endif
