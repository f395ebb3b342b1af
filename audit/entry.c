/*
 * audit/entry.c - the form of one record.  Linked by signer and audit reader;
 * every byte is hostile.
 */
#include "audit/entry.h"

#include <string.h>

#include "audit/dsse.h"

static const char *const names[ENTRY_FIELDS] = {
	[ENTRY_ALG] = "alg",
	[ENTRY_ARGS] = "args",
	[ENTRY_BEFORE] = "before",
	[ENTRY_BOOT] = "boot",
	[ENTRY_CODE] = "code",
	[ENTRY_DECISION] = "decision",
	[ENTRY_DURABILITY] = "durability",
	[ENTRY_ENV] = "env",
	[ENTRY_EPOCH] = "epoch",
	[ENTRY_INPUTS] = "inputs",
	[ENTRY_INTENT] = "intent",
	[ENTRY_KEYS] = "keys",
	[ENTRY_KILLED_BY] = "killed_by",
	[ENTRY_LIMITS] = "limits",
	[ENTRY_LOG] = "log",
	[ENTRY_LOGKEY] = "logkey",
	[ENTRY_MANIFEST] = "manifest",
	[ENTRY_MONO] = "mono",
	[ENTRY_NEXT] = "next",
	[ENTRY_ORIGIN] = "origin",
	[ENTRY_PHASE] = "phase",
	[ENTRY_POLICY] = "policy",
	[ENTRY_POP] = "pop",
	[ENTRY_PREV] = "prev",
	[ENTRY_PRINCIPAL] = "principal",
	[ENTRY_PROFILE] = "profile",
	[ENTRY_REASONS] = "reasons",
	[ENTRY_RECKEY] = "reckey",
	[ENTRY_RECORDS] = "records",
	[ENTRY_REQ] = "req",
	[ENTRY_RULES] = "rules",
	[ENTRY_SANDBOX] = "sandbox",
	[ENTRY_SEQ] = "seq",
	[ENTRY_STATUS] = "status",
	[ENTRY_STDERR] = "stderr",
	[ENTRY_STDIN] = "stdin",
	[ENTRY_STDOUT] = "stdout",
	[ENTRY_TIME] = "time",
	[ENTRY_TRACE] = "trace",
	[ENTRY_TYPE] = "type",
	[ENTRY_V] = "v",
};

/* Names and members are both sorted, so one pass over each is enough. */
static void find_fields(struct entry *ret)
{
	struct c1_member m;
	struct c1_walk w;
	size_t at = 0;

	memset(ret->fields, 0, sizeof(ret->fields));
	c1_walk(&ret->predicate, &w);
	while (c1_next(&w, &m)) {
		while (at < ENTRY_FIELDS &&
		       strncmp(names[at], m.key, m.key_len) < 0)
			at++;
		/* A name may only begin as the key does: "stdout_total". */
		for (size_t i = at; i < ENTRY_FIELDS &&
		                    strncmp(names[i], m.key, m.key_len) == 0;
		     i++)
			if (names[i][m.key_len] == '\0')
				ret->fields[i] = m.value;
	}
}

static int read_frame(
    const char *line, size_t len, struct entry *ret, struct error *e)
{
	struct c1_value whole;
	struct c1_value sig = { C1_STRING, line + DSSE_SIG_AT, DSSE_SIG_LEN };

	if (len > DSSE_LINE_MAX)
		return FAIL(e, ERROR_MALFORMED, "a line longer than %d bytes",
		    DSSE_LINE_MAX);
	if (c1_check(line, len, &whole, e) < 0)
		return -1;
	if (len < DSSE_LINE_MIN ||
	    memcmp(line, "{\"sig\":\"", DSSE_SIG_AT) != 0 ||
	    memcmp(line + DSSE_SIG_AT + DSSE_SIG_LEN, "\",\"stmt\":{", 10) !=
	        0 ||
	    line[len - 2] != '}')
		return FAIL(e, ERROR_MALFORMED,
		    "not framed as {\"sig\":88 digits,\"stmt\":{...}}");
	ret->statement = c1_member(&whole, "stmt");
	if (ret->statement.len != len - DSSE_STMT_AT - 1)
		return FAIL(e, ERROR_MALFORMED, "a member beside sig and stmt");
	if (!c1_base64(&sig, ret->sig, ED25519_SIG))
		return FAIL(e, ERROR_MALFORMED,
		    "sig is not the canonical base64 of 64 bytes");
	ret->line = line;
	ret->len = len;
	return 0;
}

