/*
 * policy/mounts.h - what a run has mounted: the mounts that every view has, the
 * directories of this host, and the directories of one request.
 *
 * Looks at the host (lstat(2), /proc/self/mountinfo), as policy/load.h and
 * policy/absent.h do and for the same reason: `bailiff policy explain` must say
 * exactly what a service does.
 */
#ifndef POLICY_MOUNTS_H
#define POLICY_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"
#include "policy/policy.h"

#define MOUNTS_MAX       96
#define MOUNTS_POINT_MAX 256 /* inside the view, with its NUL */

struct mount_line {
	char point[MOUNTS_POINT_MAX]; /* absolute, inside the view */
	/* "tmpfs", "proc", "overlay"; "tree": any type, part of the host. */
	char type[16];
	bool read_only; /* the mount or its file system */
	bool devices;   /* device files work: /dev alone */
};

struct mounts {
	size_t n;
	struct mount_line items[MOUNTS_MAX];
};

/* Of the service that makes the view. */
enum mounts_of {
	MOUNTS_OF_ROOT,
	MOUNTS_OF_USER, /* devices are the host's, one by one */
};

/* What every view has, whatever the host: /, /dev, /proc, /sandbox, ... */
const struct mount_line *mounts_own(enum mounts_of of, size_t *ret_n);

/* "usr" and the names beside it that a host may have as links into it. */
#define MOUNTS_TOPS_N 7
extern const char *const mounts_tops[MOUNTS_TOPS_N];

/*
 * Call 'each' with every mount point of the host beneath one of the 'n_tops'
 * ("usr"), in the order of the mount table, until it fails.
 */
struct mounts_walk {
	const char *const *tops; /* borrowed */
	size_t n_tops;
	int (*each)(void *context, const char *point, struct error *e);
	void *context;
};
int mounts_each_inner(
    const struct mounts_walk *walk, struct error *e) MUST_CHECK;

/* How a mount of the host inside the toolchain enters the view. */
enum mounts_inner {
	MOUNTS_INNER_HIDDEN, /* neither file nor directory, or an odd name */
	MOUNTS_INNER_FILE,   /* bound as it is */
	MOUNTS_INNER_TREE,   /* an overlay of its own */
};
enum mounts_inner mounts_inner_kind(const char *point, const struct stat *st);

/* All mounts of a run of the policy on this host, without a request's. */
int mounts_find(
    enum mounts_of of, struct mounts *ret, struct error *e) MUST_CHECK;

/*
 * Append a line for each directory of an allowed request; the names as they
 * are, where the kernel's own table writes a space as \040.
 */
int mounts_add_request(struct mounts *to, const struct policy_request *request,
    struct error *e) MUST_CHECK;

#endif
