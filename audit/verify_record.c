/*
 * audit/verify_record.c - one record in its place: form, chain, key, signature,
 * then type.  Linked by the audit reader; every byte is hostile.
 *
 * A type or version that we do not know is named only after the bytes that
 * carry it have passed, so that it never excuses bytes that fail.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/verify_parts.h"
#include "audit/words.h"
#include "base/sha256.h"

static bool chain_holds(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	char expected[SHA256_HEX], found[SHA256_HEX];

	if (entry->seq != v->tree.size) {
		(void)snprintf(
		    expected, sizeof(expected), "%" PRIu64, v->tree.size);
		return VERIFY_BAD(v, place, "chain.seq", expected,
		    "seq %" PRIu64, entry->seq);
	}
	if (memcmp(entry->prev, v->last_leaf, TREE_HASH) != 0) {
		sha256_hex(v->last_leaf, expected);
		sha256_hex(entry->prev, found);
		return VERIFY_BAD(
		    v, place, "chain.prev", expected, "%s", found);
	}
	if (v->tree.size == 0)
		memcpy(v->log, entry->log, sizeof(v->log));
	if (memcmp(entry->log, v->log, sizeof(v->log)) != 0)
		return VERIFY_BAD(v, place, "chain.log",
		    "the log id of the first record", "another one");
	return true;
}

/* The key that must have signed: a record that opens an epoch brings it. */
static bool find_key(struct verify *v, const struct entry *entry,
    const struct report_place *place, uint8_t ret[ED25519_PUBLIC])
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];
	bool first = v->tree.size == 0;

	if (first && !c1_is(type, "log.open"))
		return VERIFY_BAD(v, place, "state.genesis",
		    "log.open as the first record", "%.*s", (int)type->len,
		    type->at);
	if (!first && !c1_is(type, "epoch.open")) {
		memcpy(ret, v->key, ED25519_PUBLIC);
		return true;
	}
	if (!c1_hex(&entry->fields[ENTRY_RECKEY], ret, ED25519_PUBLIC) ||
	    !ed25519_key_is_good(ret))
		return VERIFY_BAD(v, place, "key.form",
		    "reckey, a point of the prime-order group in hex", "none");
	return first || verify_last_signature(v);
}

static bool may_follow(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	if (v->ended == ENDED_LOG)
		return VERIFY_BAD(v, place, "state.closed",
		    "nothing after log.close", "%.*s", (int)type->len,
		    type->at);
	if (v->ended == ENDED_EPOCH && !c1_is(type, "epoch.open"))
		return VERIFY_BAD(v, place, "state.closed",
		    "epoch.open after epoch.close", "%.*s", (int)type->len,
		    type->at);
	return true;
}

static bool is_known(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	struct report_what what = { VERDICT_UNSUPPORTED, "record.version",
		place, "v 1 of " ENTRY_PREDICATE_TYPE };
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	if (!c1_is(&entry->predicate_type, ENTRY_PREDICATE_TYPE) ||
	    entry->v != 1) {
		report_add(v->report, &what, "v %" PRIu64 " of %.*s", entry->v,
		    (int)entry->predicate_type.len, entry->predicate_type.at);
		return false;
	}
	for (size_t i = 0; record_types[i] != NULL; i++)
		if (c1_is(type, record_types[i]))
			return true;
	what.check = "record.type";
	what.expected = "a type of version 1";
	report_add(v->report, &what, "%.*s", (int)type->len, type->at);
	return false;
}

/* in-toto: one subject or more, each with a name and a digest. */
static bool subjects_hold(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	struct c1_walk w;
	struct c1_member m;
	size_t n = 0;

	c1_walk(&entry->subject, &w);
	for (; entry->subject.kind == C1_ARRAY && c1_next(&w, &m); n++) {
		struct c1_value name = c1_member(&m.value, "name");
		struct c1_value digest = c1_member(&m.value, "digest");
		struct c1_value hex = c1_member(&digest, "sha256");
		uint8_t bytes[SHA256_BYTES];

		if (name.kind != C1_STRING || name.len == 0 ||
		    !c1_hex(&hex, bytes, sizeof(bytes)))
			return VERIFY_BAD(v, place, "record.subject",
			    "a name and a sha256", "subject %zu lacks one", n);
	}
	if (n == 0)
		return VERIFY_BAD(
		    v, place, "record.subject", "at least one subject", "none");
	return true;
}

