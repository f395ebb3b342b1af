/*
 * audit/facts.h - what a run did, for `bailiff policy learn`: read from a result
 * folder whose record, receipt and trace belong together.  Linked by
 * bailiff-audit.  All of the folder is hostile.
 *
 * Facts are lines of JSON, one object each: first "run", then what the program
 * did, each line once, then "end".
 *
 *   {"fact":"run","run":"r_..","language":"python","policy":"<64 hex>",
 *    "arch":"x86_64","status":"ok","host_inputs":0}
 *   {"fact":"call","call":"read","n":5}       began so often, by the books
 *   {"fact":"denied","call":"ptrace","n":1}   answered by the filter
 *   {"fact":"unnamed","plane":"foreign","nr":4,"n":1}
 *   {"fact":"told","call":"socket","args":["0x2","0x1","0x0"]}
 *   {"fact":"open","path":"/usr/lib/.."}      or "path_hex"
 *   {"fact":"exec","path":"/usr/bin/python3.11"}
 *   {"fact":"code","path":"/sandbox/x.so"}    mapped executable; "" not known
 *   {"fact":"end","facts":57}                 how many lines before it
 *
 * "told" has those arguments that a filter may judge (facts_rows).
 */
#ifndef AUDIT_FACTS_H
#define AUDIT_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "audit/note.h"
#include "audit/trace_show.h"
#include "base/error.h"

#define FACTS_WORD_MAX 64

struct facts_bytes {
	const uint8_t *data; /* borrowed */
	size_t len;
};

/* The files of one folder, and whom to believe. */
struct facts_folder {
	struct facts_bytes record, receipt, manifest, result, trace;
	const struct note_key *key; /* borrowed; NULL: that of a pin */
	const int *pin_fds;         /* borrowed; PIN_DIRECTORIES of them */
};

struct facts_run {
	char id[FACTS_WORD_MAX];
	char language[FACTS_WORD_MAX];
	char status[FACTS_WORD_MAX];
	char policy[2 * 32 + 1];
	uint64_t host_inputs; /* files and directories of the host */
};

/*
 * The receipt proves the record in the log of a trusted key, the record has the
 * digests of this trace and this MANIFEST, the MANIFEST that of this result,
 * and the trace is said to be complete.  ERROR_TAMPERED: something was changed;
 * ERROR_STATE: nothing can be learned from that run, and why.
 */
int facts_check(const struct facts_folder *f, struct facts_run *ret,
    struct error *e) MUST_CHECK;

struct facts_out {
	int (*put)(void *context, const char *line, size_t len,
	    struct error *e); /* 'line' ends with its LF */
	void *context;
};

/* ERROR_MALFORMED: the file is no trace of that run, or is not complete by its
 * own books either. */
int facts_write(struct trace_file *f, const struct facts_run *run,
    const struct facts_out *out, struct error *e) MUST_CHECK;

#endif
