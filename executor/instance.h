/*
 * executor/instance.h - which instances live on this host, and what is left of
 * those that do not.  Each holds a lock on /run/bailiff/instances/<id> for
 * life; a free lock means that its launcher is gone.
 */
#ifndef EXECUTOR_INSTANCE_H
#define EXECUTOR_INSTANCE_H

#include "base/error.h"
#include "executor/cgroup.h"

/*
 * Make and lock the file of instance 'name' in 'dir_fd'.  *ret_fd is the lock,
 * the caller's, to keep open for life.
 */
int instance_lock(
    int dir_fd, const char *name, int *ret_fd, struct error *e) MUST_CHECK;

/*
 * Kill and remove what dead instances left in the control groups, and their
 * lock files.  A group without a lock file is left alone: it may belong to a host whose /run is not ours.
 */
int instance_sweep(
    int dir_fd, const struct cgroups *g, struct error *e) MUST_CHECK;

/*
 * Without root there is no directory of lock files: the lock lies on the
 * group's own directory in the v2 tree, and whoever makes groups or sweeps
 * holds the one on the directory above ('turn') meanwhile.
 */
int instance_lock_turn(
    const struct cgroups *g, int *ret_fd, struct error *e) MUST_CHECK;
int instance_lock_group(
    const struct cgroups *g, int *ret_fd, struct error *e) MUST_CHECK;
int instance_sweep_groups(const struct cgroups *g, struct error *e) MUST_CHECK;

#endif
