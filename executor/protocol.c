/*
 * executor/protocol.c - the rows of executor/protocol.h.  Linked by the fronts
 * and the supervisor.
 */
#include "executor/protocol.h"

static const struct wire_field hello_rows[] = {
	WIRE_ROW_U32(protocol_hello, version),
	WIRE_ROW_U32(protocol_hello, any_policy),
	WIRE_ROW_FIXED(protocol_hello, policy_file),
};
static const struct wire_layout hello = WIRE_LAYOUT(protocol_hello, hello_rows);

static const struct wire_field limit_rows[] = {
	WIRE_ROW_TEXT(protocol_limit, name),
	WIRE_ROW_U64(protocol_limit, value),
};
static const struct wire_layout limit = WIRE_LAYOUT(protocol_limit, limit_rows);

static const struct wire_field input_rows[] = {
	WIRE_ROW_TEXT(protocol_input, host),
	WIRE_ROW_TEXT(protocol_input, name),
	WIRE_ROW_U32(protocol_input, kind),
};
static const struct wire_layout input = WIRE_LAYOUT(protocol_input, input_rows);

static const struct wire_field library_rows[] = {
	WIRE_ROW_TEXT(protocol_library, text),
};
static const struct wire_layout library =
    WIRE_LAYOUT(protocol_library, library_rows);

static const struct wire_field run_rows[] = {
	WIRE_ROW_U64(protocol_run, request),
	WIRE_ROW_TEXT(protocol_run, language),
	WIRE_ROW_LIST(protocol_run, limits, &limit),
	WIRE_ROW_BLOB(protocol_run, args),
	WIRE_ROW_LIST(protocol_run, inputs, &input),
	WIRE_ROW_TEXT(protocol_run, client),
	WIRE_ROW_TEXT(protocol_run, client_version),
	WIRE_ROW_TEXT(protocol_run, client_request),
	WIRE_ROW_TEXT(protocol_run, traceparent),
	WIRE_ROW_TEXT(protocol_run, label),
	WIRE_ROW_LIST(protocol_run, libraries, &library),
};
static const struct wire_layout run = WIRE_LAYOUT(protocol_run, run_rows);

static const struct wire_field cancel_rows[] = {
	WIRE_ROW_U64(protocol_cancel, request),
};
static const struct wire_layout cancel =
    WIRE_LAYOUT(protocol_cancel, cancel_rows);

static const struct wire_field open_rows[] = {
	WIRE_ROW_U64(protocol_open, request),
	WIRE_ROW_TEXT(protocol_open, run_id),
	WIRE_ROW_TEXT(protocol_open, name),
	WIRE_ROW_U32(protocol_open, purpose),
};
static const struct wire_layout open_one =
    WIRE_LAYOUT(protocol_open, open_rows);

static const struct wire_field run_id_rows[] = {
	WIRE_ROW_TEXT(protocol_run_id, text),
};
static const struct wire_layout run_id =
    WIRE_LAYOUT(protocol_run_id, run_id_rows);

static const struct wire_field redact_rows[] = {
	WIRE_ROW_U64(protocol_redact, request),
	WIRE_ROW_U32(protocol_redact, results),
	WIRE_ROW_LIST(protocol_redact, runs, &run_id),
};
static const struct wire_layout redact =
    WIRE_LAYOUT(protocol_redact, redact_rows);

static const struct wire_field stop_rows[] = {
	WIRE_ROW_U64(protocol_stop, request),
};
static const struct wire_layout stop = WIRE_LAYOUT(protocol_stop, stop_rows);

static const struct wire_field describe_rows[] = {
	WIRE_ROW_U64(protocol_describe, request),
};
static const struct wire_layout describe =
    WIRE_LAYOUT(protocol_describe, describe_rows);

static const struct wire_field refuse_rows[] = {
	WIRE_ROW_U64(protocol_refuse, request),
	WIRE_ROW_FIXED(protocol_refuse, raw_sha256),
	WIRE_ROW_U64(protocol_refuse, raw_size),
	WIRE_ROW_TEXT(protocol_refuse, client),
	WIRE_ROW_TEXT(protocol_refuse, client_version),
	WIRE_ROW_TEXT(protocol_refuse, client_request),
	WIRE_ROW_TEXT(protocol_refuse, traceparent),
	WIRE_ROW_U64(protocol_refuse, unsaid),
};
static const struct wire_layout refuse =
    WIRE_LAYOUT(protocol_refuse, refuse_rows);

