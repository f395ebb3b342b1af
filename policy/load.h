/*
 * policy/load.h - the policy and the language data files, read from disk.
 *
 * The one impure file of policy/: both bailiff-policy and the supervisor must
 * read exactly the same bytes under the same checks, and a program of cli/ may
 * not include executor/.
 *
 * Each file is opened once (O_NOFOLLOW, O_NONBLOCK), checked by fstat(2) and
 * read from that descriptor: a regular file of root or of the caller, not
 * writable by group or others, at most POLICY_TEXT_MAX bytes.
 */
#ifndef POLICY_LOAD_H
#define POLICY_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "policy/policy.h"

#define POLICY_FILES_MAX 64 /* the policy, the directory, language files */
#define POLICY_PARTS_MAX 32

/*
 * One source as it was when it was read.  The descriptor is O_PATH and kept, so
 * that a supervisor which may no longer search the directory still sees a
 * change: writing alters mtime, replacing or moving alters ctime.
 */
struct policy_file {
	int fd; /* owned */
	uint64_t dev, ino, size;
	int64_t mtime_s, ctime_s;
	uint32_t mtime_ns, ctime_ns;
};

/* A file that a language brings into the view, as LANGUAGE_PLACE has it. */
struct policy_part {
	char path[2 * POLICY_NAME_MAX]; /* "python/bailiff_plots.py" */
	uint8_t *data;                  /* owned */
	size_t len;
};

struct policy_loaded {
	struct policy *policy; /* owned */
	size_t n_parts;
	struct policy_part *parts; /* owned */
	size_t n_files;
	struct policy_file files[POLICY_FILES_MAX];
};

struct policy_places {
	const char *policy;    /* the policy file */
	const char *languages; /* directory of <name>.json */
};

/*
 * Read and parse, for a service of the calling account (policy_sources).  On
 * success *ret is the caller's, to policy_loaded_done.  On
 * failure *ret is untouched; *e says why in one line and, when the texts could
 * be read, 'faults' lists everything wrong in them (else faults->n is 0).
 */
int policy_load(const struct policy_places *places, struct policy_loaded *ret,
    struct policy_faults *faults, struct error *e) MUST_CHECK;

/* The language files alone, sorted by name: what a policy could name. */
struct policy_known {
	size_t n;
	struct language *items; /* owned; free() */
};
int policy_load_known(const char *languages_dir, struct policy_known *ret,
    struct policy_faults *faults, struct error *e) MUST_CHECK;

/* Whether a source file or the directory has changed since. */
bool policy_loaded_is_stale(const struct policy_loaded *loaded);

/* Releases; a zeroed struct is fine. */
void policy_loaded_done(struct policy_loaded *loaded);

#endif
