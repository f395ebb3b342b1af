/*
 * audit/compare.h - are two logs one?  Compares bytes, judges nothing else: a
 * log is judged by audit/verify.h.  Linked by the audit reader.
 */
#ifndef AUDIT_COMPARE_H
#define AUDIT_COMPARE_H

#include <stdint.h>

#include "audit/lines.h"
#include "audit/tree.h"
#include "base/error.h"

enum compare_verdict {
	COMPARE_EQUAL,
	COMPARE_FIRST_BEGINS,  /* all of the first, then more in the second */
	COMPARE_SECOND_BEGINS, /* the reverse */
	COMPARE_FORK,          /* both have a record that the other has not */
	COMPARE_SHORT,         /* a log ends before a head that is held of it */
};

struct compare {
	enum compare_verdict verdict;
	uint64_t common;   /* whole records that are the same, from the first */
	uint64_t sizes[2]; /* whole records; of a fork, up to where they part */
	/* Of a fork of two logs: the first records that differ, without LF. */
	size_t lens[2];
	char lines[2][LINES_MAX];
};

/* Of two folders log/ (borrowed).  *ret is large: not for the stack. */
int compare_logs(
    const int log_fds[2], struct compare *ret, struct error *e) MUST_CHECK;

/* Of a log and a head that somebody holds of it. */
int compare_head(int log_fd, const struct tree_head *head, struct compare *ret,
    struct error *e) MUST_CHECK;

#endif
