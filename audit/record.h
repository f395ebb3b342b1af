/*
 * audit/record.h - from a typed event to the bytes of one signed line of the
 * log.  Pure: clock, boot id, salt and key come in, nothing is kept.
 *
 * A line is {"sig":"<88 base64>","stmt":<in-toto Statement>}, profile c1
 * (audit/json.h): the statement stands at RECORD_STMT_AT, fixed, and ends one
 * byte before the end of the line.  Members of each type: docs/audit-log.md.
 */
#ifndef AUDIT_RECORD_H
#define AUDIT_RECORD_H

#include "audit/record_notes.h"
#include "base/error.h"

#define RECORD_SIG_AT   8
#define RECORD_SIG_LEN  88
#define RECORD_STMT_AT  105
#define RECORD_SALT     32
#define RECORD_SECRET   64 /* libsodium's secret key: seed and public key */
#define RECORD_TIME_MAX 28 /* "2026-11-30T18:00:00.000000Z" and a NUL */

enum record_type {
	RECORD_LOG_OPEN,
	RECORD_EPOCH_OPEN,
	RECORD_EPOCH_CLOSE,
	RECORD_LOG_CLOSE,
	RECORD_INTENT,
	RECORD_DENIAL,
	RECORD_OUTCOME,
	RECORD_ABORTED, /* an outcome of the signer itself */
	RECORD_RECOVER,
	RECORD_GAP,
	RECORD_TICK, /* no member of its own */
	RECORD_CLOCK,
	RECORD_CONFIG,
	RECORD_ACCESS,
	RECORD_PRUNE,
	RECORD_REDACT,
	RECORD_TYPES,
};

/* What every record says of its place. */
struct record_frame {
	uint8_t log[16], boot[16];
	uint8_t log_key[32]; /* public; its digest is the subject of many */
	uint8_t prev[32]; /* leaf of the record before; zeros for the first */
	uint64_t epoch, seq;
	uint64_t mono_ns;
	uint64_t time_us; /* since 1970, UTC */
};

/* log.open and epoch.open. */
struct record_opening {
	const char *origin; /* log.open only */
	const char *keys;   /* how they lie on disk: "files", "sealed" */
	uint8_t record_key[32];
	uint8_t next[32];  /* SHA-256 of the next public record key */
	uint8_t proof[64]; /* epoch.open: the new key's signature over prev */
	const struct event_hello *hello; /* borrowed: builds */
};

struct record_closing {
	const char
	    *reason; /* epoch.close: "stop", "records", "time", "rotate" */
	uint64_t records;
};

struct record_aborted {
	uint8_t run[EVENT_RUN_BYTES];
	uint64_t intent_seq;
	uint8_t intent_leaf[32];
	uint32_t killed_by; /* KILLER_SUPERVISOR, or KILLER_NONE at a start */
};

struct record_recover {
	uint64_t bytes;
	uint8_t sha256[32];
};

/* 'body' by type; everything is borrowed for the call. */
struct record {
	enum record_type type;
	const struct record_frame *frame;
	const uint8_t *salt; /* RECORD_SALT bytes, intents only */
	uint32_t promise;    /* enum promise; PROMISE_FULL is not said */
	union {
		const struct record_opening *opening;
		const struct record_closing *closing;
		const struct event_intent *intent;
		const struct event_denial *denial;
		const struct event_outcome *outcome;
		const struct record_aborted *aborted;
		const struct record_recover *recover;
		const struct event_gap *gap;
		const struct record_clock *clock;
		const struct record_config *config;
		const struct event_access *access;
		const struct event_prune *prune;
		const struct record_redact *redact;
	};
};

struct record_line {
	size_t len; /* without LF */
	char data[EVENT_LINE_MAX];
};

/*
 * Build and sign.  ERROR_MALFORMED when a value has no place in a record (a
 * byte outside the profile, a number above 2^53-1, a word outside its list),
 * ERROR_LIMIT when the line would be too long.
 */
int record_build(const struct record *r, const uint8_t secret[RECORD_SECRET],
    struct record_line *ret, struct error *e) MUST_CHECK;

/* RFC 3339 in UTC with six decimals; and back, of a text in that form. */
void record_time(uint64_t time_us, char ret[RECORD_TIME_MAX]);
uint64_t record_time_read(const char *text);

#endif
