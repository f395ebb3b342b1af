/*
 * executor/trace/books.h - is anything missing?  Counters that cannot be lost
 * against events that can.  Pure.  Linked by bailiff-tracer.
 */
#ifndef EXECUTOR_TRACE_BOOKS_H
#define EXECUTOR_TRACE_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "executor/trace/calls.h"
#include "executor/trace/kernel.h"
#include "executor/trace/record.h"

#define BOOKS_NOTE_MAX 256

/* What arrived here, to compare with what the kernel says it sent. */
struct books_received {
	uint64_t events;
	uint64_t by_type[TRACE_TYPES];
	uint64_t calls[TRACE_CALLS]; /* TRACE_CALL of the program itself */
	uint64_t malformed;          /* came, and could not be a line */
};

struct books {
	const struct trace_books *kernel;
	const struct trace_counts *counts;
	const struct books_received *received;
	const uint32_t *todo; /* TRACE_CALLS of them */
	uint64_t misses;      /* of recursion, while the run was on */
	const struct kernel_errors *errors;
	const struct calls *calls;
};

/*
 * True if nothing is missing: every call that began came back or was cut off by
 * its task's end, every event that was sent has arrived, each call that is
 * always told was told as often as it came back, nothing was left out or could
 * not be kept.  Otherwise 'note' gets the first reason.
 */
bool books_balance(const struct books *b, char note[BOOKS_NOTE_MAX]);

/* The last line of a file: counts of every call, errors, the books. */
int books_line(const struct books *b, const char *note, struct text_out *out,
    struct error *e) MUST_CHECK;

#endif
