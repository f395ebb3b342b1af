/*
 * audit/prove_read.c - reads a log once and proves one of its records.  Linked
 * by the audit reader; the log is hostile.
 */
#include "audit/prove_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int keep_leaf(
    struct prove *p, const struct lines_line *line, struct error *e)
{
	if (p->n == p->cap) {
		size_t cap = p->cap > 0 ? p->cap * 2 : 1024;
		uint8_t *leaves = reallocarray(p->leaves, cap, TREE_HASH);

		if (leaves == NULL)
			return FAIL_SYS(e, "allocate the leaves of the log");
		p->leaves = leaves;
		p->cap = cap;
	}
	tree_leaf(line->text, line->len, p->leaves + p->n * TREE_HASH);
	p->n++;
	return 0;
}

static bool is_wanted(const struct prove *p, const struct entry *entry)
{
	if (p->what->req == NULL)
		return p->n == p->what->seq;
	return prove_is_of_run(p, entry) != RUN_OTHER;
}

static int take_line(
    struct prove *p, const struct lines_line *line, struct error *e)
{
	struct entry entry;

	if (line->kind == LINES_ONE &&
	    entry_read(line->text, line->len, &entry, e) < 0) {
		/* Whatever is wrong with its text: it is not what was signed. */
		e->kind = ERROR_TAMPERED;
		return FAIL_IN(e, "record %zu: see bailiff audit verify", p->n);
	}
	if (line->kind != LINES_ONE)
		return FAIL(e, ERROR_TAMPERED,
		    "the log ends after %zu whole records and its checkpoint "
		    "says %" PRIu64 "; see bailiff audit verify",
		    p->n, p->head.size);
	if (p->n == 0 && prove_open_head(p, &entry, e) < 0)
		return -1;
	if (is_wanted(p, &entry)) {
		p->found = true;
		p->seq = p->n;
	}
	return keep_leaf(p, line, e);
}

/* Every record below the head, or the first alone where the head has none. */
static int read_log(struct prove *p, struct error *e)
{
	struct lines_line line;

	do {
		if (lines_next(&p->lines, &line, e) < 0 ||
		    take_line(p, &line, e) < 0)
			return -1;
	} while (p->n < p->head.size);
	return 0;
}

static int find(struct prove *p, struct error *e)
{
	if (p->found && p->seq < p->head.size)
		return 0;
	if (p->what->req != NULL)
		return FAIL(e, ERROR_STATE,
		    "no record of run %.40s among the %" PRIu64
		    " below the checkpoint",
		    p->what->req, p->head.size);
	return FAIL(e, ERROR_STATE,
	    "no record %" PRIu64 " among the %" PRIu64 " below the checkpoint",
	    p->what->seq, p->head.size);
}

static int prove(struct prove *p, struct tree_path *ret, struct error *e)
{
	struct tree before;
	const struct tree_group group = { &before, p->leaves,
		(size_t)p->head.size };

	tree_init(&before);
	memcpy(p->leaf, p->leaves + p->seq * TREE_HASH, TREE_HASH);
	return tree_prove(&group, p->seq, ret, e);
}

int prove_by_reading(struct prove *p, struct tree_path *ret, struct error *e)
{
	int done = -1;

	if (lines_open(p->from->log_fd, &p->lines, e) == 0 &&
	    read_log(p, e) == 0 && find(p, e) == 0)
		done = prove(p, ret, e);
	lines_close(&p->lines);
	free(p->leaves);
	return done;
}
