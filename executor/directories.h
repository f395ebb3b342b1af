/*
 * executor/directories.h - a host directory of a request where there is no
 * root.  Linked by bailiff-launch; runs in a child of the clone.
 *
 * The opener opened it in the host's mount namespace, from which a launcher
 * without root cannot take layers; it has a copy of those mounts of its own
 * (launch_nest.c).  So the directory is opened anew there, by the path that the
 * kernel has for the opener's descriptor, and must be the same inode, which
 * that descriptor keeps from being used again.
 */
#ifndef EXECUTOR_DIRECTORIES_H
#define EXECUTOR_DIRECTORIES_H

#include "base/error.h"

/*
 * In the launcher's copy of the host's mounts already: leave it for one that
 * dies with us, and open there what 'fd' is.  ERROR_STATE if the host has
 * something else at its path by now.
 */
int directories_own_open(int fd, int *ret_fd, struct error *e) MUST_CHECK;

/* After that: an empty directory, for the top layer. */
int directories_own_empty(int *ret_fd, struct error *e) MUST_CHECK;

#endif
