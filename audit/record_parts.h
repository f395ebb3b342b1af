/*
 * audit/record_parts.h - between the files that make up audit/record: who
 * writes which member of a predicate.  Private to audit/record*.c.
 */
#ifndef AUDIT_RECORD_PARTS_H
#define AUDIT_RECORD_PARTS_H

#include "audit/json.h"
#include "audit/record.h"

typedef void record_put(struct json *j, const struct record *r);

/* Of an intent or a denial. */
record_put record_put_args, record_put_claims, record_put_code,
    record_put_decision, record_put_env, record_put_inputs, record_put_limits,
    record_put_policy, record_put_principal, record_put_raw, record_put_reasons,
    record_put_rules, record_put_sandbox, record_put_stdin;

/* Of an outcome, the signer's own included. */
record_put record_put_degraded, record_put_exit, record_put_failed,
    record_put_files, record_put_intent, record_put_killer, record_put_manifest,
    record_put_phase, record_put_phases, record_put_posture, record_put_start,
    record_put_status, record_put_stderr, record_put_stdout, record_put_timing,
    record_put_trace, record_put_use, record_put_viol;

/* Of records about the log's own life, and about results. */
record_put record_put_count, record_put_from, record_put_name,
    record_put_note_reason, record_put_refused, record_put_results,
    record_put_runs, record_put_step, record_put_to, record_put_was,
    record_put_what;

/* The whole predicate, an object. */
void record_put_predicate(struct json *j, const struct record *r);

/* Lists of words, sorted, each once, as an array of strings. */
struct record_words {
	const struct event_word *items;
	uint64_t n;
};
enum record_form {
	FORM_RULES,
	FORM_TEXT
};
void record_put_words(
    struct json *j, struct record_words words, enum record_form form);

/* Members {"name": number}, sorted; a repeated name is refused. */
struct record_member {
	const char *name;
	uint64_t value;
};
void record_put_members(struct json *j, struct record_member *list, size_t n);

#endif
