/*
 * audit/resume_index.c - the index at a start.  Linked by the signer.
 */
#include "audit/resume_index.h"

#include "audit/lines.h"

/*
 * It is synced at the end of each epoch, before the state that says so is
 * written, so a power cut cannot have harmed what is older than the last one.
 */
static uint64_t durable(const struct chain_state *s)
{
	return s->ended ? s->tree.size : s->epoch_first;
}

/* The records between the index and the state. */
static bool catch_up(struct index *x, struct lines *l, uint64_t records)
{
	struct lines_line line;
	uint8_t leaf[TREE_HASH];
	struct error ignored; /* no index, then */

	if (lines_seek(l, x->at.bytes, &ignored) < 0)
		return false;
	while (x->at.records < records) {
		if (lines_next(l, &line, &ignored) < 0 ||
		    line.kind != LINES_ONE)
			return false;
		tree_leaf(line.text, line.len, leaf);
		index_add(x, line.text, line.len, leaf);
	}
	return true;
}

void resume_index(struct chain *c)
{
	const struct chain_state *s = &c->state;
	const struct index_place want = { s->tree.size, s->bytes };
	struct error ignored; /* no index, then */
	struct lines l;

	index_open(c->store.audit_fd, &want, durable(s), &c->index);
	if (c->index.fds[0] < 0 || c->index.at.records == want.records)
		return;
	if (lines_open(c->store.log_dir_fd, &l, &ignored) < 0 ||
	    !catch_up(&c->index, &l, want.records) ||
	    c->index.at.bytes != want.bytes)
		index_give_up(&c->index);
	lines_close(&l);
}
