/*
 * audit/event.h - what a supervisor may tell the signer, and what it hears
 * back.  Messages of base/wire over one SOCK_SEQPACKET channel.
 *
 * The supervisor describes, the signer numbers, dates, chains and signs; it
 * builds the JSON itself from these typed members, so a supervisor gone bad
 * can lie in a value but never in the form of a record.  Members say what the
 * fields of the record of that name in docs/audit-log.md say.
 *
 * Order on a channel: HELLO, then any number of INTENT, DENIAL, OUTCOME, GAP,
 * ACCESS, PRUNE, REDACT and ROTATE.  Each is answered by STORED once it is as durable
 * as HELLO asked (GAP and what follows it: durable), or by REFUSED; answers come in the order
 * of the events.  RECALL asks for the answer to an outcome of long ago; it is
 * for a supervisor's start, before its first event.  When the channel closes, the signer writes an 'aborted'
 * outcome for every intent of that channel without one.
 */
#ifndef AUDIT_EVENT_H
#define AUDIT_EVENT_H

#include <stdint.h>

#include "audit/words.h"
#include "base/wire.h"

#define EVENT_RUN_BYTES    16 /* a run id: "r_" and these in hex */
#define EVENT_WORD_MAX     80 /* a rule id, with its NUL */
#define EVENT_WORDS_MAX    64 /* rules or reasons of one decision */
#define EVENT_LIMITS_MAX   32
#define EVENT_SUBJECTS_MAX 64  /* artifacts named in an outcome */
#define EVENT_NAME_MAX     512 /* percent-encoded artifact name, with NUL */
#define EVENT_CLAIM_MAX    257 /* percent-encoded, 256 bytes and a NUL */
#define EVENT_STEPS_MAX    16
#define EVENT_PHASES_MAX   3
#define EVENT_BATCH_MAX    64 /* runs named by one PRUNE or REDACT */
#define EVENT_TICK_MAX_S   86400
#define EVENT_LINE_MAX     65535      /* a record without its LF */
#define EVENT_PROOF_MAX    16384      /* a tlog-proof with its checkpoint */
#define EVENT_UNLIMITED    UINT64_MAX /* a limit that is "unlimited" */

enum event_verb {
	EVENT_HELLO = 1,
	EVENT_INTENT,
	EVENT_DENIAL,
	EVENT_OUTCOME,
	EVENT_RECALL,
	EVENT_GAP,
	EVENT_ACCESS,
	EVENT_PRUNE,
	EVENT_REDACT,
	EVENT_ROTATE,
};

enum event_reply_verb {
	EVENT_WELCOME = 1,
	EVENT_STORED,
	EVENT_REFUSED,
};

struct event_word {
	char text[EVENT_WORD_MAX];
};

struct event_limit {
	char name[EVENT_WORD_MAX]; /* "wall_ms", "memory"; [a-z0-9_]+ */
	uint64_t value;
};

/* What the client says of itself: unverified.  "" means not said. */
struct event_claims {
	char client[EVENT_CLAIM_MAX];
	char version[EVENT_CLAIM_MAX];
	char request[EVENT_CLAIM_MAX];
	char traceparent[EVENT_CLAIM_MAX];
	char label[EVENT_CLAIM_MAX];
};

struct event_policy {
	char name[EVENT_WORD_MAX];
	uint8_t sha256[32]; /* of the effective policy text */
	uint8_t file[32];   /* of the policy file's bytes */
};

struct event_principal {
	char auth[EVENT_WORD_MAX]; /* "peercred" */
	uint32_t uid, gid;
};

/* The digest of each program, for log.open and epoch.open. */
struct event_build {
	char program[EVENT_WORD_MAX]; /* without "bailiff-" */
	uint8_t sha256[32];
};

struct event_hello {
	uint32_t version; /* EVENT_VERSION */
	uint8_t instance[16];
	WIRE_LIST_OF(struct event_build, 16) builds;
	/* A record at least every so many seconds while this channel is open and
	 * something was recorded before; 0: silence is not recorded. */
	uint32_t tick_s;
	uint32_t durability; /* enum promise, of each record of this channel */
};

