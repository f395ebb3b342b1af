/*
 * policy/diff_parts.h - what the parts of diff_policies share.  Private to
 * diff*.c.
 */
#ifndef POLICY_DIFF_PARTS_H
#define POLICY_DIFF_PARTS_H

#include "policy/answers.h"
#include "policy/diff.h"

struct diff {
	const struct policy *a, *b;
	const struct diff_sink *sink;
	struct error *e;
	struct diff_item item; /* 'what' and 'text' while they are made */
	struct filter filter;
	struct answers answers[2];
};

/* The place that is told about, then what is to be told of it. */
void diff_name(struct diff *d, const char *format, ...) PRINTF_LIKE(2, 3);
void diff_tell(struct diff *d, enum diff_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);
void diff_amounts(
    struct diff *d, enum diff_kind kind, uint64_t was, uint64_t is);

/* diff_calls.c: calls that another filter answers in another way. */
int diff_calls(struct diff *d, const char *language,
    const struct capabilities *of[2]) MUST_CHECK;

/* diff_rest.c: host paths, then all that is in no language. */
void diff_rest(struct diff *d);

#endif
