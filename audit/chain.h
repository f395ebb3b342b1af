/*
 * audit/chain.h - the log as the signer sees it: where the next record goes,
 * which intents are open, and a group of records being built.
 *
 * A group is built on a copy of the state ('draft') and counts only when the
 * store has it on disk; a group that does not fit is forgotten as a whole.
 * One chain per process, on the heap, allocated once.
 */
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/chain_state.h"

/* Who sends an event. */
struct chain_sender {
	uint64_t link; /* above 0 */
	uint8_t instance[16];
	const struct event_hello *hello; /* borrowed: its builds */
	bool announced; /* what runs there was compared with the log already */
	enum promise promise; /* of each of its records */
};

struct chain_event {
	enum event_verb verb;
	const void *event; /* borrowed; the struct of that verb */
};

/* Start a group.  Until chain_commit nothing of it counts. */
void chain_begin(struct chain *c);

/* No more record fits in this group, or in this epoch. */
bool chain_is_full(const struct chain *c);

/*
 * Add the record of an event; the opening record of an epoch goes before it
 * where one is due, and records of what happened to the log since the one
 * before: clock, gap, and with a link's first request config.
 * *ret_index is its place in the group.
 * ERROR_STATE: a run id used before, an outcome without its open intent.
 * ERROR_MALFORMED: a value that no record can hold.  ERROR_LIMIT: no space, or
 * too many open intents.  After these three the group goes on without it; after
 * any other failure the signer must stop.
 */
int chain_add(struct chain *c, const struct chain_sender *from,
    const struct chain_event *what, size_t *ret_index,
    struct error *e) MUST_CHECK;

/*
 * Add an aborted outcome for every open intent that came by 'link'; by 0 for
 * those found at a start.
 */
int chain_abort(struct chain *c, uint64_t link, struct error *e) MUST_CHECK;

/* Add a tick: nothing else happened. */
int chain_tick(struct chain *c, struct error *e) MUST_CHECK;

/* A request was refused for want of space: to be recorded when there is some. */
void chain_refused(struct chain *c);

/* Add a recover record for each torn piece that was set aside at this size. */
int chain_recover(struct chain *c, struct error *e) MUST_CHECK;

/* Add epoch.close, in an epoch opened for it if none is; or log.close, after which the log is finished. */
int chain_end_epoch(
    struct chain *c, const char *reason, struct error *e) MUST_CHECK;
int chain_end_log(struct chain *c, struct error *e) MUST_CHECK;

/*
 * Append the group.  Unless all its records came with a weaker promise it is
 * made durable, what it redacts erased, then its checkpoint signed and written; c->note_len is 0 for a
 * group without one, since no head is signed over what can vanish.  ERROR_LIMIT: there was no
 * space, and the group never was.  Any other failure is for good.
 */
int chain_commit(struct chain *c, struct error *e) MUST_CHECK;

/*
 * What a commit leaves for after the answers, before the next group: the keys
 * of an epoch that is over, or that is open now, leave the disk.
 */
int chain_settle(struct chain *c, struct error *e) MUST_CHECK;

/* The i-th line of the group that was committed last. */
struct store_bytes chain_line(const struct chain *c, size_t index);

/* Its receipt, a tlog-proof at the group's own checkpoint. */
int chain_proof(struct chain *c, size_t index, struct text_out *out,
    struct error *e) MUST_CHECK;

/* Make all that is acknowledged durable, sign and store its checkpoint. */
int chain_publish(
    struct chain *c, enum store_sync sync, struct error *e) MUST_CHECK;

/* Why an epoch must end now, or NULL. */
const char *chain_epoch_due(const struct chain *c);

uint64_t chain_now_ms(void); /* CLOCK_MONOTONIC */

#endif
