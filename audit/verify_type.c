/*
 * audit/verify_type.c - what a record of a known type must say in its place.
 * Linked by the audit reader.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/verify_results.h"
#include "audit/words.h"
#include "base/sha256.h"

#define ALG     "ed25519+sha256+rfc6962"
#define PROFILE "c1"

/* The key of an epoch: never used before. */
static bool take_key(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	uint8_t digest[SHA256_BYTES];

	if (!c1_hex(&entry->fields[ENTRY_RECKEY], v->key, ED25519_PUBLIC) ||
	    !c1_hex(&entry->fields[ENTRY_NEXT], v->next, TREE_HASH))
		return VERIFY_BAD(v, place, "key.form",
		    "reckey and next in hex", "one is missing");
	v->summary->keys_files |= c1_is(&entry->fields[ENTRY_KEYS], "files");
	v->summary->keys_sealed |= c1_is(&entry->fields[ENTRY_KEYS], "sealed");
	sha256_of(v->key, ED25519_PUBLIC, digest);
	if (idmap_get(&v->keys, digest) != NULL)
		return VERIFY_BAD(v, place, "key.rotation",
		    "a record key that was never used", "an old one");
	v->epoch = entry->epoch;
	v->first = entry->seq;
	v->ended = ENDED_NOT;
	v->promise = PROMISE_FULL;
	return true;
}

static bool log_open(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	const struct note_key *pin = &v->summary->pin;
	const struct c1_value *alg = &entry->fields[ENTRY_ALG];
	const struct c1_value *profile = &entry->fields[ENTRY_PROFILE];
	const struct c1_value *origin = &entry->fields[ENTRY_ORIGIN];
	uint8_t key[ED25519_PUBLIC];

	if (entry->seq != 0)
		return VERIFY_BAD(v, place, "state.genesis",
		    "log.open at seq 0 only", "a second one");
	if (!c1_is(alg, ALG) || !c1_is(profile, PROFILE)) {
		report_add(v->report,
		    &(struct report_what){ VERDICT_UNSUPPORTED, "log.alg",
		        place, ALG ", profile " PROFILE },
		    "%.*s, profile %.*s", (int)alg->len, alg->at,
		    (int)profile->len, profile->at);
	}
	if (!c1_is(origin, pin->name))
		return VERIFY_BAD(v, place, "log.origin", pin->name, "%.*s",
		    (int)origin->len, origin->at);
	if (!c1_hex(&entry->fields[ENTRY_LOGKEY], key, sizeof(key)) ||
	    memcmp(key, pin->public_key, sizeof(key)) != 0)
		return VERIFY_BAD(
		    v, place, "log.key", "the pinned key", "another one");
	if (entry->epoch != 0)
		return VERIFY_BAD(
		    v, place, "key.epoch", "0", "%" PRIu64, entry->epoch);
	return take_key(v, entry, place);
}

/* What a crash may have cost, by what the epoch's records were promised. */
static void verify_crashed(struct verify *v, const struct report_place *place)
{
	static const char *const cost[PROMISE_N] = {
		[PROMISE_FULL] = "",
		[PROMISE_RELAXED] = "; durability was relaxed, so acknowledged "
		                    "records of a second may be lost",
		[PROMISE_NONE] = "; durability was none, so acknowledged "
		                 "records of the epoch may be lost",
	};

	if (v->promise > v->crashed)
		v->crashed = v->promise;
	report_add(v->report,
	    &(struct report_what){ VERDICT_BELOW, "key.close", place,
	        "epoch.close at the end of each epoch" },
	    "epoch %" PRIu64 " has none: a crash, or it was dropped%s",
	    v->epoch, cost[v->promise]);
}

static bool epoch_open(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	uint8_t key[ED25519_PUBLIC], digest[SHA256_BYTES], pop[ED25519_SIG];

	if (entry->epoch != v->epoch + 1)
		return VERIFY_BAD(v, place, "key.epoch",
		    "the number after the last epoch's", "%" PRIu64,
		    entry->epoch);
	/* find_key took it already. */
	if (!c1_hex(&entry->fields[ENTRY_RECKEY], key, sizeof(key)))
		return false;
	sha256_of(key, sizeof(key), digest);
	if (memcmp(digest, v->next, sizeof(digest)) != 0)
		return VERIFY_BAD(v, place, "key.rotation",
		    "the key that the last epoch announced", "another one");
	if (!c1_base64(&entry->fields[ENTRY_POP], pop, sizeof(pop)) ||
	    !ed25519_verify(key, pop, entry->prev, TREE_HASH))
		return VERIFY_BAD(v, place, "key.pop",
		    "the new key's signature over the leaf before",
		    "one that does not verify");
	if (v->ended != ENDED_EPOCH)
		verify_crashed(v, place);
	return take_key(v, entry, place);
}

