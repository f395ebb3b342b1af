/*
 * audit/show.c - records as text.  Linked by the audit reader.
 */
#include "audit/show.h"

#include <inttypes.h>
#include <string.h>

#define WHAT_MAX 400 /* bytes of one list of words */

static struct c1_value predicate(const struct entry *entry, const char *name)
{
	return c1_member(&entry->predicate, name);
}

/* The text of a scalar; "-" for what is not there. */
static int put(const struct c1_value *v, struct text_out *out, struct error *e)
{
	if (v->kind == C1_ABSENT)
		return text_printf(out, e, "-");
	return text_printf(out, e, "%.*s", (int)v->len, v->at);
}

/* " name value" where there is a value. */
static int put_named(const char *name, const struct c1_value *v,
    struct text_out *out, struct error *e)
{
	if (v->kind == C1_ABSENT)
		return 0;
	return text_printf(out, e, " %s %.*s", name, (int)v->len, v->at);
}

static int put_words(
    const struct c1_value *array, struct text_out *out, struct error *e)
{
	size_t before = out->len;
	struct c1_member m;
	struct c1_walk w;

	c1_walk(array, &w);
	while (c1_next(&w, &m)) {
		if (out->len - before > WHAT_MAX)
			return text_printf(out, e, ", ...");
		if (text_printf(out, e, "%s%.*s", out->len > before ? ", " : "",
		        (int)m.value.len, m.value.at) < 0)
			return -1;
	}
	return 0;
}

static int what_intent(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	const struct c1_value *code = &entry->fields[ENTRY_CODE];
	struct c1_value lang = c1_member(code, "lang");
	struct c1_value size = c1_member(code, "size");
	struct c1_value policy =
	    c1_member(&entry->fields[ENTRY_POLICY], "name");
	struct c1_value uid = c1_member(&entry->fields[ENTRY_PRINCIPAL], "uid");

	if (put(&lang, out, e) < 0 || put_named("bytes", &size, out, e) < 0 ||
	    put_named("policy", &policy, out, e) < 0)
		return -1;
	return put_named("uid", &uid, out, e);
}

static int what_outcome(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	struct c1_value left = predicate(entry, "exit");
	struct c1_value code = c1_member(&left, "code");
	struct c1_value number = c1_member(&left, "signal");
	struct c1_value use = predicate(entry, "use");
	struct c1_value wall = c1_member(&use, "wall_us");
	struct c1_value failed = predicate(entry, "failed");
	struct c1_value step = c1_member(&failed, "step");

	if (put(&entry->fields[ENTRY_STATUS], out, e) < 0 ||
	    put_named("phase", &entry->fields[ENTRY_PHASE], out, e) < 0 ||
	    put_named("killed by", &entry->fields[ENTRY_KILLED_BY], out, e) <
	        0 ||
	    put_named("exit", &code, out, e) < 0 ||
	    put_named("signal", &number, out, e) < 0 ||
	    put_named("step", &step, out, e) < 0)
		return -1;
	return put_named("wall_us", &wall, out, e);
}

static int what_access(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	struct c1_value kind = predicate(entry, "what");
	struct c1_value name = predicate(entry, "name");
	struct c1_value uid = c1_member(&entry->fields[ENTRY_PRINCIPAL], "uid");

	if (put(&kind, out, e) < 0 || put_named("name", &name, out, e) < 0)
		return -1;
	return put_named("uid", &uid, out, e);
}

/* Of the clock, or of policy and programs. */
static int what_change(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	const struct c1_value *policy = &entry->fields[ENTRY_POLICY];
	struct c1_value step = predicate(entry, "step");
	struct c1_value way = c1_member(&step, "way");
	struct c1_value us = c1_member(&step, "us");
	struct c1_value name = c1_member(policy, "name");
	struct c1_value now = c1_member(policy, "sha256");
	struct c1_value was = predicate(entry, "was");

	if (step.kind != C1_ABSENT) {
		if (put(&way, out, e) < 0)
			return -1;
		return put_named("us", &us, out, e);
	}
	if (predicate(entry, "builds").kind != C1_ABSENT &&
	    text_printf(
	        out, e, "programs%s", policy->kind != C1_ABSENT ? " " : "") < 0)
		return -1;
	if (policy->kind == C1_ABSENT)
		return 0;
	if (text_printf(out, e, "policy %.*s", (int)name.len, name.at) < 0 ||
	    put_named("now", &now, out, e) < 0)
		return -1;
	return put_named("was", &was, out, e);
}