#define EVENT_VERSION 4

/* What an intent does not even commit to; counts and sizes stay. */
#define INTENT_OMITS_ARGS  1u
#define INTENT_OMITS_ENV   2u
#define INTENT_OMITS_STDIN 4u

struct event_intent {
	uint64_t ticket; /* chosen by the sender, returned in the answer */
	uint8_t run[EVENT_RUN_BYTES];
	WIRE_LIST_OF(struct event_word, EVENT_WORDS_MAX) rules;
	char lang[EVENT_WORD_MAX];
	uint8_t code_sha256[32];
	uint64_t code_size;
	uint8_t stdin_sha256[32]; /* committed to, not recorded */
	uint64_t stdin_size;
	uint8_t args_sha256[32]; /* of each argument and a NUL; committed to */
	uint64_t args_count;
	uint8_t env_sha256[32]; /* of each NAME=VALUE and a NUL, sorted */
	uint64_t env_count;
	uint8_t inputs_sha256[32]; /* of the list in sha256sum format */
	uint64_t inputs_count;
	WIRE_LIST_OF(struct event_limit, EVENT_LIMITS_MAX) limits;
	struct event_policy policy;
	struct event_principal principal;
	struct event_claims claims;
	uint8_t sandbox_build[32]; /* of the launch program */
	uint8_t sandbox_view[32];  /* of the compiled file view */
	uint32_t omits;            /* INTENT_OMITS_* */
};

/* Which optional members of a denial are known. */
#define DENIAL_HAS_CODE   1u /* lang and code_* */
#define DENIAL_HAS_LIMITS 2u
#define DENIAL_HAS_RAW    4u /* raw_*: the request could not be decoded */

struct event_denial {
	uint64_t ticket;
	uint8_t run[EVENT_RUN_BYTES];
	uint32_t has; /* DENIAL_HAS_* */
	WIRE_LIST_OF(struct event_word, EVENT_WORDS_MAX) rules;
	/* 1 or more */
	WIRE_LIST_OF(struct event_word, EVENT_WORDS_MAX) reasons;
	char lang[EVENT_WORD_MAX];
	uint8_t code_sha256[32];
	uint64_t code_size;
	WIRE_LIST_OF(struct event_limit, EVENT_LIMITS_MAX) limits;
	uint8_t raw_sha256[32];
	uint64_t raw_size;
	struct event_policy policy;
	struct event_principal principal;
	struct event_claims claims;
};

struct event_stream {
	uint8_t sha256[32]; /* of the stored head */
	uint64_t size;
	uint8_t total_sha256[32]; /* of all that the program produced */
	uint64_t total;
};

struct event_subject {
	char name[EVENT_NAME_MAX]; /* "files/" and the percent-encoded name */
	uint8_t sha256[32];
};

struct event_step {
	char name[EVENT_WORD_MAX]; /* [a-z_]+ */
	uint64_t us;
};

enum event_exit {
	EXIT_ABSENT,
	EXIT_CODE,
	EXIT_SIGNAL
};

struct event_phase {
	uint32_t phase; /* enum phase */
	uint32_t exit_kind;
	uint32_t exit_value;
	uint64_t cpu_us;
	uint64_t wall_us;
};

/* Which optional members of an outcome were reached. */
#define OUTCOME_HAS_OUTPUT  1u /* stdout_, stderr_, files_*, manifest */
#define OUTCOME_HAS_USE     2u
#define OUTCOME_HAS_POSTURE 4u
#define OUTCOME_HAS_TRACE   8u

