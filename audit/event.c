/*
 * audit/event.c - the rows of audit/event.h.  Linked by supervisor and signer.
 */
#include "audit/event.h"

static const struct wire_field word_rows[] = {
	WIRE_ROW_TEXT(event_word, text),
};
static const struct wire_layout word = WIRE_LAYOUT(event_word, word_rows);

static const struct wire_field limit_rows[] = {
	WIRE_ROW_TEXT(event_limit, name),
	WIRE_ROW_U64(event_limit, value),
};
static const struct wire_layout limit = WIRE_LAYOUT(event_limit, limit_rows);

static const struct wire_field build_rows[] = {
	WIRE_ROW_TEXT(event_build, program),
	WIRE_ROW_FIXED(event_build, sha256),
};
static const struct wire_layout build = WIRE_LAYOUT(event_build, build_rows);

static const struct wire_field hello_rows[] = {
	WIRE_ROW_U32(event_hello, version),
	WIRE_ROW_FIXED(event_hello, instance),
	WIRE_ROW_LIST(event_hello, builds, &build),
	WIRE_ROW_U32(event_hello, tick_s),
	WIRE_ROW_U32(event_hello, durability),
};
static const struct wire_layout hello = WIRE_LAYOUT(event_hello, hello_rows);

/* Members that an intent and a denial share. */
#define POLICY_ROWS(s)                                                   \
	WIRE_ROW_TEXT(s, policy.name), WIRE_ROW_FIXED(s, policy.sha256), \
	    WIRE_ROW_FIXED(s, policy.file)
#define PRINCIPAL_ROWS(s)                                                 \
	WIRE_ROW_TEXT(s, principal.auth), WIRE_ROW_U32(s, principal.uid), \
	    WIRE_ROW_U32(s, principal.gid)
#define CLAIMS_ROWS(s)                                                     \
	WIRE_ROW_TEXT(s, claims.client), WIRE_ROW_TEXT(s, claims.version), \
	    WIRE_ROW_TEXT(s, claims.request),                              \
	    WIRE_ROW_TEXT(s, claims.traceparent),                          \
	    WIRE_ROW_TEXT(s, claims.label)

static const struct wire_field intent_rows[] = {
	WIRE_ROW_U64(event_intent, ticket),
	WIRE_ROW_FIXED(event_intent, run),
	WIRE_ROW_LIST(event_intent, rules, &word),
	WIRE_ROW_TEXT(event_intent, lang),
	WIRE_ROW_FIXED(event_intent, code_sha256),
	WIRE_ROW_U64(event_intent, code_size),
	WIRE_ROW_FIXED(event_intent, stdin_sha256),
	WIRE_ROW_U64(event_intent, stdin_size),
	WIRE_ROW_FIXED(event_intent, args_sha256),
	WIRE_ROW_U64(event_intent, args_count),
	WIRE_ROW_FIXED(event_intent, env_sha256),
	WIRE_ROW_U64(event_intent, env_count),
	WIRE_ROW_FIXED(event_intent, inputs_sha256),
	WIRE_ROW_U64(event_intent, inputs_count),
	WIRE_ROW_LIST(event_intent, limits, &limit),
	POLICY_ROWS(event_intent),
	PRINCIPAL_ROWS(event_intent),
	CLAIMS_ROWS(event_intent),
	WIRE_ROW_FIXED(event_intent, sandbox_build),
	WIRE_ROW_FIXED(event_intent, sandbox_view),
	WIRE_ROW_U32(event_intent, omits),
};
static const struct wire_layout intent = WIRE_LAYOUT(event_intent, intent_rows);

static const struct wire_field denial_rows[] = {
	WIRE_ROW_U64(event_denial, ticket),
	WIRE_ROW_FIXED(event_denial, run),
	WIRE_ROW_U32(event_denial, has),
	WIRE_ROW_LIST(event_denial, rules, &word),
	WIRE_ROW_LIST(event_denial, reasons, &word),
	WIRE_ROW_TEXT(event_denial, lang),
	WIRE_ROW_FIXED(event_denial, code_sha256),
	WIRE_ROW_U64(event_denial, code_size),
	WIRE_ROW_LIST(event_denial, limits, &limit),
	WIRE_ROW_FIXED(event_denial, raw_sha256),
	WIRE_ROW_U64(event_denial, raw_size),
	POLICY_ROWS(event_denial),
	PRINCIPAL_ROWS(event_denial),
	CLAIMS_ROWS(event_denial),
};
static const struct wire_layout denial = WIRE_LAYOUT(event_denial, denial_rows);

