/*
 * executor/mounts.h - the mount calls by descriptor (fsopen(2), open_tree(2),
 * move_mount(2), mount_setattr(2); Linux 5.12), so that no path of the host is
 * resolved twice.
 */
#ifndef EXECUTOR_MOUNTS_H
#define EXECUTOR_MOUNTS_H

#include <stddef.h>

#include "base/error.h"

struct mounts_option {
	const char *key;
	const char *value; /* NULL: a flag */
};

#define MOUNTS_OPTIONS_MAX 4

struct mounts_new {
	const char *type;        /* "tmpfs", "proc", "cgroup2" */
	unsigned int attributes; /* MOUNT_ATTR_* */
	struct mounts_option options[MOUNTS_OPTIONS_MAX]; /* key NULL ends */
};

/* A new file system, attached nowhere; the descriptor is the caller's. */
int mounts_make(
    const struct mounts_new *what, int *ret_fd, struct error *e) MUST_CHECK;

enum mounts_depth {
	MOUNTS_ONE,
	MOUNTS_ALL_BELOW
};

/*
 * A detached copy of the mount at 'path' beneath 'dir_fd' ("": itself).  The
 * original must be attached in this mount namespace: Linux 6.1 refuses to
 * clone what is detached.
 */
int mounts_clone(int dir_fd, const char *path, enum mounts_depth depth,
    int *ret_fd, struct error *e) MUST_CHECK;

/* Set MOUNT_ATTR_* and private propagation on 'fd' and all below it. */
int mounts_set(int fd, unsigned int attributes, struct error *e) MUST_CHECK;

/* Attach the detached mount 'fd' at 'path' beneath 'dir_fd' ("": on it). */
int mounts_attach(
    int fd, int dir_fd, const char *path, struct error *e) MUST_CHECK;

/* Change options of the superblock of 'fd', the root of a mount. */
int mounts_change(int fd,
    const struct mounts_option options[MOUNTS_OPTIONS_MAX],
    struct error *e) MUST_CHECK;

/*
 * Make the superblock itself read-only: a mount flag binds one mount, and a
 * clone of it is one remount away from being writable.
 */
int mounts_freeze(int fd, struct error *e) MUST_CHECK;

#endif
