/*
 * audit/verify_note.c - records that are not about a run's way from request to
 * outcome: what each must say, and what results.prune and redact explain.
 * Linked by the audit reader; every byte is hostile.
 */
#include <inttypes.h>
#include <string.h>

#include "audit/verify_results.h"
#include "audit/words.h"
#include "base/sha256.h"

#define BATCH_MAX 256 /* runs that one record may name */

static struct c1_value member(const struct entry *entry, const char *name)
{
	return c1_member(&entry->predicate, name);
}

static bool is_word(
    const struct c1_value *value, const char *(*word)(size_t), size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		if (c1_is(value, word(i)))
			return true;
	return false;
}

/* RFC 3339 of one length, so that the order of bytes is that of time. */
static bool is_span(const struct entry *entry)
{
	struct c1_value from = member(entry, "from");
	struct c1_value to = member(entry, "to");

	return from.kind == C1_STRING && to.kind == C1_STRING &&
	       from.len == ENTRY_TIME_LEN && to.len == ENTRY_TIME_LEN &&
	       memcmp(from.at, to.at, from.len) <= 0;
}

static bool gap(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	struct c1_value reason = member(entry, "reason");
	struct c1_value refused = member(entry, "refused");
	uint64_t n;

	if (!is_word(&reason, gap_word, GAP_N))
		return VERIFY_BAD(v, place, "record.word",
		    "a reason of the list", "another word or none");
	if (!c1_number(&refused, &n) || n == 0 || !is_span(entry))
		return VERIFY_BAD(v, place, "record.field",
		    "refused above 0, from and to in order", "something else");
	return true;
}

static bool clock_step(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	struct c1_value step = member(entry, "step");
	struct c1_value us = c1_member(&step, "us");
	struct c1_value way = c1_member(&step, "way");
	uint64_t n;

	if (!c1_number(&us, &n) || n == 0 ||
	    (!c1_is(&way, "back") && !c1_is(&way, "forward")))
		return VERIFY_BAD(v, place, "record.field",
		    "step, above 0 us, back or forward", "something else");
	return true;
}

static bool is_digest(const struct c1_value *value)
{
	uint8_t bytes[SHA256_BYTES];

	return c1_hex(value, bytes, sizeof(bytes));
}

static bool config(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	const struct c1_value *policy = &entry->fields[ENTRY_POLICY];
	struct c1_value now = c1_member(policy, "sha256");
	struct c1_value was = member(entry, "was");
	struct c1_value builds = member(entry, "builds");

	if (policy->kind == C1_ABSENT && builds.kind == C1_OBJECT &&
	    builds.len > 2)
		return true;
	if (policy->kind != C1_OBJECT || !is_digest(&now) || !is_digest(&was) ||
	    memcmp(now.at, was.at, now.len) == 0)
		return VERIFY_BAD(v, place, "record.field",
		    "a policy and another one that was, or builds",
		    "neither has changed");
	return true;
}

static bool was_run(const struct verify *v, const uint8_t run[IDMAP_ID])
{
	if (idmap_get(&v->used, run) == NULL)
		return v->from_seen >
		       0; /* it may stand where nothing was read */
	return idmap_get(&v->open, run) == NULL;
}

/* A folder of that name can have come from anywhere: the log says so, and no
 * more than that. */
static void unknown_run(struct verify *v, const struct report_place *place)
{
	report_add(v->report,
	    &(struct report_what){ VERDICT_BELOW, "state.run", place,
	        "a run that has ended before" },
	    "a run that this log does not have");
}

static bool access_to(struct verify *v, const struct entry *entry,
    const struct report_place *place)
{
	struct c1_value what = member(entry, "what");
	struct c1_value name = member(entry, "name");
	uint8_t run[IDMAP_ID];

	if (!entry_run_id(&entry->fields[ENTRY_REQ], run) ||
	    entry->fields[ENTRY_PRINCIPAL].kind != C1_OBJECT)
		return VERIFY_BAD(v, place, "record.field",
		    "req, a run id, and a principal", "one is missing");
	if (!(c1_is(&what, "list") && name.kind == C1_ABSENT) &&
	    !(c1_is(&what, "file") && name.kind == C1_STRING))
		return VERIFY_BAD(v, place, "record.word",
		    "a list, or a file and its name", "something else");
	if (!was_run(v, run))
		unknown_run(v, place);
	return true;
}