static const struct wire_field phase_rows[] = {
	WIRE_ROW_U32(event_phase, phase),
	WIRE_ROW_U32(event_phase, exit_kind),
	WIRE_ROW_U32(event_phase, exit_value),
	WIRE_ROW_U64(event_phase, cpu_us),
	WIRE_ROW_U64(event_phase, wall_us),
};
static const struct wire_layout phase = WIRE_LAYOUT(event_phase, phase_rows);

static const struct wire_field step_rows[] = {
	WIRE_ROW_TEXT(event_step, name),
	WIRE_ROW_U64(event_step, us),
};
static const struct wire_layout step = WIRE_LAYOUT(event_step, step_rows);

static const struct wire_field subject_rows[] = {
	WIRE_ROW_TEXT(event_subject, name),
	WIRE_ROW_FIXED(event_subject, sha256),
};
static const struct wire_layout subject =
    WIRE_LAYOUT(event_subject, subject_rows);

/* NOLINTBEGIN(bugprone-macro-parentheses): member names take none */
#define STREAM_ROWS(m)                                     \
	WIRE_ROW_FIXED(event_outcome, m.sha256),           \
	    WIRE_ROW_U64(event_outcome, m.size),           \
	    WIRE_ROW_FIXED(event_outcome, m.total_sha256), \
	    WIRE_ROW_U64(event_outcome, m.total)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct wire_field outcome_rows[] = {
	WIRE_ROW_U64(event_outcome, ticket),
	WIRE_ROW_FIXED(event_outcome, run),
	WIRE_ROW_U64(event_outcome, intent_seq),
	WIRE_ROW_FIXED(event_outcome, intent_leaf),
	WIRE_ROW_U32(event_outcome, has),
	WIRE_ROW_U32(event_outcome, status),
	WIRE_ROW_U32(event_outcome, phase),
	WIRE_ROW_U32(event_outcome, killed_by),
	WIRE_ROW_U32(event_outcome, exit_kind),
	WIRE_ROW_U32(event_outcome, exit_value),
	WIRE_ROW_TEXT(event_outcome, step),
	WIRE_ROW_U32(event_outcome, step_errno),
	STREAM_ROWS(out),
	STREAM_ROWS(err),
	WIRE_ROW_U64(event_outcome, files_count),
	WIRE_ROW_U64(event_outcome, files_bytes),
	WIRE_ROW_FIXED(event_outcome, manifest),
	WIRE_ROW_U64(event_outcome, cpu_us),
	WIRE_ROW_U64(event_outcome, wall_us),
	WIRE_ROW_U64(event_outcome, memory_peak),
	WIRE_ROW_U64(event_outcome, pids_peak),
	WIRE_ROW_FIXED(event_outcome, posture_sha256),
	WIRE_ROW_U64(event_outcome, posture_steps),
	WIRE_ROW_TEXT(event_outcome, start),
	WIRE_ROW_LIST(event_outcome, degraded, &word),
	WIRE_ROW_LIST(event_outcome, viol, &word),
	WIRE_ROW_LIST(event_outcome, phases, &phase),
	WIRE_ROW_LIST(event_outcome, timing, &step),
	WIRE_ROW_LIST(event_outcome, subjects, &subject),
	WIRE_ROW_TEXT(event_outcome, trace_tier),
	WIRE_ROW_U32(event_outcome, trace_complete),
	WIRE_ROW_U64(event_outcome, trace_events),
	WIRE_ROW_U64(event_outcome, trace_bytes),
	WIRE_ROW_FIXED(event_outcome, trace_sha256),
	WIRE_ROW_U64(event_outcome, files_skipped),
};
static const struct wire_layout outcome =
    WIRE_LAYOUT(event_outcome, outcome_rows);

static const struct wire_field recall_rows[] = {
	WIRE_ROW_U64(event_recall, ticket),
	WIRE_ROW_FIXED(event_recall, run),
	WIRE_ROW_FIXED(event_recall, manifest),
};
static const struct wire_layout recall = WIRE_LAYOUT(event_recall, recall_rows);

