/*
 * audit/words.c - word lists.  Linked by signer, supervisor and audit reader.
 */
#include "audit/words.h"

static const char *const statuses[STATUS_N] = {
	[STATUS_OK] = "ok",
	[STATUS_ERROR] = "error",
	[STATUS_TIMEOUT] = "timeout",
	[STATUS_MEMORY] = "memory",
	[STATUS_KILLED] = "killed",
	[STATUS_DENIED] = "denied",
	[STATUS_CANCELLED] = "cancelled",
	[STATUS_ABORTED] = "aborted",
};

static const char *const phases[PHASE_N] = {
	[PHASE_SETUP] = "setup",
	[PHASE_COMPILE] = "compile",
	[PHASE_RUN] = "run",
	[PHASE_COLLECT] = "collect",
	[PHASE_INSTALL] = "install",
};

static const char *const killers[KILLER_N] = {
	[KILLER_WALL] = "wall",
	[KILLER_CPU] = "cpu",
	[KILLER_MEMORY] = "memory",
	[KILLER_PIDS] = "pids",
	[KILLER_OUTPUT] = "output",
	[KILLER_DISK] = "disk",
	[KILLER_SYSCALL] = "syscall",
	[KILLER_CLIENT] = "client",
	[KILLER_TRACER] = "tracer",
	[KILLER_SUPERVISOR] = "supervisor",
};

static const char *const gaps[GAP_N] = {
	[GAP_SPACE] = "space",
	[GAP_BUSY] = "busy",
	[GAP_FLOOD] = "flood",
};

static const char *const prunes[PRUNE_N] = {
	[PRUNE_AGE] = "keep_days",
	[PRUNE_BYTES] = "max_bytes",
};

static const char *const promises[PROMISE_N] = {
	[PROMISE_FULL] = "full",
	[PROMISE_RELAXED] = "relaxed",
	[PROMISE_NONE] = "none",
};

const char *const record_types[] = {
	"log.open",
	"epoch.open",
	"epoch.close",
	"log.close",
	"intent",
	"denial",
	"outcome",
	"recover",
	"gap",
	"tick",
	"clock",
	"config",
	"access",
	"anchor",
	"segment",
	"redact",
	"prune",
	"results.prune",
	"compromise",
	NULL,
};

const char *status_word(size_t status)
{
	return status < STATUS_N ? statuses[status] : NULL;
}

const char *phase_word(size_t phase)
{
	return phase < PHASE_N ? phases[phase] : NULL;
}

const char *killer_word(size_t killer)
{
	return killer < KILLER_N ? killers[killer] : NULL;
}

const char *gap_word(size_t reason)
{
	return reason < GAP_N ? gaps[reason] : NULL;
}

const char *prune_word(size_t reason)
{
	return reason < PRUNE_N ? prunes[reason] : NULL;
}

const char *promise_word(size_t promise)
{
	return promise < PROMISE_N ? promises[promise] : NULL;
}
