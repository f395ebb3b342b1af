/*
 * executor/trace/line.h - the lines of trace.jsonl: one JSON object each, keys
 * in a fixed order, integers, no white space (docs/trace.md).  Linked by
 * bailiff-tracer.  Strings of events are hostile bytes: what is not plain UTF-8
 * without controls is told in hex, under another key.
 */
#ifndef EXECUTOR_TRACE_LINE_H
#define EXECUTOR_TRACE_LINE_H

#include "base/error.h"
#include "base/text.h"
#include "executor/trace/calls.h"
#include "executor/trace/record.h"

/* No line of an event is longer. */
#define LINE_MAX_BYTES 32768

/*
 * Judge what came out of a ring: 'len' bytes at 'data', at any alignment.
 * *ret is a copy of its head; ERROR_MALFORMED if it cannot be from
 * trace.bpf.c: a length, type or string out of range.
 */
int line_decode(const void *data, size_t len, struct trace_record *ret,
    struct error *e) MUST_CHECK;

struct line_event {
	const struct trace_record *record; /* of line_decode */
	const unsigned char *data;         /* what stands behind the head */
	const struct calls *calls;
};

/* Append the line with its newline.  ERROR_LIMIT: 'out' is as before. */
int line_event(const struct line_event *event, struct text_out *out,
    struct error *e) MUST_CHECK;

/* "name":"..." of a number, or nothing when it has no name. */
int line_call(const struct calls *c, const char *key, int64_t nr,
    struct text_out *out, struct error *e) MUST_CHECK;

#endif
