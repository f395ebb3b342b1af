/*
 * audit/prove.c - reads a log once and proves one of its records.  Linked by
 * the audit reader; the log is hostile.
 */
#include "audit/prove.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/lines.h"

struct prove {
	const struct prove_from *from; /* borrowed */
	const struct prove_what *what; /* borrowed */
	struct lines lines;
	struct note_key pin;
	struct tree_head head; /* signed by 'pin' */
	uint8_t *leaves;       /* owned */
	size_t n, cap;
	bool found;
	uint64_t seq;
};

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

/* The pin and the head it signed, as soon as the log's id is known. */
static int open_head(
    struct prove *p, const struct entry *first, struct error *e)
{
	const struct text_out *c = p->from->checkpoint;

	if (p->from->key != NULL)
		p->pin = *p->from->key;
	else if (pin_find(p->from->pin_fds, first, &p->pin, e) < 0)
		return -1;
	if (note_open(c->data, c->len, &p->pin, &p->head, e) < 0)
		return FAIL_IN(e, "checkpoint");
	return 0;
}

static int take_line(
    struct prove *p, const struct lines_line *line, struct error *e)
{
	struct entry entry;

	if (line->kind == LINES_ONE &&
	    entry_read(line->text, line->len, &entry, e) < 0)
		return FAIL_IN(e, "record %zu: see bailiff audit verify", p->n);
	if (line->kind != LINES_ONE)
		return FAIL(e, ERROR_TAMPERED,
		    "the log ends after %zu whole records and its checkpoint "
		    "says %" PRIu64 "; see bailiff audit verify",
		    p->n, p->head.size);
	if (p->n == 0 && open_head(p, &entry, e) < 0)
		return -1;
	if (p->what->req != NULL ? c1_is(&entry.fields[ENTRY_REQ], p->what->req)
	                         : p->n == p->what->seq) {
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

static int write_proof(struct prove *p, struct text_out *out, struct error *e)
{
	struct tree before;
	const struct tree_group group = { &before, p->leaves,
		(size_t)p->head.size };
	struct tree_path path;

	tree_init(&before);
	if (tree_prove(&group, p->seq, &path, e) < 0)
		return -1;
	/* One comparison for all: the path leads to the root only if each of
	 * the leaves is the one that was signed. */
	if (!tree_includes(
	        &p->head, p->seq, p->leaves + p->seq * TREE_HASH, &path))
		return FAIL(e, ERROR_TAMPERED,
		    "the records do not lead to the root of the checkpoint; "
		    "see bailiff audit verify");
	return note_proof_write(p->seq, &path, p->from->checkpoint, out, e);
}

int prove_record(const struct prove_from *from, const struct prove_what *what,
    struct text_out *out, uint64_t *ret_seq, struct error *e)
{
	struct prove p = { .from = from, .what = what };
	int done = -1;

	if (lines_open(from->log_fd, &p.lines, e) == 0 &&
	    read_log(&p, e) == 0 && find(&p, e) == 0 &&
	    write_proof(&p, out, e) == 0) {
		*ret_seq = p.seq;
		done = 0;
	}
	lines_close(&p.lines);
	free(p.leaves);
	return done;
}

int prove_check(const struct prove_receipt *r, struct note_proof *ret,
    struct note_key *ret_pin, struct error *e)
{
	uint8_t leaf[TREE_HASH];

	if (r->key != NULL)
		*ret_pin = *r->key;
	else if (pin_find(r->pin_fds, r->record, ret_pin, e) < 0)
		return -1;
	if (note_proof_open(r->proof, r->proof_len, ret_pin, ret, e) < 0)
		return -1;
	tree_leaf(r->record->line, r->record->len, leaf);
	if (!tree_includes(&ret->head, ret->index, leaf, &ret->path))
		return FAIL(e, ERROR_TAMPERED,
		    "the receipt is of another record: its path does not lead "
		    "from this one to the signed root");
	if (ret->index != r->record->seq)
		return FAIL(e, ERROR_TAMPERED,
		    "the receipt proves record %" PRIu64
		    " and the record calls itself %" PRIu64,
		    ret->index, r->record->seq);
	return 0;
}