static bool count_holds(struct verify *v, const struct entry *entry,
    const struct report_place *place, uint64_t expected)
{
	char text[32];
	uint64_t records;

	(void)snprintf(text, sizeof(text), "%" PRIu64, expected);
	if (!c1_number(&entry->fields[ENTRY_RECORDS], &records))
		return VERIFY_BAD(v, place, "state.count", text, "no records");
	if (records != expected)
		return VERIFY_BAD(
		    v, place, "state.count", text, "records %" PRIu64, records);
	return true;
}

bool verify_epoch_record(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	if (c1_is(type, "log.open"))
		return log_open(v, entry, place);
	if (c1_is(type, "epoch.open"))
		return epoch_open(v, entry, place);
	if (entry->epoch != v->epoch)
		return VERIFY_BAD(v, place, "key.epoch",
		    "the number of the open epoch", "%" PRIu64, entry->epoch);
	if (c1_is(type, "epoch.close")) {
		v->ended = ENDED_EPOCH;
		return count_holds(v, entry, place, entry->seq - v->first);
	}
	if (c1_is(type, "log.close")) {
		v->ended = ENDED_LOG;
		return count_holds(v, entry, place, entry->seq);
	}
	return true;
}

static bool word_holds(
    const struct c1_value *value, const char *(*word)(size_t), size_t n_words)
{
	if (value->kind == C1_ABSENT)
		return true;
	for (size_t i = 0; i < n_words; i++)
		if (word(i) != NULL && c1_is(value, word(i)))
			return true;
	return false;
}

static bool outcome_words(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	const struct c1_value *status = &entry->fields[ENTRY_STATUS];

	/* 'denied' is a word of replies; a denial is a record of its own. */
	if (status->kind == C1_ABSENT || c1_is(status, "denied") ||
	    !word_holds(status, status_word, STATUS_N))
		return VERIFY_BAD(v, place, "record.word",
		    "a status of the list", "%.*s", (int)status->len,
		    status->kind == C1_STRING ? status->at : "");
	if (!word_holds(&entry->fields[ENTRY_PHASE], phase_word, PHASE_N))
		return VERIFY_BAD(v, place, "record.word",
		    "a phase of the list", "another word");
	if (!word_holds(&entry->fields[ENTRY_KILLED_BY], killer_word, KILLER_N))
		return VERIFY_BAD(v, place, "record.word",
		    "a killed_by of the list", "another word");
	return true;
}

static int outcome(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good, struct error *e)
{
	struct c1_value seq = c1_member(&entry->fields[ENTRY_INTENT], "seq");
	struct c1_value leaf = c1_member(&entry->fields[ENTRY_INTENT], "leaf");
	const struct verify_open *open = NULL;
	uint8_t run[IDMAP_ID], leaf_bytes[TREE_HASH];
	uint64_t at;

	if (entry_run_id(&entry->fields[ENTRY_REQ], run))
		open = idmap_get(&v->open, run);
	*ret_good = open != NULL && c1_number(&seq, &at) && at == open->seq &&
	            c1_hex(&leaf, leaf_bytes, TREE_HASH) &&
	            memcmp(leaf_bytes, open->leaf, TREE_HASH) == 0;
	/* Its intent may stand where nothing was read. */
	if (!*ret_good && open == NULL && c1_number(&seq, &at) &&
	    at < v->from_seen && idmap_get(&v->used, run) == NULL) {
		v->n_before++;
		*ret_good = true;
		if (idmap_put(&v->used, run, NULL, e) < 0)
			return -1;
	}
	if (!*ret_good) {
		(void)VERIFY_BAD(v, place, "state.outcome",
		    "run id, seq and leaf of an intent that has no outcome yet",
		    open == NULL ? "no such intent is open"
		                 : "another seq or leaf");
		return 0;
	}
	*ret_good = outcome_words(v, entry, place);
	if (!*ret_good)
		return 0;
	(void)idmap_drop(&v->open, run);
	return v->options->results_fd >= 0 ? verify_result(v, entry, place, e)
	                                   : 0;
}