static int keep(
    struct verify *v, const uint8_t run[IDMAP_ID], uint8_t how, struct error *e)
{
	const uint8_t *before = idmap_get(&v->gone, run);
	uint8_t all = how;

	if (before != NULL)
		all = (uint8_t)(all | *before);
	if ((how & GONE_SALT) != 0 &&
	    (before == NULL || (*before & GONE_SALT) == 0))
		v->summary->redacted++;
	return idmap_put(&v->gone, run, &all, e);
}

static int prune(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good, struct error *e)
{
	struct c1_value runs = member(entry, "runs");
	struct c1_value before = member(entry, "before");
	struct c1_value reason = member(entry, "reason");
	uint8_t run[IDMAP_ID];
	struct c1_member m;
	struct c1_walk w;
	size_t n = 0;

	if (before.kind != C1_ABSENT) {
		*ret_good = c1_number(&before, &v->pruned_before) ||
		            VERIFY_BAD(v, place, "record.field",
		                "before, a number", "something else");
		return 0;
	}
	*ret_good = is_word(&reason, prune_word, PRUNE_N) ||
	            VERIFY_BAD(v, place, "record.word", "a reason of the list",
	                "another word or none");
	c1_walk(&runs, &w);
	for (; *ret_good && c1_next(&w, &m); n++) {
		bool known = entry_run_id(&m.value, run) && n < BATCH_MAX &&
		             idmap_get(&v->open, run) == NULL;

		if (!known)
			*ret_good = VERIFY_BAD(v, place, "state.prune",
			    "ids of runs that are over", "another one");
		else if (!was_run(v, run))
			unknown_run(v, place);
		if (known && keep(v, run, GONE_PRUNED, e) < 0)
			return -1;
	}
	if (*ret_good && n == 0)
		*ret_good = VERIFY_BAD(
		    v, place, "record.field", "runs, or before", "neither");
	return 0;
}

static bool was_redacted(
    const struct verify *v, const struct entry *entry, struct c1_value item)
{
	struct c1_value req = c1_member(&item, "req");
	struct c1_value seq = c1_member(&item, "seq");
	struct c1_value epoch = c1_member(&item, "epoch");
	uint8_t run[IDMAP_ID];
	uint64_t at, of;

	return entry_run_id(&req, run) && was_run(v, run) &&
	       c1_number(&seq, &at) && at < entry->seq &&
	       c1_number(&epoch, &of) && of <= entry->epoch;
}

static int redact(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good, struct error *e)
{
	struct c1_value runs = member(entry, "runs");
	struct c1_value results = member(entry, "results");
	uint8_t how = results.kind == C1_TRUE
	                  ? (uint8_t)(GONE_SALT | GONE_RESULTS)
	                  : (uint8_t)GONE_SALT;
	uint8_t run[IDMAP_ID];
	struct c1_member m;
	struct c1_walk w;
	size_t n = 0;

	c1_walk(&runs, &w);
	for (; c1_next(&w, &m); n++) {
		struct c1_value req = c1_member(&m.value, "req");

		if (n == BATCH_MAX || !was_redacted(v, entry, m.value)) {
			*ret_good = VERIFY_BAD(v, place, "state.redact",
			    "req, seq and epoch of a run that is over",
			    "another one");
			return 0;
		}
		if (entry_run_id(&req, run) && keep(v, run, how, e) < 0)
			return -1;
	}
	*ret_good = n > 0 || VERIFY_BAD(v, place, "record.field",
	                         "runs, one or more", "none");
	return 0;
}

int verify_note_record(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good, struct error *e)
{
	static const struct {
		const char *type;
		bool (*holds)(struct verify *v, const struct entry *entry,
		    const struct report_place *place);
	} rows[] = {
		{ "gap", gap },
		{ "clock", clock_step },
		{ "config", config },
		{ "access", access_to },
	};
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (c1_is(type, rows[i].type)) {
			*ret_good = rows[i].holds(v, entry, place);
			return 0;
		}
	if (c1_is(type, "results.prune"))
		return prune(v, entry, place, ret_good, e);
	if (c1_is(type, "redact"))
		return redact(v, entry, place, ret_good, e);
	return 0;
}
