/*
 * audit/prove_index.c - finds a record by the index and proves it.  Linked by
 * the audit reader; index and log are hostile, and the caller compares what
 * comes of it with the signed head.
 */
#include <inttypes.h>
#include <string.h>

#include "audit/index_read.h"
#include "audit/prove_read.h"

/* Tags are 32 bits of random ids: more that match by chance there are not. */
#define CANDIDATES_MAX 16
#define RUN_PREFIX     2 /* "r_" */

static int next(struct prove *p, struct lines_line *ret, struct error *e)
{
	if (lines_next(&p->lines, ret, e) < 0)
		return -1;
	if (ret->kind != LINES_ONE)
		return FAIL(e, ERROR_TAMPERED, "it leads past the log");
	return 0;
}

/* Record 'seq', of which 'ret' holds what the lines hold. */
static int read_record(struct prove *p, const struct index_read *x,
    uint64_t seq, struct entry *ret, struct error *e)
{
	struct index_place at;
	struct lines_line line;

	if (index_read_place(x, seq, &at, e) < 0 ||
	    lines_seek(&p->lines, at.bytes, e) < 0)
		return -1;
	do {
		if (next(p, &line, e) < 0)
			return -1;
	} while (at.records++ < seq);
	if (entry_read(line.text, line.len, ret, e) < 0)
		return FAIL_IN(e, "it leads to no record");
	if (ret->seq != seq)
		return FAIL(e, ERROR_TAMPERED,
		    "it leads to record %" PRIu64 ", not %" PRIu64, ret->seq,
		    seq);
	p->seq = seq;
	tree_leaf(line.text, line.len, p->leaf);
	return 0;
}

/* Only an end is certain to be the last word: an index that hides it could
 * show an intent instead, so for that the log is read. */
static int find_run(
    struct prove *p, const struct index_read *x, struct error *e)
{
	const char *req = p->what->req;
	uint64_t seq = p->head.size;
	uint8_t tag[INDEX_TAG];
	struct entry entry;
	bool found;

	if (strlen(req) <= RUN_PREFIX)
		return FAIL(e, ERROR_CLOSED, "no run id");
	index_tag(req + RUN_PREFIX, strlen(req) - RUN_PREFIX, tag);
	for (size_t i = 0; i < CANDIDATES_MAX; i++) {
		if (index_read_tag(x, tag, &seq, &found, e) < 0)
			return -1;
		if (!found)
			break;
		if (read_record(p, x, seq, &entry, e) < 0)
			return -1;
		if (prove_is_of_run(p, &entry) == RUN_ENDED)
			return 0;
	}
	return FAIL(e, ERROR_CLOSED, "it knows no end of that run");
}

static int find(struct prove *p, const struct index_read *x, struct error *e)
{
	struct entry entry;

	if (p->what->req != NULL)
		return find_run(p, x, e);
	if (p->what->seq >= p->head.size)
		return FAIL(e, ERROR_CLOSED, "no such record");
	return read_record(p, x, p->what->seq, &entry, e);
}

/* The first record says which log this is, and so whose head it has. */
static int open_log(struct prove *p, struct error *e)
{
	struct lines_line line;
	struct entry first;

	if (lines_open(p->from->log_fd, &p->lines, e) < 0 ||
	    next(p, &line, e) < 0 ||
	    entry_read(line.text, line.len, &first, e) < 0)
		return -1;
	return prove_open_head(p, &first, e);
}

int prove_by_index(struct prove *p, struct tree_path *ret, struct error *e)
{
	struct index_read x;
	struct error why;
	int done = -1;

	if (index_read_open(p->from->audit_fd, &x, e) == 0) {
		/* What is wrong here is told by who reads it all. */
		if (open_log(p, &why) < 0)
			(void)FAIL(e, ERROR_CLOSED, "no head");
		else if (find(p, &x, e) == 0)
			done =
			    index_read_path(&x, p->seq, p->head.size, ret, e);
	}
	index_read_close(&x);
	lines_close(&p->lines);
	return done;
}