static void match_policy(struct verify *v, const struct entry *entry)
{
	struct c1_value file = c1_member(&entry->fields[ENTRY_POLICY], "file");
	struct c1_value text =
	    c1_member(&entry->fields[ENTRY_POLICY], "sha256");
	uint8_t digest[SHA256_BYTES];

	if (v->options->policy_sha256 == NULL || v->policy_named)
		return;
	v->policy_named =
	    (c1_hex(&file, digest, sizeof(digest)) &&
	        memcmp(digest, v->options->policy_sha256, sizeof(digest)) ==
	            0) ||
	    (c1_hex(&text, digest, sizeof(digest)) &&
	        memcmp(digest, v->options->policy_sha256, sizeof(digest)) == 0);
}

static bool has_fields(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool intent)
{
	static const struct {
		enum entry_field field;
		enum c1_kind kind;
		bool of_denial;
		const char *name;
	} rows[] = {
		{ ENTRY_POLICY, C1_OBJECT, true, "policy" },
		{ ENTRY_PRINCIPAL, C1_OBJECT, true, "principal" },
		{ ENTRY_ARGS, C1_OBJECT, false, "args" },
		{ ENTRY_CODE, C1_OBJECT, false, "code" },
		{ ENTRY_ENV, C1_OBJECT, false, "env" },
		{ ENTRY_INPUTS, C1_OBJECT, false, "inputs" },
		{ ENTRY_LIMITS, C1_OBJECT, false, "limits" },
		{ ENTRY_RULES, C1_ARRAY, false, "rules" },
		{ ENTRY_SANDBOX, C1_OBJECT, false, "sandbox" },
		{ ENTRY_STDIN, C1_OBJECT, false, "stdin" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((intent || rows[i].of_denial) &&
		    entry->fields[rows[i].field].kind != rows[i].kind)
			return VERIFY_BAD(
			    v, place, "record.field", rows[i].name, "none");
	return true;
}

/* Absent means full. */
static bool take_promise(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	const struct c1_value *said = &entry->fields[ENTRY_DURABILITY];
	struct verify_summary *s = v->summary;
	size_t promise = PROMISE_FULL;

	if (!word_holds(said, promise_word, PROMISE_N))
		return VERIFY_BAD(v, place, "record.word",
		    "a durability of the list", "another word");
	while (said->kind != C1_ABSENT && !c1_is(said, promise_word(promise)))
		promise++;
	s->n_weaker += promise > PROMISE_FULL;
	if (promise > v->promise)
		v->promise = (enum promise)promise;
	if (promise > s->durability)
		s->durability = (enum promise)promise;
	return true;
}

static int request(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good, struct error *e)
{
	bool intent = c1_is(&entry->fields[ENTRY_TYPE], "intent");
	const struct c1_value *reasons = &entry->fields[ENTRY_REASONS];
	struct verify_open open = { .seq = entry->seq };
	uint8_t run[IDMAP_ID];

	*ret_good = false;
	if (!entry_run_id(&entry->fields[ENTRY_REQ], run) ||
	    idmap_get(&v->used, run) != NULL) {
		(void)VERIFY_BAD(v, place, "state.run",
		    "a run id that was never used", "a used one or none");
		return 0;
	}
	if (!c1_is(&entry->fields[ENTRY_DECISION], intent ? "allow" : "deny") ||
	    (!intent && (reasons->kind != C1_ARRAY || reasons->len <= 2))) {
		(void)VERIFY_BAD(v, place, "record.decision",
		    intent ? "allow" : "deny with at least one reason",
		    "another decision, or no reason");
		return 0;
	}
	if (!has_fields(v, entry, place, intent))
		return 0;
	match_policy(v, entry);
	memcpy(open.leaf, v->last_leaf, TREE_HASH);
	if (idmap_put(&v->used, run, NULL, e) < 0 ||
	    (intent && idmap_put(&v->open, run, &open, e) < 0))
		return -1;
	*ret_good = true;
	return 0;
}

int verify_run_record(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good, struct error *e)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	*ret_good = take_promise(v, entry, place);
	if (!*ret_good)
		return 0;
	if (v->options->results_fd >= 0 &&
	    verify_policy(v, entry, place, e) < 0)
		return -1;
	if (c1_is(type, "intent") || c1_is(type, "denial"))
		return request(v, entry, place, ret_good, e);
	if (c1_is(type, "outcome"))
		return outcome(v, entry, place, ret_good, e);
	return verify_note_record(v, entry, place, ret_good, e);
}