static int what_gap(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	struct c1_value reason = predicate(entry, "reason");
	struct c1_value refused = predicate(entry, "refused");
	struct c1_value from = predicate(entry, "from");
	struct c1_value to = predicate(entry, "to");

	if (put(&reason, out, e) < 0 ||
	    put_named("refused", &refused, out, e) < 0 ||
	    put_named("from", &from, out, e) < 0)
		return -1;
	return put_named("to", &to, out, e);
}

/* Runs whose results, or the salts of whose commitments, are gone. */
static int what_removed(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	struct c1_value reason = predicate(entry, "reason");
	struct c1_value bytes = predicate(entry, "bytes");
	struct c1_value results = predicate(entry, "results");
	struct c1_value runs = predicate(entry, "runs");
	struct c1_member m;
	struct c1_walk w;
	size_t n = 0;

	c1_walk(&runs, &w);
	while (c1_next(&w, &m))
		n++;
	if (text_printf(out, e, "runs %zu", n) < 0 ||
	    put_named("reason", &reason, out, e) < 0 ||
	    put_named("bytes", &bytes, out, e) < 0 ||
	    (results.kind == C1_TRUE &&
	        text_printf(out, e, " with results") < 0))
		return -1;
	c1_walk(&runs, &w);
	for (size_t i = 0; i < 4 && c1_next(&w, &m); i++) {
		struct c1_value req = c1_member(&m.value, "req");

		if (req.kind == C1_ABSENT)
			req = m.value;
		if (text_printf(out, e, " %.*s", (int)req.len, req.at) < 0)
			return -1;
	}
	return n > 4 ? text_printf(out, e, " ...") : 0;
}

static int what(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];
	struct c1_value reason = predicate(entry, "reason");
	struct c1_value bytes = predicate(entry, "bytes");

	if (c1_is(type, "intent"))
		return what_intent(entry, out, e);
	if (c1_is(type, "denial"))
		return put_words(&entry->fields[ENTRY_REASONS], out, e);
	if (c1_is(type, "outcome"))
		return what_outcome(entry, out, e);
	if (c1_is(type, "log.open"))
		return put(&entry->fields[ENTRY_ORIGIN], out, e);
	if (c1_is(type, "access"))
		return what_access(entry, out, e);
	if (c1_is(type, "clock") || c1_is(type, "config"))
		return what_change(entry, out, e);
	if (c1_is(type, "gap"))
		return what_gap(entry, out, e);
	if (c1_is(type, "redact") || c1_is(type, "results.prune"))
		return what_removed(entry, out, e);
	if (text_printf(out, e, "epoch %" PRIu64, entry->epoch) < 0 ||
	    put_named("reason", &reason, out, e) < 0 ||
	    put_named("bytes", &bytes, out, e) < 0)
		return -1;
	return put_named("records", &entry->fields[ENTRY_RECORDS], out, e);
}

int show_line(const struct entry *entry, struct text_out *out, struct error *e)
{
	const struct c1_value *type = &entry->fields[ENTRY_TYPE];
	const struct c1_value *when = &entry->fields[ENTRY_TIME];
	const struct c1_value *run = &entry->fields[ENTRY_REQ];
	bool named = run->kind == C1_STRING;

	if (text_printf(out, e, "%8" PRIu64 "  %.*s  %-12.*s  %-34.*s  ",
	        entry->seq, (int)when->len, when->at, (int)type->len, type->at,
	        named ? (int)run->len : 1, named ? run->at : "-") < 0 ||
	    what(entry, out, e) < 0)
		return -1;
	return text_printf(out, e, "\n");
}

static int fields(const struct c1_value *from, int depth, struct text_out *out,
    struct error *e);

/* NOLINTBEGIN(misc-no-recursion): c1_check ends it at C1_DEPTH_MAX */
static int field(
    const struct c1_member *m, int depth, struct text_out *out, struct error *e)
{
	bool named = m->key_len > 0;
	bool inner =
	    (m->value.kind == C1_OBJECT || m->value.kind == C1_ARRAY) &&
	    m->value.len > 2;

	if (text_printf(out, e, "%*s%.*s", 2 * depth, "",
	        named ? (int)m->key_len : 1, named ? m->key : "-") < 0)
		return -1;
	if (!inner)
		return text_printf(
		    out, e, " %.*s\n", (int)m->value.len, m->value.at);
	if (text_printf(out, e, "\n") < 0)
		return -1;
	return fields(&m->value, depth + 1, out, e);
}

static int fields(const struct c1_value *from, int depth, struct text_out *out,
    struct error *e)
{
	struct c1_member m;
	struct c1_walk w;

	c1_walk(from, &w);
	while (c1_next(&w, &m))
		if (field(&m, depth, out, e) < 0)
			return -1;
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

int show_fields(
    const struct entry *entry, struct text_out *out, struct error *e)
{
	return fields(&entry->statement, 0, out, e);
}
