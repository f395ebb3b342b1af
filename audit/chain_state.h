/*
 * audit/chain_state.h - what the signer knows of its log, and a group of records
 * being built on a copy of it.  What is done with them: audit/chain.h.
 */
#ifndef AUDIT_CHAIN_STATE_H
#define AUDIT_CHAIN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/index.h"
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
#define CHAIN_POLICIES    16 /* policies by name, the last that were used */
#define CHAIN_STEP_US     1000000 /* a step of the wall clock worth a record */

struct chain_intent {
	uint8_t run[EVENT_RUN_BYTES];
	uint8_t instance[16]; /* of the supervisor that may end it */
	uint8_t leaf[TREE_HASH];
	uint64_t seq;
	uint64_t link; /* the channel it came by; 0: found at a start */
};

/* Which effective text a policy of that name had last. */
struct chain_policy {
	char name[EVENT_WORD_MAX]; /* "": free */
	uint8_t sha256[32];
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
	enum promise promise;    /* the weakest that this epoch has told */
	bool ours;  /* this process opened that epoch and holds its key */
	bool ended; /* the last record is epoch.close */
	bool final; /* the last record is log.close */
	/* Of the last record: its clocks, and the boot that mono is of.  0: not
	 * known. */
	uint8_t boot[16];
	uint64_t mono_us, wall_us;
	uint8_t builds[32]; /* digest of those named last; zeros: not known */
	struct chain_policy policies[CHAIN_POLICIES];
	size_t next_policy; /* the place that is given up next */
	uint64_t refused;   /* of chain.gap, already in a record */
	size_t n_open;
	struct chain_intent open[CHAIN_OPEN_MAX];
};

struct chain {
	struct keys keys;
	struct store store;
	struct runs runs;
	struct index index; /* of what is acknowledged and settled */
	uint8_t boot[16];
	struct event_hello hello; /* builds, for the next opening record */
	struct note_key record_note;
	uint64_t epoch_since_ms; /* CLOCK_MONOTONIC, of the opening record */
	struct chain_state state;
	struct chain_state draft;
	struct tree before; /* the tree as the last group found it */
	bool was_ours;      /* state.ours before the last group */
	bool unsettled;     /* chain_settle is due */
	bool must_sync;     /* of the group: a record of it needs that */
	bool hurried;     /* of the group: to be synced within STORE_SYNC_MS */
	size_t n_records; /* of the group */
	uint8_t leaves[CHAIN_GROUP_MAX + 8][TREE_HASH];
	size_t line_at[CHAIN_GROUP_MAX + 8];
	size_t line_len[CHAIN_GROUP_MAX + 8];
	/* Requests refused for want of space; recorded when there is some. */
	struct event_gap gap;
	struct record_redact redact; /* of this group; n 0: none */
	size_t n_salts;
	uint8_t salts[CHAIN_GROUP_MAX][STORE_SALT_SIZE];
	size_t used; /* bytes of 'group' */
	char *group; /* owned: CHAIN_GROUP_BYTES */
	struct record_line line;
	size_t note_len; /* the checkpoint of the last group */
	char note[NOTE_BYTES_MAX];
};

#endif
