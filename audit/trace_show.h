/*
 * audit/trace_show.h - a run's trace.jsonl (docs/trace.md) for a person.  Linked
 * by bailiff-audit.  The file is hostile: its strings are a program's, and
 * whoever can write to the results could have made all of it.
 */
#ifndef AUDIT_TRACE_SHOW_H
#define AUDIT_TRACE_SHOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"

/* No line of ours is longer, that of the books included. */
#define TRACE_LINE_MAX  (1u << 20)
#define TRACE_NODES_MAX 65536
#define TRACE_VALUE_MAX 16384
/* One event takes no more of 'out'. */
#define TRACE_SHOWN_MAX 65536

enum trace_want {
	TRACE_WANT_ALL,
	TRACE_WANT_DENIED, /* by the filter, or for lack of permission */
	TRACE_WANT_FILES,
	TRACE_WANT_NET,
	TRACE_WANT_EXEC, /* programs, processes, ends, signals */
	TRACE_WANT_SUMMARY,
};

struct trace_line {
	uint64_t seq;
	size_t at, len;
};

struct trace_file {
	const char *text; /* borrowed */
	size_t len;
	struct trace_line *lines; /* owned; events only, in the order of seq */
	size_t n;
	struct trace_line head, books;
	uint64_t start_ns;
	struct scan_node *nodes; /* owned */
	char *value;             /* owned; TRACE_VALUE_MAX for one string */
};

/* Find the lines; ERROR_MALFORMED names the first that is none of ours. */
int trace_file_open(const char *text, size_t len, struct trace_file *ret,
    struct error *e) MUST_CHECK;
void trace_file_close(struct trace_file *f);

/* Append event 'i' if it is wanted; at most TRACE_SHOWN_MAX bytes. */
int trace_show_event(struct trace_file *f, size_t i, enum trace_want want,
    struct text_out *out, struct error *e) MUST_CHECK;

/* What was traced and whether it is complete. */
int trace_show_head(
    struct trace_file *f, struct text_out *out, struct error *e) MUST_CHECK;
/* Calls by how often they were made, and their errors. */
int trace_show_counts(
    struct trace_file *f, struct text_out *out, struct error *e) MUST_CHECK;

#endif
