/*
 * audit/resume_take.h - judging one record at a start.  Private to
 * audit/resume*.c.
 */
#ifndef AUDIT_RESUME_TAKE_H
#define AUDIT_RESUME_TAKE_H

#include "audit/chain.h"

struct resume {
	struct chain *chain;
	struct tree_head note; /* what the checkpoint on disk says */
	bool have_note;
	uint64_t mark; /* size in state/head, 0 for none */
	bool torn;
	char *scratch; /* owned by resume_log: DSSE_PAE_MAX bytes */
};

/* Check the next line and move chain->state behind it. */
int resume_take(
    struct resume *r, const char *line, size_t len, struct error *e) MUST_CHECK;

/* At the size of the checkpoint the root must be the signed one. */
int resume_root(const struct resume *r, struct error *e) MUST_CHECK;

#endif
