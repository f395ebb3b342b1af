/*
 * audit/words.h - the closed word lists of a run, used in records, replies and
 * JSON alike.  Closed for record version 1: a new word is a new version.
 */
#ifndef AUDIT_WORDS_H
#define AUDIT_WORDS_H

#include <stddef.h>

enum status {
	STATUS_OK,    /* ended by itself with exit code 0 */
	STATUS_ERROR, /* ended by itself otherwise, or a step of ours failed */
	STATUS_TIMEOUT,   /* killed at its wall or cpu limit */
	STATUS_MEMORY,    /* the kernel's oom counter of its cgroup rose */
	STATUS_KILLED,    /* killed at another limit or by its filter */
	STATUS_DENIED,    /* replies and result.json only, never an outcome */
	STATUS_CANCELLED, /* the client asked, or left */
	STATUS_ABORTED,   /* written by the signer for what a crash left open */
	STATUS_N,
};

enum phase {
	PHASE_SETUP,
	PHASE_COMPILE,
	PHASE_RUN,
	PHASE_COLLECT,
	PHASE_INSTALL, /* libraries */
	PHASE_N
};

enum killer {
	KILLER_NONE, /* nothing killed the run; the field is absent */
	KILLER_WALL,
	KILLER_CPU,
	KILLER_MEMORY,
	KILLER_PIDS,
	KILLER_OUTPUT,
	KILLER_DISK,
	KILLER_SYSCALL,
	KILLER_CLIENT,
	KILLER_TRACER,
	KILLER_SUPERVISOR,
	KILLER_N,
};

/* Why requests were turned away without a record. */
enum gap_reason {
	GAP_SPACE, /* the log had no room for them */
	GAP_BUSY,  /* the service took no requests: stopping, broken, behind */
	GAP_FLOOD, /* a front sent more malformed ones than are recorded */
	GAP_N,
};

/* Why result folders were removed. */
enum prune_reason {
	PRUNE_AGE,   /* older than the policy keeps them */
	PRUNE_BYTES, /* together more than the policy keeps */
	PRUNE_N,
};

/*
 * What an acknowledgement of a record promises: it is on stable storage; it
 * will be within STORE_SYNC_MS; nothing before the epoch ends.  The greater,
 * the weaker.
 */
enum promise {
	PROMISE_FULL,
	PROMISE_RELAXED,
	PROMISE_NONE,
	PROMISE_N,
};

/* The word, or NULL for a number outside the list (and for KILLER_NONE). */
const char *status_word(size_t status);
const char *phase_word(size_t phase);
const char *killer_word(size_t killer);
const char *gap_word(size_t reason);
const char *prune_word(size_t reason);
const char *promise_word(size_t promise);

/* The record types of version 1, in no order; the list ends with NULL. */
extern const char *const record_types[];

#endif
