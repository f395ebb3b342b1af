/*
 * audit/facts_check.c - whether a trace is that of a signed outcome.  Linked by
 * bailiff-audit; pure but for the pins.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/entry.h"
#include "audit/facts.h"
#include "audit/manifest.h"
#include "audit/prove.h"
#include "base/sha256.h"

#define RESULT "result.json"

static bool is_digest(const struct c1_value *v, const struct facts_bytes *of)
{
	uint8_t want[SHA256_BYTES], is[SHA256_BYTES];

	sha256_of(of->data, of->len, is);
	return c1_hex(v, want, sizeof(want)) &&
	       memcmp(want, is, sizeof(is)) == 0;
}

/* A word of the profile: no byte in it needs an escape. */
static bool copy_word(const struct c1_value *v, char *ret, size_t cap)
{
	if (v->kind != C1_STRING || v->len == 0 || v->len >= cap)
		return false;
	memcpy(ret, v->at, v->len);
	ret[v->len] = '\0';
	return true;
}

static int check_receipt(
    const struct facts_folder *f, const struct entry *record, struct error *e)
{
	const struct prove_receipt receipt = { .proof = f->receipt.data,
		.proof_len = f->receipt.len,
		.record = record,
		.key = f->key,
		.pin_fds = f->pin_fds };
	struct note_proof proof;
	struct note_key pin;

	if (prove_check(&receipt, &proof, &pin, e) < 0)
		return FAIL_IN(e, "record.tlog-proof");
	return 0;
}

static int check_trace(
    const struct facts_folder *f, const struct entry *record, struct error *e)
{
	const struct c1_value trace = c1_member(&record->predicate, "trace");
	const struct c1_value complete = c1_member(&trace, "complete");
	const struct c1_value digest = c1_member(&trace, "sha256");

	if (trace.kind == C1_ABSENT)
		return FAIL(e, ERROR_STATE,
		    "its record tells of no trace; run it under a policy with "
		    "\"trace\": \"required\"");
	if (complete.kind != C1_TRUE)
		return FAIL(e, ERROR_STATE,
		    "its trace is not complete, by its record; run it again");
	if (!is_digest(&digest, &f->trace))
		return FAIL(e, ERROR_TAMPERED,
		    "trace.jsonl is not the file that the record tells of; see "
		    "bailiff audit verify --results");
	return 0;
}

static int check_manifest(
    const struct facts_folder *f, const struct entry *record, struct error *e)
{
	const struct manifest_line *line;
	uint8_t digest[SHA256_BYTES];
	struct manifest m;
	bool good;

	if (!is_digest(&record->fields[ENTRY_MANIFEST], &f->manifest))
		return FAIL(e, ERROR_TAMPERED,
		    "MANIFEST is not the file that the record tells of");
	if (manifest_read(
	        (const char *)f->manifest.data, f->manifest.len, &m, e) < 0)
		return FAIL_IN(e, "MANIFEST");
	sha256_of(f->result.data, f->result.len, digest);
	line = manifest_find(&m, RESULT, strlen(RESULT));
	good =
	    line != NULL && memcmp(line->sha256, digest, sizeof(digest)) == 0;
	manifest_done(&m);
	return good ? 0
	            : FAIL(e, ERROR_TAMPERED,
	                  RESULT " is not the file that MANIFEST tells of");
}

static uint64_t count_host(const struct c1_value *inputs)
{
	struct c1_walk walk;
	struct c1_member m;
	uint64_t n = 0;

	c1_walk(inputs, &walk);
	while (c1_next(&walk, &m)) {
		const struct c1_value kind = c1_member(&m.value, "kind");

		n += !c1_is(&kind, "inline");
	}
	return n;
}

static int read_result(
    const struct facts_folder *f, struct facts_run *ret, struct error *e)
{
	const char *text = (const char *)f->result.data;
	size_t len = f->result.len;
	struct c1_value all, policy, word;

	if (len > 0 && text[len - 1] == '\n')
		len--;
	if (c1_check(text, len, &all, e) < 0)
		return FAIL_IN(e, RESULT);
	policy = c1_member(&all, "policy");
	word = c1_member(&policy, "sha256");
	if (!copy_word(&word, ret->policy, sizeof(ret->policy)))
		return FAIL(e, ERROR_MALFORMED, RESULT ": no policy");
	word = c1_member(&all, "lang");
	if (!copy_word(&word, ret->language, sizeof(ret->language)))
		return FAIL(e, ERROR_MALFORMED, RESULT ": no language");
	word = c1_member(&all, "req");
	if (!c1_is(&word, ret->id))
		return FAIL(e, ERROR_TAMPERED, RESULT ": of another run");
	word = c1_member(&all, "inputs");
	ret->host_inputs = count_host(&word);
	return 0;
}

static int check_entry(const struct facts_folder *f, const struct entry *record,
    struct facts_run *ret, struct error *e)
{
	const struct c1_value *fields = record->fields;

	if (check_receipt(f, record, e) < 0)
		return -1;
	if (!c1_is(&fields[ENTRY_TYPE], "outcome") ||
	    !copy_word(&fields[ENTRY_REQ], ret->id, sizeof(ret->id)) ||
	    !copy_word(&fields[ENTRY_STATUS], ret->status, sizeof(ret->status)))
		return FAIL(
		    e, ERROR_STATE, "its record is no outcome of a run");
	if (check_trace(f, record, e) < 0 || check_manifest(f, record, e) < 0)
		return -1;
	return read_result(f, ret, e);
}

int facts_check(
    const struct facts_folder *f, struct facts_run *ret, struct error *e)
{
	struct text_out line = { malloc(DSSE_LINE_MAX + 1), DSSE_LINE_MAX + 1,
		0 };
	struct facts_run run = { .host_inputs = 0 };
	struct entry record;
	int failed;

	if (line.data == NULL)
		return FAIL_SYS(e, "allocate");
	failed = dsse_line(f->record.data, f->record.len, &line, e);
	if (failed == 0)
		failed = entry_read(line.data, line.len, &record, e);
	if (failed < 0)
		error_prefix(e, "record.dsse.json");
	else
		failed = check_entry(f, &record, &run, e);
	free(line.data);
	if (failed < 0)
		return -1;
	*ret = run;
	return 0;
}
