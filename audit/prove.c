/*
 * audit/prove.c - proves one record of a log.  Linked by the audit reader; log
 * and index are hostile.
 */
#include "audit/prove.h"

#include <inttypes.h>
#include <string.h>

#include "audit/prove_read.h"

int prove_open_head(
    struct prove *p, const struct entry *record, struct error *e)
{
	const struct text_out *c = p->from->checkpoint;

	if (p->from->key != NULL)
		p->pin = *p->from->key;
	else if (pin_find(p->from->pin_fds, record, &p->pin, e) < 0)
		return -1;
	if (note_open(c->data, c->len, &p->pin, &p->head, e) < 0)
		return FAIL_IN(e, "checkpoint");
	return 0;
}

enum prove_run prove_is_of_run(
    const struct prove *p, const struct entry *record)
{
	const struct c1_value *type = &record->fields[ENTRY_TYPE];

	if (!c1_is(&record->fields[ENTRY_REQ], p->what->req))
		return RUN_OTHER;
	if (c1_is(type, "outcome") || c1_is(type, "denial"))
		return RUN_ENDED;
	return c1_is(type, "intent") ? RUN_INTENT : RUN_OTHER;
}

static bool leads_to_head(const struct prove *p, const struct tree_path *path)
{
	return tree_includes(&p->head, p->seq, p->leaf, path);
}

/* An index that is missing or does not know is no news; a wrong one is. */
static bool try_index(
    struct prove *p, struct tree_path *path, struct prove_done *ret)
{
	if (prove_by_index(p, path, &ret->why) < 0) {
		ret->index_is_wrong = ret->why.kind != ERROR_CLOSED;
		return false;
	}
	ret->by_index = leads_to_head(p, path);
	ret->index_is_wrong = !ret->by_index;
	if (ret->index_is_wrong)
		(void)FAIL(&ret->why, ERROR_TAMPERED,
		    "its path does not lead to the root of the checkpoint");
	return ret->by_index;
}

int prove_record(const struct prove_from *from, const struct prove_what *what,
    struct text_out *out, struct prove_done *ret, struct error *e)
{
	struct prove p = { .from = from, .what = what };
	struct tree_path path;

	memset(ret, 0, sizeof(*ret));
	if (!try_index(&p, &path, ret)) {
		p = (struct prove){ .from = from, .what = what };
		if (prove_by_reading(&p, &path, e) < 0)
			return -1;
	}
	/* One comparison for all: the path leads to the root only if each of
	 * the leaves is the one that was signed. */
	if (!leads_to_head(&p, &path))
		return FAIL(e, ERROR_TAMPERED,
		    "the records do not lead to the root of the checkpoint; "
		    "see bailiff audit verify");
	ret->seq = p.seq;
	return note_proof_write(p.seq, &path, from->checkpoint, out, e);
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