static const struct wire_message requests[] = {
	{ PROTOCOL_HELLO, "hello", &hello },
	{ PROTOCOL_RUN, "run", &run },
	{ PROTOCOL_CANCEL, "cancel", &cancel },
	{ PROTOCOL_LIST, "list", &open_one },
	{ PROTOCOL_OPEN, "open", &open_one },
	{ PROTOCOL_STOP, "stop", &stop },
	{ PROTOCOL_DESCRIBE, "describe", &describe },
	{ PROTOCOL_REFUSE, "refuse", &refuse },
	{ PROTOCOL_REDACT, "redact", &redact },
};

const struct wire_protocol protocol = { "request",
	sizeof(requests) / sizeof(requests[0]), requests };

static const struct wire_field welcome_rows[] = {
	WIRE_ROW_U32(protocol_welcome, version),
	WIRE_ROW_TEXT(protocol_welcome, instance),
	WIRE_ROW_TEXT(protocol_welcome, policy_name),
};
static const struct wire_layout welcome =
    WIRE_LAYOUT(protocol_welcome, welcome_rows);

static const struct wire_field failed_rows[] = {
	WIRE_ROW_U64(protocol_failed, request),
	WIRE_ROW_U32(protocol_failed, kind),
	WIRE_ROW_TEXT(protocol_failed, text),
};
static const struct wire_layout failed =
    WIRE_LAYOUT(protocol_failed, failed_rows);

static const struct wire_field word_rows[] = {
	WIRE_ROW_TEXT(protocol_word, text),
};
static const struct wire_layout word = WIRE_LAYOUT(protocol_word, word_rows);

static const struct wire_field decided_rows[] = {
	WIRE_ROW_U64(protocol_decided, request),
	WIRE_ROW_TEXT(protocol_decided, run_id),
	WIRE_ROW_U32(protocol_decided, allow),
	WIRE_ROW_LIST(protocol_decided, rules, &word),
	WIRE_ROW_LIST(protocol_decided, reasons, &word),
	WIRE_ROW_U64(protocol_decided, seq),
	WIRE_ROW_FIXED(protocol_decided, leaf),
	WIRE_ROW_TEXT(protocol_decided, log_path),
};
static const struct wire_layout decided =
    WIRE_LAYOUT(protocol_decided, decided_rows);

static const struct wire_field output_rows[] = {
	WIRE_ROW_U64(protocol_output, request),
	WIRE_ROW_U32(protocol_output, stream),
	WIRE_ROW_BLOB(protocol_output, data),
};
static const struct wire_layout output =
    WIRE_LAYOUT(protocol_output, output_rows);

static const struct wire_field step_rows[] = {
	WIRE_ROW_TEXT(protocol_step, name),
	WIRE_ROW_U64(protocol_step, us),
};
static const struct wire_layout step = WIRE_LAYOUT(protocol_step, step_rows);

/* NOLINTBEGIN(bugprone-macro-parentheses): member names take none */
#define STREAM_ROWS(m)                                \
	WIRE_ROW_U64(protocol_finished, m.size),      \
	    WIRE_ROW_U64(protocol_finished, m.total), \
	    WIRE_ROW_FIXED(protocol_finished, m.sha256)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct wire_field finished_rows[] = {
	WIRE_ROW_U64(protocol_finished, request),
	WIRE_ROW_TEXT(protocol_finished, run_id),
	WIRE_ROW_TEXT(protocol_finished, status),
	WIRE_ROW_TEXT(protocol_finished, phase),
	WIRE_ROW_TEXT(protocol_finished, killed_by),
	WIRE_ROW_U32(protocol_finished, exit_kind),
	WIRE_ROW_U32(protocol_finished, exit_value),
	WIRE_ROW_TEXT(protocol_finished, step),
	WIRE_ROW_U32(protocol_finished, step_errno),
	WIRE_ROW_TEXT(protocol_finished, remedy),
	STREAM_ROWS(out),
	STREAM_ROWS(err),
	WIRE_ROW_U64(protocol_finished, files_count),
	WIRE_ROW_U64(protocol_finished, files_bytes),
	WIRE_ROW_U64(protocol_finished, cpu_us),
	WIRE_ROW_U64(protocol_finished, wall_us),
	WIRE_ROW_U64(protocol_finished, memory_peak),
	WIRE_ROW_U64(protocol_finished, pids_peak),
	WIRE_ROW_LIST(protocol_finished, timing, &step),
	WIRE_ROW_LIST(protocol_finished, degraded, &word),
	WIRE_ROW_U64(protocol_finished, seq),
	WIRE_ROW_FIXED(protocol_finished, leaf),
	WIRE_ROW_TEXT(protocol_finished, folder),
	WIRE_ROW_U64(protocol_finished, files_skipped),
};
static const struct wire_layout finished =
    WIRE_LAYOUT(protocol_finished, finished_rows);