static const struct wire_field gap_rows[] = {
	WIRE_ROW_U64(event_gap, ticket),
	WIRE_ROW_U32(event_gap, reason),
	WIRE_ROW_U64(event_gap, refused),
	WIRE_ROW_U64(event_gap, from_us),
	WIRE_ROW_U64(event_gap, to_us),
};
static const struct wire_layout gap = WIRE_LAYOUT(event_gap, gap_rows);

static const struct wire_field access_rows[] = {
	WIRE_ROW_U64(event_access, ticket),
	WIRE_ROW_FIXED(event_access, run),
	PRINCIPAL_ROWS(event_access),
	WIRE_ROW_TEXT(event_access, name),
};
static const struct wire_layout access_layout =
    WIRE_LAYOUT(event_access, access_rows);

static const struct wire_field run_rows[] = {
	WIRE_ROW_FIXED(event_run, run),
};
static const struct wire_layout run = WIRE_LAYOUT(event_run, run_rows);

static const struct wire_field prune_rows[] = {
	WIRE_ROW_U64(event_prune, ticket),
	WIRE_ROW_U32(event_prune, reason),
	WIRE_ROW_U64(event_prune, bytes),
	POLICY_ROWS(event_prune),
	WIRE_ROW_LIST(event_prune, runs, &run),
};
static const struct wire_layout prune = WIRE_LAYOUT(event_prune, prune_rows);

static const struct wire_field redact_rows[] = {
	WIRE_ROW_U64(event_redact, ticket),
	WIRE_ROW_U32(event_redact, results),
	PRINCIPAL_ROWS(event_redact),
	WIRE_ROW_LIST(event_redact, runs, &run),
};
static const struct wire_layout redact = WIRE_LAYOUT(event_redact, redact_rows);

static const struct wire_field rotate_rows[] = {
	WIRE_ROW_U64(event_rotate, ticket),
};
static const struct wire_layout rotate = WIRE_LAYOUT(event_rotate, rotate_rows);

static const struct wire_message events[] = {
	{ EVENT_HELLO, "hello", &hello },
	{ EVENT_INTENT, "intent", &intent },
	{ EVENT_DENIAL, "denial", &denial },
	{ EVENT_OUTCOME, "outcome", &outcome },
	{ EVENT_RECALL, "recall", &recall },
	{ EVENT_GAP, "gap", &gap },
	{ EVENT_ACCESS, "access", &access_layout },
	{ EVENT_PRUNE, "prune", &prune },
	{ EVENT_REDACT, "redact", &redact },
	{ EVENT_ROTATE, "rotate", &rotate },
};

const struct wire_protocol event_protocol = { "event",
	sizeof(events) / sizeof(events[0]), events };

static const struct wire_field welcome_rows[] = {
	WIRE_ROW_U32(event_welcome, version),
	WIRE_ROW_FIXED(event_welcome, log),
	WIRE_ROW_U64(event_welcome, size),
	WIRE_ROW_U32(event_welcome, sealed),
};
static const struct wire_layout welcome =
    WIRE_LAYOUT(event_welcome, welcome_rows);

static const struct wire_field stored_rows[] = {
	WIRE_ROW_U64(event_stored, ticket),
	WIRE_ROW_U64(event_stored, seq),
	WIRE_ROW_FIXED(event_stored, leaf),
	WIRE_ROW_BLOB(event_stored, line),
	WIRE_ROW_FIXED(event_stored, record_key),
	WIRE_ROW_BLOB(event_stored, proof),
};
static const struct wire_layout stored = WIRE_LAYOUT(event_stored, stored_rows);

static const struct wire_field refused_rows[] = {
	WIRE_ROW_U64(event_refused, ticket),
	WIRE_ROW_U32(event_refused, kind),
	WIRE_ROW_TEXT(event_refused, text),
};
static const struct wire_layout refused =
    WIRE_LAYOUT(event_refused, refused_rows);

static const struct wire_message replies[] = {
	{ EVENT_WELCOME, "welcome", &welcome },
	{ EVENT_STORED, "stored", &stored },
	{ EVENT_REFUSED, "refused", &refused },
};

const struct wire_protocol event_reply_protocol = { "event reply",
	sizeof(replies) / sizeof(replies[0]), replies };
