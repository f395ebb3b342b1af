/*
 * audit/verify_from.c - beginning at a head that the caller holds, instead of
 * at the first record.  Linked by the audit reader; log and index are hostile.
 *
 * The index gives the frontier of the tree at that head, and the head's signed
 * root shows whether it is the true one.  Which key signs there, which epoch it
 * is and which runs are open stands in the records before, as far back as an
 * epoch is long: they are chained to the last one below the head, which is
 * shown to be in its tree.  What cannot be shown is left to a whole
 * verification: exit code 2, never a guess.
 */
#include <inttypes.h>
#include <string.h>

#include "audit/index_read.h"
#include "audit/verify_from.h"
#include "base/sha256.h"

/* Longer than any epoch (audit/chain_state.h), in whole blocks. */
#define WINDOW ((uint64_t)42 * INDEX_BLOCK)

struct window {
	struct index_read index;
	struct tree_head head;
	bool found; /* the record that opened the epoch */
};

static int not_shown(const char *what, struct error *e)
{
	return FAIL(e, ERROR_STATE, "%s", what);
}

static bool is_type(const struct entry *entry, const char *type)
{
	return c1_is(&entry->fields[ENTRY_TYPE], type);
}

static int replay_opening(
    struct verify *v, const struct entry *entry, struct error *e)
{
	uint8_t digest[SHA256_BYTES];

	if (!c1_hex(&entry->fields[ENTRY_RECKEY], v->key, ED25519_PUBLIC) ||
	    !c1_hex(&entry->fields[ENTRY_NEXT], v->next, TREE_HASH) ||
	    !ed25519_key_is_good(v->key))
		return not_shown("an epoch before it opens without keys", e);
	sha256_of(v->key, ED25519_PUBLIC, digest);
	return idmap_put(&v->keys, digest, NULL, e);
}

/* Its runs: open until their outcome. */
static int replay_run(struct verify *v, const struct entry *entry,
    const uint8_t leaf[TREE_HASH], struct error *e)
{
	struct verify_open open = { .seq = entry->seq };
	uint8_t run[IDMAP_ID];

	if (!entry_run_id(&entry->fields[ENTRY_REQ], run))
		return 0;
	if (is_type(entry, "outcome"))
		(void)idmap_drop(&v->open, run);
	if (!is_type(entry, "intent") && !is_type(entry, "denial"))
		return 0;
	memcpy(open.leaf, leaf, sizeof(open.leaf));
	if (is_type(entry, "intent") && idmap_put(&v->open, run, &open, e) < 0)
		return -1;
	return idmap_put(&v->used, run, NULL, e);
}

static int replay(struct verify *v, struct window *w,
    const struct lines_line *line, struct error *e)
{
	struct entry entry;
	struct error why;

	if (line->kind != LINES_ONE ||
	    entry_read(line->text, line->len, &entry, &why) < 0)
		return not_shown("what stands before it are no records", e);
	if (entry.seq != v->tree.size ||
	    (entry.seq > v->from_seen &&
	        memcmp(entry.prev, v->last_leaf, TREE_HASH) != 0))
		return not_shown("the records before it are no chain", e);
	tree_leaf(line->text, line->len, v->last_leaf);
	memcpy(v->log, entry.log, sizeof(v->log));
	if (is_type(&entry, "log.open") || is_type(&entry, "epoch.open")) {
		if (replay_opening(v, &entry, e) < 0)
			return -1;
		v->epoch = entry.epoch;
		v->first = entry.seq;
		w->found = true;
	}
	v->ended = is_type(&entry, "epoch.close") ? ENDED_EPOCH
	           : is_type(&entry, "log.close") ? ENDED_LOG
	                                          : ENDED_NOT;
	v->tree.size++;
	return replay_run(v, &entry, v->last_leaf, e);
}

static int read_window(struct verify *v, struct window *w, struct error *e)
{
	uint64_t from = w->head.size < WINDOW ? 0 : w->head.size - WINDOW;
	struct index_place at;
	struct lines_line line;

	if (index_read_place(&w->index, from, &at, e) < 0 ||
	    lines_seek(&v->lines, at.bytes, e) < 0)
		return -1;
	v->from_seen = at.records;
	v->tree.size = at.records;
	while (v->tree.size < w->head.size)
		if (lines_next(&v->lines, &line, e) < 0 ||
		    replay(v, w, &line, e) < 0)
			return -1;
	return w->found ? 0
	                : not_shown("no record before it opens its epoch", e);
}

/* The chain that was read ends in the last record below the head. */
static int tie_to_head(struct verify *v, struct window *w, struct error *e)
{
	uint64_t last = w->head.size - 1;
	struct tree_path path;
	struct tree_head found;

	if (index_read_path(&w->index, last, w->head.size, &path, e) < 0)
		return -1;
	if (!tree_includes(&w->head, last, v->last_leaf, &path))
		return not_shown(
		    "the record before it is not shown to be under it", e);
	if (index_read_frontier(&w->index, w->head.size, &v->tree, e) < 0)
		return -1;
	tree_head_of(&v->tree, &found);
	if (memcmp(found.root, w->head.root, sizeof(found.root)) != 0)
		return not_shown("the index does not lead to it", e);
	return 0;
}

int verify_from(struct verify *v, struct error *e)
{
	const struct verify_known *k = v->options->from;
	struct window w = { .found = false };
	struct error why;
	int done = -1;

	if (verify_open_head(v, k, &w.head, e) < 0)
		return FAIL_IN(e, "--from %s", k->name);
	if (w.head.size == 0)
		return FAIL(e, ERROR_USAGE,
		    "--from %s: a head of nothing; verify without it", k->name);
	if (index_read_open(v->options->audit_fd, &w.index, &why) == 0 &&
	    read_window(v, &w, &why) == 0)
		done = tie_to_head(v, &w, &why);
	index_read_close(&w.index);
	if (done < 0)
		return FAIL(e, ERROR_STATE,
		    "--from %s: %s; verify the whole log with --known %s",
		    k->name, why.text, k->name);
	v->last_signed = true; /* the head stands for it */
	v->lines.total = 0;
	v->from = w.head.size;
	v->summary->from = w.head.size;
	return 0;
}

void verify_from_heads(struct verify *v)
{
	struct heads_one one;

	while (v->from > 0 && heads_take(&v->heads, v->from - 1, &one))
		if (one.source == HEAD_KNOWN)
			report_add(v->report,
			    &(struct report_what){
			        VERDICT_BELOW, "known.head", NULL, NULL },
			    "--known %s covers %" PRIu64
			    " records, fewer than --from: not compared",
			    v->options->known[one.index].name, one.head.size);
}

void verify_say_from(struct verify *v)
{
	if (v->from == 0)
		return;
	report_add(v->report,
	    &(struct report_what){ VERDICT_VERIFIED, "from", NULL, NULL },
	    "begins at record %" PRIu64
	    ", where --from %s ends; not verified: what stands before, whether "
	    "its run ids and keys come again, and %" PRIu64
	    " outcomes of runs that began before record %" PRIu64,
	    v->from, v->options->from->name, v->n_before, v->from_seen);
}
