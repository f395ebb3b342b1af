/*
 * executor/collect.h - what bailiff-collect and the supervisor say to each
 * other after a run's tree is dead.
 *
 * The collector walks the read-only scratch beneath /sandbox by descriptor.
 * It says of each file what its first bytes are (executor/picture.h).
 * For each regular file with one link that the program's uid owns it sends
 * FOUND; the supervisor answers TAKE with a descriptor to write to, or SKIP;
 * the collector copies, hashes and sends COPIED (or SKIPPED, why READ or WRITE,
 * if that fails half-way).  Everything else is SKIPPED with its reason, at
 * most a thousand times; DONE counts all, and ends it.  The collector has no
 * other authority; if its channel closes before DONE, it failed.
 */
#ifndef EXECUTOR_COLLECT_H
#define EXECUTOR_COLLECT_H

#include <stdint.h>

#include "base/wire.h"
#include "executor/launch.h"

#define COLLECT_NAME_MAX  4096 /* raw bytes of a path beneath /sandbox */
#define COLLECT_GLOBS_MAX 16   /* as a policy has them */
#define COLLECT_GLOB_MAX  128

enum collect_verb {
	COLLECT_START = 1,
	COLLECT_TAKE,
	COLLECT_SKIP
};
enum collect_reply_verb {
	COLLECT_FOUND = 1,
	COLLECT_COPIED,
	COLLECT_SKIPPED,
	COLLECT_DONE,
};

enum collect_why {
	COLLECT_LINK = 1, /* symbolic link, or more than one hard link */
	COLLECT_SPECIAL,  /* device, FIFO, socket */
	COLLECT_FOREIGN,  /* owned by another uid: code and inputs */
	COLLECT_LIMIT,    /* as many files or entries as there may be */
	COLLECT_NAME,     /* no name we can keep */
	COLLECT_READ,     /* could not be read */
	COLLECT_WRITE,    /* TAKE's descriptor did not take it: disk full */
	COLLECT_BYTES,    /* larger than what may still be taken */
	COLLECT_DEPTH,    /* a directory that lies too deep to be entered */
	COLLECT_PLOTS,    /* as LIMIT and BYTES, of what lies in the plots */
	COLLECT_PLOT_BYTES,
	COLLECT_PATTERN, /* not what the policy keeps */
	COLLECT_WHY_N,
};

struct collect_glob {
	char text[COLLECT_GLOB_MAX];
};

/* One descriptor: the scratch, read-only. */
struct collect_start {
	uint32_t uid; /* whose files count */
	uint64_t max_files, max_bytes, max_depth;
	/* What lies in the directory LANGUAGE_PLOTS comes first and counts apart;
	 * max_plots 0: it is a directory like any other. */
	uint64_t max_plots, max_plot_bytes;
	/* Of the rest, what the policy keeps: policy/glob.h. */
	WIRE_LIST_OF(struct collect_glob, COLLECT_GLOBS_MAX) globs;
	/* Code and inputs, at the top, where the uid does not tell them from
	 * what the program made: without root. */
	WIRE_LIST_OF(struct launch_input, LAUNCH_INPUTS_MAX + 1) ours;
};

struct collect_found {
	WIRE_BLOB_OF(COLLECT_NAME_MAX) name; /* no NUL, no leading slash */
	uint64_t size;
};

struct collect_copied {
	uint64_t size;
	uint8_t sha256[32];
	uint32_t kind; /* enum picture_kind */
	uint32_t width, height;
};

struct collect_skipped {
	WIRE_BLOB_OF(COLLECT_NAME_MAX) name;
	uint32_t why;
};

struct collect_done {
	uint64_t files, bytes, skipped;
	uint64_t foreign; /* of the skipped: FOREIGN */
	uint32_t why;     /* a bit, 1 << why, for each that occurred */
};

extern const struct wire_protocol collect_protocol;       /* supervisor's */
extern const struct wire_protocol collect_reply_protocol; /* collector's */

#endif
