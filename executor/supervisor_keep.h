/*
 * executor/supervisor_keep.h - results that the policy keeps no longer go, at
 * quiet moments and a little in each turn of the loop; and requests that were
 * turned away without a record are recorded as a gap.  Private to the
 * supervisor.
 */
#ifndef EXECUTOR_SUPERVISOR_KEEP_H
#define EXECUTOR_SUPERVISOR_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"
#include "base/error.h"
#include "executor/supervisor_notes.h"

struct retention;
struct supervisor;

struct keeping {
	struct retention *pass; /* owned; NULL: the policy keeps everything */
	bool is_looking;        /* a pass is being made */
	bool is_asking;         /* the signer has a results.prune */
	bool has_passed;        /* one was made in this life */
	bool is_removing;       /* something lies in results/.pruning */
	uint64_t due_us;        /* of the next pass */
	uint64_t passed_us;     /* when the last one was begun */
	uint64_t published;     /* of the results, by then */
	uint64_t hold_us; /* since when our end waits for it; 0: it does not */
	/* Requests refused without a record, not told yet. */
	struct event_gap gaps[GAP_N];
	bool is_telling;
	uint64_t told_us;
	struct note *notes; /* owned: what the signer is told, oldest first */
};

int keep_start(struct supervisor *s, struct error *e) MUST_CHECK;

/* As each record that is of this service's policy names it. */
void supervisor_policy(const struct supervisor *s, struct event_policy *ret);

/* Between turns; returns when to call again, UINT64_MAX for never. */
uint64_t keep_tend(struct supervisor *s, uint64_t now_us);

/* 'end_us' of the service, put off while a pass is still to be made. */
uint64_t keep_hold(struct supervisor *s, uint64_t end_us, uint64_t now_us);

/* So many requests were turned away, and nothing was recorded. */
void keep_refused(struct supervisor *s, enum gap_reason reason, uint64_t count);

/* A redact record is durable: these runs' results go. */
void keep_remove(struct supervisor *s, const struct event_redact *redact);

#endif