struct event_outcome {
	uint64_t ticket;
	uint8_t run[EVENT_RUN_BYTES];
	uint64_t intent_seq;
	uint8_t intent_leaf[32];
	uint32_t has;       /* OUTCOME_HAS_* */
	uint32_t status;    /* enum status */
	uint32_t phase;     /* enum phase */
	uint32_t killed_by; /* enum killer */
	uint32_t exit_kind; /* enum event_exit */
	uint32_t exit_value;
	char step[EVENT_WORD_MAX]; /* of a failed setup: which; "" else */
	uint32_t step_errno;
	struct event_stream out, err;
	uint64_t files_count, files_bytes;
	uint8_t manifest[32];
	uint64_t cpu_us, wall_us;
	uint64_t memory_peak, pids_peak; /* 0: nobody counted */
	uint8_t posture_sha256[32];
	uint64_t posture_steps;
	char start[EVENT_WORD_MAX]; /* "cold" or "warm" */
	WIRE_LIST_OF(struct event_word, EVENT_WORDS_MAX) degraded;
	WIRE_LIST_OF(struct event_word, EVENT_WORDS_MAX) viol;
	WIRE_LIST_OF(struct event_phase, EVENT_PHASES_MAX) phases;
	WIRE_LIST_OF(struct event_step, EVENT_STEPS_MAX) timing;
	WIRE_LIST_OF(struct event_subject, EVENT_SUBJECTS_MAX) subjects;
	char trace_tier[EVENT_WORD_MAX];
	uint32_t trace_complete;
	uint64_t trace_events, trace_bytes;
	uint8_t trace_sha256[32];
	uint64_t files_skipped; /* what lay there and was not kept */
};

/*
 * The outcome of a run whose folder was found unpublished: STORED, with a
 * receipt of today, if the log has it with this manifest; else REFUSED.
 */
struct event_recall {
	uint64_t ticket;
	uint8_t run[EVENT_RUN_BYTES];
	uint8_t manifest[32];
};

/* Requests that were turned away without a decision or a record. */
struct event_gap {
	uint64_t ticket;
	uint32_t reason; /* enum gap_reason */
	uint64_t refused;
	uint64_t from_us, to_us; /* since 1970: of the first and the last */
};

/* Somebody reads results through the service; recorded before they get any. */
struct event_access {
	uint64_t ticket;
	uint8_t run[EVENT_RUN_BYTES];
	struct event_principal principal;
	char name[EVENT_NAME_MAX]; /* percent-encoded; "": the list of names */
};

struct event_run {
	uint8_t run[EVENT_RUN_BYTES];
};

/* Result folders that go next, for a reason of the policy. */
struct event_prune {
	uint64_t ticket;
	uint32_t reason; /* enum prune_reason */
	uint64_t bytes;  /* of all that they hold */
	struct event_policy policy;
	WIRE_LIST_OF(struct event_run, EVENT_BATCH_MAX) runs; /* 1 or more */
};

/*
 * Erase the salts of these runs' commitments: done when STORED comes.  REFUSED,
 * and nothing is erased, if one of them is unknown or still open.
 */
struct event_redact {
	uint64_t ticket;
	uint32_t results; /* 1: their result folders go too, next */
	struct event_principal principal;                     /* who asked */
	WIRE_LIST_OF(struct event_run, EVENT_BATCH_MAX) runs; /* 1 or more */
};

/*
 * End the epoch now; the next record opens another.  Where none is open the
 * next one opens and ends at once, so that the key that lies on the disk is
 * never used for anything else.  STORED is about its epoch.close.
 */
struct event_rotate {
	uint64_t ticket;
};

struct event_welcome {
	uint32_t version;
	uint8_t log[16]; /* the log id */
	uint64_t size;   /* records so far */
	uint32_t sealed; /* 1: the keys are, on disk; 0: plain files */
};

struct event_stored {
	uint64_t ticket;
	uint64_t seq;
	uint8_t leaf[32];
	/* Of an outcome only: what the result folder's receipt is made of. */
	WIRE_BLOB_OF(EVENT_LINE_MAX) line; /* the record, without LF */
	uint8_t record_key[32];            /* public key that signed it */
	/* record.tlog-proof, whole; empty where the record is not on stable
	 * storage yet: no head is signed over what can vanish. */
	WIRE_BLOB_OF(EVENT_PROOF_MAX) proof;
};

struct event_refused {
	uint64_t ticket; /* 0: the channel itself is refused */
	uint32_t kind;   /* enum error_kind */
	char text[ERROR_TEXT_MAX];
};

extern const struct wire_protocol event_protocol;       /* to the signer */
extern const struct wire_protocol event_reply_protocol; /* from it */

#endif
