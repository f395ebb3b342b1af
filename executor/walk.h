/*
 * executor/walk.h - walks a hostile directory tree by descriptor: no
 * recursion, no link followed, no mount crossed, and bounds on depth, length
 * of a path and number of entries.  Linked by bailiff-collect.
 *
 * Entries come directory by directory; within one they are sorted by name in
 * blocks of one getdents64(2) buffer (about a thousand names), so that small
 * directories come in order and large ones cost no memory.
 */
#ifndef EXECUTOR_WALK_H
#define EXECUTOR_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

#define WALK_DEPTH_MAX 64
#define WALK_PATH_MAX  4096 /* raw bytes, no NUL */

enum walk_what {
	WALK_END,
	WALK_ENTRY,      /* anything but a directory; 'st' tells what */
	WALK_DEEP,       /* a directory that was not entered: too deep */
	WALK_FULL,       /* a directory that was left: max_entries */
	WALK_LONG,       /* a path of more than WALK_PATH_MAX bytes, cut */
	WALK_UNREADABLE, /* an entry or a directory that cannot be read */
};

/* Points into the walk; good until the next call. */
struct walk_entry {
	enum walk_what what;
	const char *path; /* beneath the start; bytes, not text; NUL behind */
	size_t path_len;
	const char *name; /* its last component */
	int dir_fd;       /* the directory that holds it */
	struct stat st;   /* of WALK_ENTRY, by fstatat(AT_SYMLINK_NOFOLLOW) */
};

struct walk;

/*
 * 'max_depth' counts components: 1 is only what lies in the directory itself,
 * 0 nothing; more than WALK_DEPTH_MAX counts as that.
 */
struct walk_limits {
	uint64_t max_depth;
	uint64_t max_entries; /* of the whole tree */
	/* At the top: this name alone, or all but this one; NULL: all.  What is
	 * passed over counts as an entry.  Borrowed
	 * as long as the walk. */
	const char *only, *but;
};

/*
 * Start at 'dir_fd', which the walk owns from here on, also on failure.  All
 * memory is taken here.
 */
int walk_open(int take_dir_fd, struct walk_limits limits, struct walk **ret,
    struct error *e) MUST_CHECK;

void walk_next(struct walk *w, struct walk_entry *ret);

void walk_free(struct walk *w); /* NULL is fine */

#endif
