/*
 * audit/resume_take.c - judging one record at a start.  Linked by the signer;
 * the line is hostile.
 */
#include "audit/resume_take.h"

#include <string.h>

#include "audit/chain_notes.h"
#include "audit/entry.h"
#include "audit/salts.h"
#include "base/sha256.h"

static bool is_type(const struct entry *entry, const char *type)
{
	return c1_is(&entry->fields[ENTRY_TYPE], type);
}

static int check_place(
    const struct resume *r, const struct entry *entry, struct error *e)
{
	const struct chain_state *s = &r->chain->state;

	if (entry->seq != s->tree.size)
		return FAIL(e, ERROR_TAMPERED, "seq is %llu",
		    (unsigned long long)entry->seq);
	if (memcmp(entry->prev, s->prev, sizeof(entry->prev)) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "prev is not the leaf of the record before");
	if (memcmp(entry->log, r->chain->keys.log_id, sizeof(entry->log)) != 0)
		return FAIL(e, ERROR_TAMPERED, "a record of another log");
	if (entry->v != 1 ||
	    !c1_is(&entry->predicate_type, ENTRY_PREDICATE_TYPE))
		return FAIL(e, ERROR_UNAVAILABLE,
		    "a newer version wrote this; use its signer");
	if (s->final)
		return FAIL(e, ERROR_TAMPERED, "a record after log.close");
	return 0;
}

/* log.open or epoch.open: who signs from here on. */
static int take_opening(
    struct resume *r, const struct entry *entry, struct error *e)
{
	struct chain_state *s = &r->chain->state;
	uint8_t key[ED25519_PUBLIC];
	uint8_t digest[SHA256_BYTES];
	uint8_t next[SHA256_BYTES];
	bool first = s->tree.size == 0;

	if (first != is_type(entry, "log.open"))
		return FAIL(e, ERROR_TAMPERED,
		    "log.open must be record 0, and only that");
	if (!c1_hex(&entry->fields[ENTRY_RECKEY], key, sizeof(key)) ||
	    !c1_hex(&entry->fields[ENTRY_NEXT], next, sizeof(next)) ||
	    !ed25519_key_is_good(key))
		return FAIL(e, ERROR_TAMPERED, "reckey or next is off");
	sha256_of(key, sizeof(key), digest);
	if (entry->epoch != (first ? 0 : s->epoch + 1) ||
	    (!first && memcmp(digest, s->next, sizeof(digest)) != 0))
		return FAIL(
		    e, ERROR_TAMPERED, "epoch or key is not the one announced");
	memcpy(s->record_key, key, sizeof(key));
	memcpy(s->next, next, sizeof(next));
	s->epoch = entry->epoch;
	s->epoch_first = entry->seq;
	return 0;
}

static int take_intent(
    struct resume *r, const uint8_t *run, const uint8_t *leaf, struct error *e)
{
	struct chain_state *s = &r->chain->state;
	struct chain_intent *in;

	if (s->n_open == CHAIN_OPEN_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d open intents",
		    CHAIN_OPEN_MAX);
	in = &s->open[s->n_open++];
	memset(in, 0, sizeof(*in));
	memcpy(in->run, run, sizeof(in->run));
	memcpy(in->leaf, leaf, sizeof(in->leaf));
	in->seq = s->tree.size;
	return 0;
}

static int take_outcome(struct resume *r, const uint8_t *run, struct error *e)
{
	struct chain_state *s = &r->chain->state;

	for (size_t i = 0; i < s->n_open; i++) {
		if (memcmp(s->open[i].run, run, EVENT_RUN_BYTES) != 0)
			continue;
		s->open[i] = s->open[--s->n_open];
		return 0;
	}
	return FAIL(e, ERROR_TAMPERED, "an outcome without its intent");
}

static int take_run(struct resume *r, const struct entry *entry,
    const uint8_t *leaf, struct error *e)
{
	bool intent = is_type(entry, "intent");
	bool outcome = is_type(entry, "outcome");
	uint8_t run[EVENT_RUN_BYTES];

	if (!intent && !outcome && !is_type(entry, "denial"))
		return 0;
	if (!entry_run_id(&entry->fields[ENTRY_REQ], run))
		return FAIL(e, ERROR_TAMPERED, "req is not a run id");
	if (outcome)
		return take_outcome(r, run, e);
	runs_add(&r->chain->runs, run);
	return intent ? take_intent(r, run, leaf, e) : 0;
}