/* One walk for all four: each look-up by name would skip the predicate anew. */
static void read_statement(struct entry *ret)
{
	const struct {
		const char *name;
		struct c1_value *value;
	} rows[] = {
		{ "_type", &ret->statement_type },
		{ "predicate", &ret->predicate },
		{ "predicateType", &ret->predicate_type },
		{ "subject", &ret->subject },
	};
	struct c1_member m;
	struct c1_walk w;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		*rows[i].value = (struct c1_value){ C1_ABSENT, NULL, 0 };
	c1_walk(&ret->statement, &w);
	while (c1_next(&w, &m))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (strlen(rows[i].name) == m.key_len &&
			    memcmp(rows[i].name, m.key, m.key_len) == 0)
				*rows[i].value = m.value;
}

/* 2026-11-30T18:00:00.000000Z; ranges of the calendar are not judged. */
static bool is_time(const struct c1_value *v)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";

	if (v->kind != C1_STRING || v->len != ENTRY_TIME_LEN)
		return false;
	for (size_t i = 0; i < ENTRY_TIME_LEN; i++) {
		bool digit = v->at[i] >= '0' && v->at[i] <= '9';

		if (form[i] == 'd' ? !digit : v->at[i] != form[i])
			return false;
	}
	return true;
}

static int read_common(struct entry *ret, struct error *e)
{
	const struct c1_value *f = ret->fields;
	uint64_t mono;
	const struct {
		bool good;
		const char *what;
	} tests[] = {
		{ c1_number(&f[ENTRY_SEQ], &ret->seq), "seq" },
		{ c1_number(&f[ENTRY_EPOCH], &ret->epoch), "epoch" },
		{ c1_number(&f[ENTRY_V], &ret->v), "v" },
		{ c1_number(&f[ENTRY_MONO], &mono), "mono" },
		{ c1_hex(&f[ENTRY_PREV], ret->prev, TREE_HASH), "prev" },
		{ c1_hex(&f[ENTRY_LOG], ret->log, ENTRY_LOG_BYTES), "log" },
		{ c1_hex(&f[ENTRY_BOOT], ret->boot, ENTRY_LOG_BYTES), "boot" },
		{ is_time(&f[ENTRY_TIME]), "time" },
		{ f[ENTRY_TYPE].kind == C1_STRING, "type" },
		{ ret->predicate_type.kind == C1_STRING, "predicateType" },
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!tests[i].good)
			return FAIL(e, ERROR_MALFORMED,
			    "%s is missing or not in its form", tests[i].what);
	return 0;
}

int entry_read(const char *line, size_t len, struct entry *ret, struct error *e)
{
	if (read_frame(line, len, ret, e) < 0)
		return -1;
	read_statement(ret);
	if (!c1_is(&ret->statement_type, ENTRY_STATEMENT_TYPE))
		return FAIL(
		    e, ERROR_MALFORMED, "_type is not " ENTRY_STATEMENT_TYPE);
	if (ret->predicate.kind != C1_OBJECT)
		return FAIL(e, ERROR_MALFORMED, "no predicate");
	find_fields(ret);
	return read_common(ret, e);
}

bool entry_run_id(const struct c1_value *v, uint8_t ret[ENTRY_LOG_BYTES])
{
	struct c1_value hex = *v;

	if (v->kind != C1_STRING || v->len < 2 || memcmp(v->at, "r_", 2) != 0)
		return false;
	hex.at += 2;
	hex.len -= 2;
	return c1_hex(&hex, ret, ENTRY_LOG_BYTES);
}

/* NOLINTBEGIN(readability-non-const-parameter): dsse_pae writes to 'scratch' */
bool entry_signed_by(const struct entry *entry,
    const uint8_t record_key[ED25519_PUBLIC], char scratch[DSSE_PAE_MAX])
{
	struct text_out pae = { scratch, DSSE_PAE_MAX, 0 };
	struct error ignored; /* the statement is in bounds: it was read */

	return dsse_pae(entry->statement.at, entry->statement.len, &pae,
	           &ignored) == 0 &&
	       ed25519_verify(record_key, entry->sig, pae.data, pae.len);
}
/* NOLINTEND(readability-non-const-parameter) */
