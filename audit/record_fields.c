/*
 * audit/record_fields.c - the members of a predicate as one table, sorted as
 * they stand in the record; and the members that belong to no request.
 * Linked by the signer.
 */
#include <string.h>

#include "audit/record_parts.h"
#include "base/sha256.h"

#define ALGORITHMS "ed25519+sha256+rfc6962"

static const char *const type_names[RECORD_TYPES] = {
	[RECORD_LOG_OPEN] = "log.open",
	[RECORD_EPOCH_OPEN] = "epoch.open",
	[RECORD_EPOCH_CLOSE] = "epoch.close",
	[RECORD_LOG_CLOSE] = "log.close",
	[RECORD_INTENT] = "intent",
	[RECORD_DENIAL] = "denial",
	[RECORD_OUTCOME] = "outcome",
	[RECORD_ABORTED] = "outcome",
	[RECORD_RECOVER] = "recover",
	[RECORD_GAP] = "gap",
	[RECORD_TICK] = "tick",
	[RECORD_CLOCK] = "clock",
	[RECORD_CONFIG] = "config",
	[RECORD_ACCESS] = "access",
	[RECORD_PRUNE] = "results.prune",
	[RECORD_REDACT] = "redact",
};

static void put_alg(struct json *j, const struct record *r)
{
	(void)r;
	json_string(j, ALGORITHMS);
}

static void put_boot(struct json *j, const struct record *r)
{
	json_hex(j, r->frame->boot, sizeof(r->frame->boot));
}

