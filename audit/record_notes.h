/*
 * audit/record_notes.h - records about the log's own life that no event carries:
 * the signer notices these itself.  Part of audit/record.h.
 */
#ifndef AUDIT_RECORD_NOTES_H
#define AUDIT_RECORD_NOTES_H

#include <stdbool.h>

#include "audit/event.h"

/* The wall clock left the monotonic one since the record before. */
struct record_clock {
	uint64_t us;
	bool back; /* it went back, not forward */
};

/* A service of another policy or of other programs than the log last named. */
struct record_config {
	const struct event_hello *hello; /* borrowed; NULL: the same programs */
	const struct event_policy *policy; /* borrowed; NULL: the same policy */
	const uint8_t *was; /* with policy: the digest before, 32 bytes */
};

/* One run whose salt is erased: the place of its intent. */
struct record_salt {
	uint8_t run[EVENT_RUN_BYTES];
	uint64_t epoch, seq;
};

struct record_redact {
	const struct event_principal *principal; /* borrowed */
	bool results;
	size_t n;
	struct record_salt salts[EVENT_BATCH_MAX]; /* sorted by seq */
};

#endif