static const struct wire_field entry_rows[] = {
	WIRE_ROW_U64(protocol_entry, request),
	WIRE_ROW_TEXT(protocol_entry, name),
	WIRE_ROW_U64(protocol_entry, size),
	WIRE_ROW_FIXED(protocol_entry, sha256),
	WIRE_ROW_TEXT(protocol_entry, type),
	WIRE_ROW_U32(protocol_entry, width),
	WIRE_ROW_U32(protocol_entry, height),
	WIRE_ROW_U32(protocol_entry, is_plot),
};
static const struct wire_layout entry = WIRE_LAYOUT(protocol_entry, entry_rows);

static const struct wire_field listed_rows[] = {
	WIRE_ROW_U64(protocol_listed, request),
	WIRE_ROW_U64(protocol_listed, count),
};
static const struct wire_layout listed =
    WIRE_LAYOUT(protocol_listed, listed_rows);

static const struct wire_field opened_rows[] = {
	WIRE_ROW_U64(protocol_opened, request),
	WIRE_ROW_U64(protocol_opened, size),
};
static const struct wire_layout opened =
    WIRE_LAYOUT(protocol_opened, opened_rows);

static const struct wire_field stopped_rows[] = {
	WIRE_ROW_U64(protocol_stopped, request),
	WIRE_ROW_U64(protocol_stopped, cancelled),
};
static const struct wire_layout stopped =
    WIRE_LAYOUT(protocol_stopped, stopped_rows);

static const struct wire_field bound_rows[] = {
	WIRE_ROW_TEXT(protocol_bound, name),
	WIRE_ROW_U64(protocol_bound, value),
	WIRE_ROW_U64(protocol_bound, max),
};
static const struct wire_layout bound = WIRE_LAYOUT(protocol_bound, bound_rows);

static const struct wire_field language_rows[] = {
	WIRE_ROW_U64(protocol_language, request),
	WIRE_ROW_TEXT(protocol_language, name),
	WIRE_ROW_TEXT(protocol_language, package),
	WIRE_ROW_U32(protocol_language, missing),
	WIRE_ROW_LIST(protocol_language, aliases, &word),
	WIRE_ROW_LIST(protocol_language, capabilities, &word),
	WIRE_ROW_LIST(protocol_language, denied_modules, &word),
	WIRE_ROW_LIST(protocol_language, limits, &bound),
	WIRE_ROW_TEXT(protocol_language, version),
	WIRE_ROW_BLOB(protocol_language, installed),
	WIRE_ROW_U64(protocol_language, installed_more),
};
static const struct wire_layout language =
    WIRE_LAYOUT(protocol_language, language_rows);

static const struct wire_field described_rows[] = {
	WIRE_ROW_U64(protocol_described, request),
	WIRE_ROW_TEXT(protocol_described, name),
	WIRE_ROW_U64(protocol_described, size),
	WIRE_ROW_FIXED(protocol_described, sha256),
	WIRE_ROW_U64(protocol_described, runs),
	WIRE_ROW_U64(protocol_described, queue),
};
static const struct wire_layout described =
    WIRE_LAYOUT(protocol_described, described_rows);

static const struct wire_field redacted_rows[] = {
	WIRE_ROW_U64(protocol_redacted, request),
	WIRE_ROW_U64(protocol_redacted, seq),
};
static const struct wire_layout redacted =
    WIRE_LAYOUT(protocol_redacted, redacted_rows);

static const struct wire_message replies[] = {
	{ PROTOCOL_WELCOME, "welcome", &welcome },
	{ PROTOCOL_STALE, "stale", NULL },
	{ PROTOCOL_FAILED, "failed", &failed },
	{ PROTOCOL_DECIDED, "decided", &decided },
	{ PROTOCOL_OUTPUT, "output", &output },
	{ PROTOCOL_FINISHED, "finished", &finished },
	{ PROTOCOL_ENTRY, "entry", &entry },
	{ PROTOCOL_LISTED, "listed", &listed },
	{ PROTOCOL_OPENED, "opened", &opened },
	{ PROTOCOL_STOPPED, "stopped", &stopped },
	{ PROTOCOL_LANGUAGE, "language", &language },
	{ PROTOCOL_DESCRIBED, "described", &described },
	{ PROTOCOL_REDACTED, "redacted", &redacted },
};

const struct wire_protocol protocol_reply = { "reply",
	sizeof(replies) / sizeof(replies[0]), replies };