/* As chain_builds; the members of a record are sorted. */
static void digest_builds(
    const struct c1_value *builds, uint8_t ret[SHA256_BYTES])
{
	struct sha256 h;
	struct c1_member m;
	struct c1_walk w;

	sha256_init(&h);
	c1_walk(builds, &w);
	while (c1_next(&w, &m)) {
		sha256_add(&h, m.key, m.key_len);
		sha256_add(&h, "=", 1);
		sha256_add(&h, m.value.at, m.value.len);
		sha256_add(&h, "\n", 1);
	}
	sha256_done(&h, ret);
}

/* What the next records are compared with: policies by name, programs. */
static void take_config(struct chain_state *s, const struct entry *entry)
{
	const struct c1_value *policy = &entry->fields[ENTRY_POLICY];
	struct c1_value name = c1_member(policy, "name");
	struct c1_value digest = c1_member(policy, "sha256");
	struct c1_value builds = c1_member(&entry->predicate, "builds");
	char text[EVENT_WORD_MAX];
	uint8_t sha256[SHA256_BYTES];
	uint64_t mono_ns;

	if (name.kind == C1_STRING && name.len < sizeof(text) &&
	    c1_hex(&digest, sha256, sizeof(sha256))) {
		memcpy(text, name.at, name.len);
		text[name.len] = '\0';
		chain_keep_policy(s, text, sha256);
	}
	if (builds.kind == C1_OBJECT)
		digest_builds(&builds, s->builds);
	memcpy(s->boot, entry->boot, sizeof(s->boot));
	if (c1_number(&entry->fields[ENTRY_MONO], &mono_ns))
		s->mono_us = mono_ns / 1000;
	s->wall_us = record_time_read(entry->fields[ENTRY_TIME].at);
}

int resume_take(struct resume *r, const char *line, size_t len, struct error *e)
{
	struct chain_state *s = &r->chain->state;
	struct entry entry;
	uint8_t leaf[TREE_HASH];
	bool opening;

	if (entry_read(line, len, &entry, e) < 0)
		return -1;
	opening = is_type(&entry, "log.open") || is_type(&entry, "epoch.open");
	if (check_place(r, &entry, e) < 0)
		return -1;
	if (!opening &&
	    (s->ended || s->tree.size == 0 || entry.epoch != s->epoch))
		return FAIL(e, ERROR_TAMPERED, "a record outside of an epoch");
	if (opening && take_opening(r, &entry, e) < 0)
		return -1;
	/* Below the checkpoint the signed root vouches for every byte. */
	if ((opening || !r->have_note || entry.seq >= r->note.size) &&
	    !entry_signed_by(&entry, s->record_key, r->scratch))
		return FAIL(e, ERROR_TAMPERED, "the signature is not ours");
	tree_leaf(line, len, leaf);
	if (take_run(r, &entry, leaf, e) < 0)
		return -1;
	if (is_type(&entry, "redact") &&
	    salts_erase_named(&r->chain->store, &entry, e) < 0)
		return -1;
	take_config(s, &entry);
	tree_add(&s->tree, leaf);
	index_add(&r->chain->index, line, len, leaf);
	memcpy(s->prev, leaf, sizeof(leaf));
	s->bytes += len + 1;
	s->ended = is_type(&entry, "epoch.close");
	s->final = is_type(&entry, "log.close");
	return 0;
}

int resume_root(const struct resume *r, struct error *e)
{
	struct tree_head head;

	if (!r->have_note || r->chain->state.tree.size != r->note.size)
		return 0;
	tree_head_of(&r->chain->state.tree, &head);
	if (memcmp(head.root, r->note.root, sizeof(head.root)) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "the first %llu records are not those that the "
		    "checkpoint signs",
		    (unsigned long long)r->note.size);
	return 0;
}
