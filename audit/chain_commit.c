/*
 * audit/chain_commit.c - from a built group to acknowledged records: disk,
 * checkpoint, receipts.  Linked by the signer.
 */
#include <string.h>

#include "audit/chain.h"
#include "audit/chain_notes.h"
#include "audit/salts.h"

/* The record key of an open epoch signs beside the log key: a thief of the log
 * key alone cannot make heads of epochs that are over. */
static int sign_note(
    struct chain *c, const struct tree *tree, bool with_record, struct error *e)
{
	const struct note_signer signers[] = {
		{ &c->keys.log_note, c->keys.log.secret },
		{ &c->record_note, c->keys.record.secret },
	};
	struct text_out out = { c->note, sizeof(c->note), 0 };
	struct tree_head head;

	tree_head_of(tree, &head);
	if (note_write(signers, with_record ? 2 : 1, &head, &out, e) < 0)
		return FAIL_IN(e, "sign the checkpoint");
	c->note_len = out.len;
	return 0;
}

int chain_publish(struct chain *c, enum store_sync sync, struct error *e)
{
	if (store_flush(&c->store, e) < 0 ||
	    sign_note(c, &c->state.tree, c->state.ours, e) < 0)
		return -1;
	return store_note(
	    &c->store, (struct store_bytes){ c->note, c->note_len }, sync, e);
}

/* What the opening and the end of an epoch mean for the keys. */
static int turn_keys(struct chain *c, struct error *e)
{
	const struct chain_state *s = &c->state;

	if (s->ours && !c->was_ours) {
		c->epoch_since_ms = chain_now_ms();
		return keys_forget(&c->keys, s->epoch, e);
	}
	if (!s->ours && (s->ended || s->final)) {
		keys_end_record(&c->keys);
		if (keys_forget(&c->keys, s->epoch, e) < 0)
			return -1;
		if (s->ended)
			return keys_prepare(&c->keys, s->epoch + 1, s->next, e);
	}
	return 0;
}

/*
 * The record comes first, and the answer last.  A crash in between is made good
 * at the next start: state/head is older than the record then (signer_serve.c
 * writes it after the answers), so the start reads the record and erases.
 */
static int erase(struct chain *c, struct error *e)
{
	for (size_t i = 0; i < c->redact.n; i++)
		if (salts_erase(&c->store, &c->redact.salts[i], e) < 0)
			return FAIL_IN(e, "redact");
	c->redact.n = 0;
	return 0;
}

/*
 * The first record of an epoch that says a weaker word is synced all the same:
 * a crash can take records of that kind, never the word that it can.  What
 * opens and ends an epoch has no sender, so it is synced: keys leave the disk
 * with it.
 */
void chain_promise(struct chain *c, enum promise promise)
{
	if (promise == PROMISE_FULL || promise > c->draft.promise)
		c->must_sync = true;
	if (promise == PROMISE_RELAXED)
		c->hurried = true;
	if (promise > c->draft.promise)
		c->draft.promise = promise;
}

int chain_commit(struct chain *c, struct error *e)
{
	bool was_ours = c->state.ours;
	uint64_t salts = was_ours ? c->store.salts_bytes : 0;
	enum store_sync sync;
	struct error undo;

	/* An epoch opens with a record of its own, or does not open. */
	if (c->n_records == 1 && c->draft.ours && !was_ours)
		chain_begin(c);
	if (c->n_records == 0)
		return 0;
	if (store_salts(&c->store,
	        (struct store_bytes){ c->salts, c->n_salts * STORE_SALT_SIZE },
	        e) < 0)
		return -1;
	sync = c->must_sync || store_lags(&c->store) + c->used > STORE_LAG_MAX
	           ? STORE_SYNC
	           : STORE_LAZY;
	if (store_append(&c->store, (struct store_bytes){ c->group, c->used },
	        sync, e) < 0) {
		if (e->kind == ERROR_LIMIT &&
		    store_salts_back(&c->store, salts, &undo) < 0) {
			*e = undo;
			return -1;
		}
		return -1;
	}
	c->before = c->state.tree;
	c->state = c->draft;
	c->was_ours = was_ours;
	c->unsettled = true;
	if (sync == STORE_LAZY) {
		c->note_len = 0;
		c->store.dirty = c->store.dirty || c->hurried;
		return 0;
	}
	if (erase(c, e) < 0)
		return -1;
	/* Signed while the key is still there: the group may end its epoch. */
	if (sign_note(c, &c->state.tree, true, e) < 0)
		return -1;
	/* Before the answers, so that whoever got one finds its head there. */
	return store_note(&c->store,
	    (struct store_bytes){ c->note, c->note_len }, STORE_LAZY, e);
}

/* Synced with the end of an epoch: older than that a start believes it. */
static void index_group(struct chain *c)
{
	for (size_t i = 0; i < c->n_records; i++)
		index_add(&c->index, c->group + c->line_at[i], c->line_len[i],
		    c->leaves[i]);
	index_flush(&c->index);
	if (c->state.ended || c->state.final)
		index_sync(&c->index);
}

int chain_settle(struct chain *c, struct error *e)
{
	if (!c->unsettled)
		return 0;
	c->unsettled = false;
	index_group(c);
	return turn_keys(c, e);
}

struct store_bytes chain_line(const struct chain *c, size_t index)
{
	return (struct store_bytes){ c->group + c->line_at[index],
		c->line_len[index] };
}

int chain_proof(
    struct chain *c, size_t index, struct text_out *out, struct error *e)
{
	const struct tree_group group = { &c->before, c->leaves[0],
		c->n_records };
	const struct text_out checkpoint = { c->note, sizeof(c->note),
		c->note_len };
	uint64_t seq = c->before.size + index;
	struct tree_path path;

	if (tree_prove(&group, seq, &path, e) < 0)
		return -1;
	return note_proof_write(seq, &path, &checkpoint, out, e);
}

const char *chain_epoch_due(const struct chain *c)
{
	const struct chain_state *s = &c->state;

	if (!s->ours)
		return NULL;
	if (s->tree.size - s->epoch_first >= CHAIN_EPOCH_MAX)
		return "records";
	if (chain_now_ms() - c->epoch_since_ms >= CHAIN_EPOCH_MS)
		return "time";
	return NULL;
}