static int note_boot(
    struct verify *v, const struct entry *entry, struct error *e)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	if (memcmp(v->boot, entry->boot, sizeof(v->boot)) != 0) {
		if (idmap_put(&v->boots, v->boot, &v->boot_stopped, e) < 0)
			return -1;
		memcpy(v->boot, entry->boot, sizeof(v->boot));
	}
	v->boot_stopped =
	    c1_is(type, "epoch.close") || c1_is(type, "log.close");
	return 0;
}

/* A head that is met: does it agree?  Its source says what it means if not. */
static void judge_head(struct verify *v, const struct heads_one *one,
    const uint8_t root[TREE_HASH])
{
	bool same = memcmp(one->head.root, root, TREE_HASH) == 0;
	struct report_what what = { VERDICT_DIVERGED, "known.head", NULL,
		"the root of this log at that size" };

	if (one->source == HEAD_CHECKPOINT && !same) {
		what.verdict = VERDICT_TAMPERED;
		what.check = "checkpoint.root";
	} else if (one->source == HEAD_RECEIPT && same && !one->proves) {
		what.verdict = VERDICT_TAMPERED;
		what.check = "results.receipt";
		what.expected = "a proof of the outcome's record";
	} else if (one->source == HEAD_RECEIPT && !same) {
		what.check = "results.receipt";
	} else if (same && one->source == HEAD_KNOWN) {
		what.verdict = VERDICT_VERIFIED;
		what.expected = NULL;
	} else if (same) {
		return;
	}
	if (one->source == HEAD_KNOWN)
		report_add(v->report, &what, "--known %s, size %" PRIu64,
		    v->options->known[one->index].name, one->head.size);
	else if (one->source == HEAD_RECEIPT)
		report_add(v->report, &what,
		    "the receipt of record %" PRIu64 ", size %" PRIu64,
		    one->index, one->head.size);
	else
		report_add(v->report, &what, "another root, size %" PRIu64,
		    one->head.size);
}

void verify_meet_heads(struct verify *v)
{
	struct heads_one one;
	uint8_t root[TREE_HASH];

	while (heads_take(&v->heads, v->tree.size, &one)) {
		tree_root(&v->tree, root);
		judge_head(v, &one, root);
	}
}

static int append(struct verify *v, const struct entry *entry,
    const struct report_place *place, struct error *e)
{
	tree_leaf(entry->line, entry->len, v->last_leaf);
	tree_add(&v->tree, v->last_leaf);
	index_add(&v->index, entry->line, entry->len, v->last_leaf);
	memcpy(v->last_line, entry->line, entry->len);
	v->last_len = entry->len;
	v->last_place = *place;
	return note_boot(v, entry, e);
}

/* A key that was used once is never used again, whatever its epoch. */
static int keep_key(struct verify *v, struct error *e)
{
	uint8_t digest[SHA256_BYTES];

	sha256_of(v->key, sizeof(v->key), digest);
	return idmap_put(&v->keys, digest, NULL, e);
}

int verify_record(struct verify *v, const struct lines_line *line,
    bool *ret_go_on, struct error *e)
{
	struct report_place place = { true, v->tree.size, line->offset,
		line->segment };
	uint8_t key[ED25519_PUBLIC];
	struct entry entry;
	struct error why;
	bool sign;

	*ret_go_on = false;
	if (entry_read(line->text, line->len, &entry, &why) < 0) {
		(void)VERIFY_BAD(
		    v, &place, "record.form", "profile c1", "%s", why.text);
		return 0;
	}
	if (!chain_holds(v, &entry, &place) ||
	    !find_key(v, &entry, &place, key))
		return 0;
	sign = v->options->deep || v->tree.size >= v->checkpoint.size ||
	       memcmp(key, v->key, sizeof(key)) != 0 || v->tree.size == 0;
	if ((sign && !verify_signature(v, &entry, key, &place)) ||
	    !may_follow(v, &entry, &place))
		return 0;
	if (append(v, &entry, &place, e) < 0)
		return -1;
	v->last_signed = sign;
	if (!is_known(v, &entry, &place))
		*ret_go_on = true;
	else if (!subjects_hold(v, &entry, &place) ||
	         !verify_epoch_record(v, &entry, &place))
		return 0;
	else if (keep_key(v, e) < 0 ||
	         verify_run_record(v, &entry, &place, ret_go_on, e) < 0)
		return -1;
	verify_meet_heads(v);
	return 0;
}
