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

#include "audit/keys.h"
#include "audit/record.h"
#include "audit/runs.h"
#include "audit/store.h"
#include "audit/tree.h"

#define CHAIN_OPEN_MAX    256 /* intents without an outcome, at once */
#define CHAIN_GROUP_MAX   256 /* records of one group */
#define CHAIN_GROUP_BYTES (4u << 20)
#define CHAIN_EPOCH_MAX   10000 /* records of one epoch */
#define CHAIN_EPOCH_MS    3600000

struct chain_intent {
	uint8_t run[EVENT_RUN_BYTES];
	uint8_t instance[16]; /* of the supervisor that may end it */
	uint8_t leaf[TREE_HASH];
	uint64_t seq;
	uint64_t link; /* the channel it came by; 0: found at a start */
};

/* Plain data: a copy is a snapshot. */
struct chain_state {
	struct tree tree; /* tree.size is the next sequence number */
	uint8_t prev[TREE_HASH];
	uint8_t record_key[ED25519_PUBLIC]; /* of the last record's epoch */
	uint8_t next[TREE_HASH]; /* digest of the key announced after it */
	uint64_t epoch;          /* of the last record; 0 before the first */
	uint64_t epoch_first;    /* sequence number of its opening record */
	uint64_t bytes;          /* of the log file */
	bool ours;  /* this process opened that epoch and holds its key */
	bool ended; /* the last record is epoch.close */
	bool final; /* the last record is log.close */
	size_t n_open;
	struct chain_intent open[CHAIN_OPEN_MAX];
};

struct chain {
	struct keys keys;
	struct store store;
	struct runs runs;
	uint8_t boot[16];
	struct event_hello hello; /* builds, for the next opening record */
	struct note_key record_note;
	uint64_t epoch_since_ms; /* CLOCK_MONOTONIC, of the opening record */
	struct chain_state state;
	struct chain_state draft;
	struct tree before; /* the tree as the last group found it */
	size_t n_records;   /* of the group */
	uint8_t leaves[CHAIN_GROUP_MAX + 8][TREE_HASH];
	size_t line_at[CHAIN_GROUP_MAX + 8];
	size_t line_len[CHAIN_GROUP_MAX + 8];
	size_t n_salts;
	uint8_t salts[CHAIN_GROUP_MAX][STORE_SALT_SIZE];
	size_t used; /* bytes of 'group' */
	char *group; /* owned: CHAIN_GROUP_BYTES */
	struct record_line line;
	size_t note_len; /* the checkpoint of the last group */
	char note[NOTE_BYTES_MAX];
};

/* Who sends an event. */
struct chain_sender {
	uint64_t link; /* above 0 */
	uint8_t instance[16];
};

/* Start a group.  Until chain_commit nothing of it counts. */
void chain_begin(struct chain *c);

/* No more record fits in this group, or in this epoch. */
bool chain_is_full(const struct chain *c);

/*
 * Add the record of an INTENT, DENIAL or OUTCOME; the opening record of an
 * epoch goes before it where one is due.  *ret_index is its place in the group.
 * ERROR_STATE: a run id used before, an outcome without its open intent.
 * ERROR_MALFORMED: a value that no record can hold.  ERROR_LIMIT: no space, or
 * too many open intents.  After these three the group goes on without it; after
 * any other failure the signer must stop.
 */
int chain_add(struct chain *c, const struct chain_sender *from,
    enum event_verb verb, const void *event, size_t *ret_index,
    struct error *e) MUST_CHECK;

/*
 * Add an aborted outcome for every open intent that came by 'link'; by 0 for
 * those found at a start.
 */
int chain_abort(struct chain *c, uint64_t link, struct error *e) MUST_CHECK;

/* Add a recover record for each torn piece that was set aside at this size. */
int chain_recover(struct chain *c, struct error *e) MUST_CHECK;

/* Add epoch.close, or log.close, after which the log is finished. */
int chain_end_epoch(
    struct chain *c, const char *reason, struct error *e) MUST_CHECK;
int chain_end_log(struct chain *c, struct error *e) MUST_CHECK;

/*
 * Make the group durable: salts, log, checkpoint.  ERROR_LIMIT: there was no
 * space, and the group never was.  Any other failure is for good.
 */
int chain_commit(struct chain *c, struct error *e) MUST_CHECK;

/* The i-th line of the group that was committed last. */
struct store_bytes chain_line(const struct chain *c, size_t index);

/* Its receipt, a tlog-proof at the group's own checkpoint. */
int chain_proof(struct chain *c, size_t index, struct text_out *out,
    struct error *e) MUST_CHECK;

/* Sign and store the checkpoint of what is acknowledged. */
int chain_publish(
    struct chain *c, enum store_sync sync, struct error *e) MUST_CHECK;

/* Why an epoch must end now, or NULL. */
const char *chain_epoch_due(const struct chain *c);

uint64_t chain_now_ms(void); /* CLOCK_MONOTONIC */

#endif