static void put_builds(struct json *j, const struct record *r)
{
	const struct event_hello *hello =
	    r->type == RECORD_CONFIG ? r->config->hello : r->opening->hello;
	const struct event_build *sorted[16];
	size_t n = 0;

	for (uint64_t i = 0; i < hello->builds.n; i++) {
		const struct event_build *b = &hello->builds.items[i];
		size_t at = n++;

		for (;
		     at > 0 && strcmp(sorted[at - 1]->program, b->program) > 0;
		     at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = b;
	}
	json_object(j);
	for (size_t i = 0; i < n; i++) {
		json_key(j, sorted[i]->program);
		json_hex(j, sorted[i]->sha256, SHA256_BYTES);
	}
	json_end(j);
}

static void put_bytes(struct json *j, const struct record *r)
{
	json_number(
	    j, r->type == RECORD_PRUNE ? r->prune->bytes : r->recover->bytes);
}

static void put_durability(struct json *j, const struct record *r)
{
	json_string(j, promise_word(r->promise));
}

static void put_epoch(struct json *j, const struct record *r)
{
	json_number(j, r->frame->epoch);
}

static void put_log(struct json *j, const struct record *r)
{
	json_hex(j, r->frame->log, sizeof(r->frame->log));
}

static void put_keys(struct json *j, const struct record *r)
{
	json_string(j, r->opening->keys);
}

static void put_logkey(struct json *j, const struct record *r)
{
	json_hex(j, r->frame->log_key, sizeof(r->frame->log_key));
}

static void put_mono(struct json *j, const struct record *r)
{
	json_number(j, r->frame->mono_ns);
}

static void put_next(struct json *j, const struct record *r)
{
	json_hex(j, r->opening->next, sizeof(r->opening->next));
}

static void put_origin(struct json *j, const struct record *r)
{
	json_string(j, r->opening->origin);
}

static void put_pop(struct json *j, const struct record *r)
{
	json_base64(j, r->opening->proof, sizeof(r->opening->proof));
}

static void put_prev(struct json *j, const struct record *r)
{
	json_hex(j, r->frame->prev, sizeof(r->frame->prev));
}

static void put_profile(struct json *j, const struct record *r)
{
	(void)r;
	json_string(j, "c1");
}

static void put_reason(struct json *j, const struct record *r)
{
	if (r->type != RECORD_EPOCH_CLOSE)
		record_put_note_reason(j, r);
	else
		json_string(j, r->closing->reason);
}

static void put_reckey(struct json *j, const struct record *r)
{
	json_hex(j, r->opening->record_key, sizeof(r->opening->record_key));
}

static void put_records(struct json *j, const struct record *r)
{
	json_number(j, r->closing->records);
}

static void put_req(struct json *j, const struct record *r)
{
	const uint8_t *run = r->type == RECORD_INTENT    ? r->intent->run
	                     : r->type == RECORD_DENIAL  ? r->denial->run
	                     : r->type == RECORD_OUTCOME ? r->outcome->run
	                     : r->type == RECORD_ACCESS  ? r->access->run
	                                                 : r->aborted->run;

	json_prefixed(j, "r_", (struct json_bytes){ run, EVENT_RUN_BYTES });
}

static void put_seq(struct json *j, const struct record *r)
{
	json_number(j, r->frame->seq);
}

static void put_sha256(struct json *j, const struct record *r)
{
	json_hex(j, r->recover->sha256, sizeof(r->recover->sha256));
}

static void put_time(struct json *j, const struct record *r)
{
	char text[RECORD_TIME_MAX];

	record_time(r->frame->time_us, text);
	json_string(j, text);
}

static void put_type(struct json *j, const struct record *r)
{
	json_string(j, type_names[r->type]);
}

static void put_v(struct json *j, const struct record *r)
{
	(void)r;
	json_number(j, 1);
}

enum {
	LO = 1u << RECORD_LOG_OPEN,
	EO = 1u << RECORD_EPOCH_OPEN,
	EC = 1u << RECORD_EPOCH_CLOSE,
	LC = 1u << RECORD_LOG_CLOSE,
	IN = 1u << RECORD_INTENT,
	DE = 1u << RECORD_DENIAL,
	OU = 1u << RECORD_OUTCOME,
	AB = 1u << RECORD_ABORTED,
	RE = 1u << RECORD_RECOVER,
	GA = 1u << RECORD_GAP,
	CL = 1u << RECORD_CLOCK,
	CO = 1u << RECORD_CONFIG,
	AC = 1u << RECORD_ACCESS,
	PR = 1u << RECORD_PRUNE,
	RD = 1u << RECORD_REDACT,
	ANY = (1u << RECORD_TYPES) - 1u,
};

/* What a config record has as far as it changed. */
static bool has_builds(const struct record *r)
{
	return r->type != RECORD_CONFIG || r->config->hello != NULL;
}

static bool has_policy(const struct record *r)
{
	return r->type != RECORD_CONFIG || r->config->policy != NULL;
}

static bool has_name(const struct record *r)
{
	return r->access->name[0] != '\0';
}

/* What a denial or an outcome has only sometimes. */
static bool has_keys(const struct record *r)
{
	return r->opening->keys != NULL;
}

static bool has_durability(const struct record *r)
{
	return r->promise != PROMISE_FULL;
}

static bool has_claims(const struct record *r)
{
	const struct event_claims *c =
	    r->type == RECORD_INTENT ? &r->intent->claims : &r->denial->claims;

	return c->client[0] != '\0' || c->version[0] != '\0' ||
	       c->request[0] != '\0' || c->traceparent[0] != '\0' ||
	       c->label[0] != '\0';
}

static bool has_code(const struct record *r)
{
	return r->type != RECORD_DENIAL || r->denial->has & DENIAL_HAS_CODE;
}

static bool has_limits(const struct record *r)
{
	return r->type != RECORD_DENIAL || r->denial->has & DENIAL_HAS_LIMITS;
}

static bool has_raw(const struct record *r)
{
	return r->denial->has & DENIAL_HAS_RAW;
}

static bool has_rules(const struct record *r)
{
	return r->type != RECORD_DENIAL || r->denial->rules.n > 0;
}

static bool has_exit(const struct record *r)
{
	return r->outcome->exit_kind != EXIT_ABSENT;
}

static bool has_failed(const struct record *r)
{
	return r->outcome->step[0] != '\0';
}

static bool has_output(const struct record *r)
{
	return r->outcome->has & OUTCOME_HAS_OUTPUT;
}

static bool has_use(const struct record *r)
{
	return r->outcome->has & OUTCOME_HAS_USE;
}

static bool has_posture(const struct record *r)
{
	return r->outcome->has & OUTCOME_HAS_POSTURE;
}

static bool has_trace(const struct record *r)
{
	return r->outcome->has & OUTCOME_HAS_TRACE;
}

static bool has_phases(const struct record *r)
{
	return r->outcome->phases.n > 0;
}

static bool has_start(const struct record *r)
{
	return r->outcome->start[0] != '\0';
}

static bool has_killer(const struct record *r)
{
	return (r->type == RECORD_ABORTED
	               ? r->aborted->killed_by
	               : r->outcome->killed_by) != KILLER_NONE;
}

/* clang-format off */
static const struct field {
	const char *name;
	unsigned types;
	record_put *put;
	bool (*has)(const struct record *r); /* NULL: always */
} fields[] = {
	{ "alg",       LO,           put_alg,              NULL },
	{ "args",      IN,           record_put_args,      NULL },
	{ "boot",      ANY,          put_boot,             NULL },
	{ "builds",    LO | EO | CO, put_builds,           has_builds },
	{ "bytes",     RE | PR,      put_bytes,            NULL },
	{ "claims",    IN | DE,      record_put_claims,    has_claims },
	{ "code",      IN | DE,      record_put_code,      has_code },
	{ "count",     PR,           record_put_count,     NULL },
	{ "decision",  IN | DE,      record_put_decision,  NULL },
	{ "degraded",  OU,           record_put_degraded,  NULL },
	{ "durability", IN|DE|OU,    put_durability,       has_durability },
	{ "env",       IN,           record_put_env,       NULL },
	{ "epoch",     ANY,          put_epoch,            NULL },
	{ "exit",      OU,           record_put_exit,      has_exit },
	{ "failed",    OU,           record_put_failed,    has_failed },
	{ "files",     OU,           record_put_files,     has_output },
	{ "from",      GA,           record_put_from,      NULL },
	{ "inputs",    IN,           record_put_inputs,    NULL },
	{ "intent",    OU | AB,      record_put_intent,    NULL },
	{ "keys",      LO | EO,      put_keys,             has_keys },
	{ "killed_by", OU | AB,      record_put_killer,    has_killer },
	{ "limits",    IN | DE,      record_put_limits,    has_limits },
	{ "log",       ANY,          put_log,              NULL },
	{ "logkey",    LO,           put_logkey,           NULL },
	{ "manifest",  OU,           record_put_manifest,  has_output },
	{ "mono",      ANY,          put_mono,             NULL },
	{ "name",      AC,           record_put_name,      has_name },
	{ "next",      LO | EO,      put_next,             NULL },
	{ "origin",    LO,           put_origin,           NULL },
	{ "phase",     OU,           record_put_phase,     NULL },
	{ "phases",    OU,           record_put_phases,    has_phases },
	{ "policy",    IN|DE|CO|PR,  record_put_policy,    has_policy },
	{ "pop",       EO,           put_pop,              NULL },
	{ "posture",   OU,           record_put_posture,   has_posture },
	{ "prev",      ANY,          put_prev,             NULL },
	{ "principal", IN|DE|AC|RD,  record_put_principal, NULL },
	{ "profile",   LO,           put_profile,          NULL },
	{ "raw",       DE,           record_put_raw,       has_raw },
	{ "reason",    EC | GA | PR, put_reason,           NULL },
	{ "reasons",   DE,           record_put_reasons,   NULL },
	{ "reckey",    LO | EO,      put_reckey,           NULL },
	{ "records",   EC | LC,      put_records,          NULL },
	{ "refused",   GA,           record_put_refused,   NULL },
	{ "req",       IN|DE|OU|AB|AC, put_req,            NULL },
	{ "results",   RD,           record_put_results,   NULL },
	{ "rules",     IN | DE,      record_put_rules,     has_rules },
	{ "runs",      PR | RD,      record_put_runs,      NULL },
	{ "sandbox",   IN,           record_put_sandbox,   NULL },
	{ "seq",       ANY,          put_seq,              NULL },
	{ "sha256",    RE,           put_sha256,           NULL },
	{ "start",     OU,           record_put_start,     has_start },
	{ "status",    OU | AB,      record_put_status,    NULL },
	{ "stderr",    OU,           record_put_stderr,    has_output },
	{ "stdin",     IN,           record_put_stdin,     NULL },
	{ "stdout",    OU,           record_put_stdout,    has_output },
	{ "step",      CL,           record_put_step,      NULL },
	{ "time",      ANY,          put_time,             NULL },
	{ "timing",    OU,           record_put_timing,    NULL },
	{ "to",        GA,           record_put_to,        NULL },
	{ "trace",     OU,           record_put_trace,     has_trace },
	{ "type",      ANY,          put_type,             NULL },
	{ "use",       OU,           record_put_use,       has_use },
	{ "v",         ANY,          put_v,                NULL },
	{ "viol",      OU,           record_put_viol,      NULL },
	{ "was",       CO,           record_put_was,       has_policy },
	{ "what",      AC,           record_put_what,      NULL },
};
/* clang-format on */

void record_put_predicate(struct json *j, const struct record *r)
{
	json_object(j);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];

		if (!(f->types & 1u << r->type) ||
		    (f->has != NULL && !f->has(r)))
			continue;
		json_key(j, f->name);
		f->put(j, r);
	}
	json_end(j);
}
