/*
 * audit/chain_notes.h - what the signer itself notices and records: steps of
 * the clock, requests that had no room, changes of policy and programs; and
 * events that are about runs of the past.  Private to audit/chain*.c and to
 * what reads the log at a start.
 */
#ifndef AUDIT_CHAIN_NOTES_H
#define AUDIT_CHAIN_NOTES_H

#include "audit/chain.h"
#include "base/sha256.h"

/* Build 'what' (its frame comes from here), sign it, put it behind the group. */
int chain_put(
    struct chain *c, const struct record *what, struct error *e) MUST_CHECK;

/* A record with this promise joins the group: must that be synced? */
void chain_promise(struct chain *c, enum promise promise);

bool chain_is_open(const struct chain *c, const uint8_t run[EVENT_RUN_BYTES]);

struct chain_step {
	uint64_t us; /* 0: the clocks agree, or nobody can know */
	bool back;
};

/*
 * How far the wall clock is from where the last record's clocks put it.  Both
 * clocks are slewed alike, so what is left is a step (or a sleep of the host,
 * during which the monotonic one stands).  After a boot only a wall clock that
 * went back shows.
 */
void chain_measure(const struct chain *c, struct chain_step *ret);

/* Record a step above CHAIN_STEP_US, and a gap that waits; an epoch is open. */
int chain_note_step(
    struct chain *c, const struct chain_step *step, struct error *e) MUST_CHECK;

/* Record what this link's policy and programs change, if they do. */
int chain_note_config(struct chain *c, const struct chain_sender *from,
    const struct event_policy *policy, struct error *e) MUST_CHECK;

/*
 * The record of a GAP, ACCESS, PRUNE or REDACT; ERROR_STATE for one that may
 * not be now.
 */
int chain_note_of(struct chain *c, const struct chain_event *what,
    struct record *ret, struct error *e) MUST_CHECK;

/* SHA-256 of "program=hex LF" of all builds, sorted. */
void chain_builds(const struct event_hello *hello, uint8_t ret[SHA256_BYTES]);

/* Keep what a policy of that name is now. */
void chain_keep_policy(
    struct chain_state *s, const char *name, const uint8_t sha256[32]);

#endif
