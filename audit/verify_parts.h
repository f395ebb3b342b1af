/*
 * audit/verify_parts.h - what the files verify*.c share.  Nobody else includes
 * this.
 */
#ifndef AUDIT_VERIFY_PARTS_H
#define AUDIT_VERIFY_PARTS_H

#include "audit/dsse.h"
#include "audit/entry.h"
#include "audit/heads.h"
#include "audit/idmap.h"
#include "audit/index.h"
#include "audit/lines.h"
#include "audit/verify.h"
#include "audit/words.h"

/* An intent without outcome so far. */
struct verify_open {
	uint64_t seq;
	uint8_t leaf[TREE_HASH];
};

struct verify_loss; /* verify_results.h */

enum verify_ended {
	ENDED_NOT,
	ENDED_EPOCH,
	ENDED_LOG
};

struct verify {
	const struct verify_options *options; /* borrowed */
	struct report *report;                /* borrowed */
	struct verify_summary *summary;       /* borrowed */
	struct lines lines;
	struct index index; /* compared; it decides nothing */

	/* The chain so far. */
	struct tree tree;
	uint8_t last_leaf[TREE_HASH];
	uint8_t log[ENTRY_LOG_BYTES];
	struct tree_head checkpoint;
	struct heads heads; /* to be met, the checkpoint among them */

	/* Begun elsewhere than at the front: behind 'from' records, of which
	 * those from 'from_seen' on were read. */
	uint64_t from, from_seen;
	uint64_t n_before; /* outcomes of runs that began before from_seen */

	/* The open epoch. */
	uint8_t key[ED25519_PUBLIC];
	uint8_t next[TREE_HASH];
	uint64_t epoch, first;
	enum verify_ended ended;
	enum promise promise; /* the weakest of its records */
	enum promise crashed; /* the weakest of epochs without an end */
	struct idmap keys;    /* set: SHA-256 of used keys, first half */

	/* Runs and boots. */
	struct idmap used;  /* set of run ids */
	struct idmap open;  /* run id -> struct verify_open */
	struct idmap boots; /* boot id -> uint8_t: its last record is a stop */
	uint8_t boot[IDMAP_ID];
	uint8_t boot_stopped;
	bool policy_named;

	/* Results. */
	struct idmap folders;       /* set of names not yet explained */
	struct verify_loss *losses; /* owned */
	size_t n_losses, losses_cap;
	uint64_t pruned_before;
	struct idmap gone;     /* run id -> uint8_t of GONE_* */
	struct idmap policies; /* digest's first half -> struct verify_policy */
	uint64_t n_policies;   /* of them: the file is what its name says */
	bool names_policies;

	/* The record before, for its signature if it ends an epoch. */
	struct report_place last_place;
	bool last_signed; /* its signature was checked */
	size_t last_len;
	char last_line[DSSE_LINE_MAX];
	char scratch[DSSE_PAE_MAX];
	char envelope[DSSE_ENVELOPE_MAX];
};

/* Add a FAIL of VERDICT_TAMPERED at 'place'; worth false. */
#define VERIFY_BAD(v, place, check, expected, ...)                 \
	(report_add((v)->report,                                   \
	     &(struct report_what){                                \
	         VERDICT_TAMPERED, (check), (place), (expected) }, \
	     __VA_ARGS__),                                         \
	    false)

/* verify_pin.c: find the key.  *ret_go_on false: a finding says why nothing can
 * be judged. */
int verify_pin(struct verify *v, const struct lines_line *line, bool *ret_go_on,
    struct error *e) MUST_CHECK;

/* verify_record.c: one line.  *ret_go_on false: nothing after it can be judged.
 * -1 only out of memory. */
int verify_record(struct verify *v, const struct lines_line *line,
    bool *ret_go_on, struct error *e) MUST_CHECK;

/* Compare all heads of the size reached. */
void verify_meet_heads(struct verify *v);

/* verify_type.c: what a record of a known type must have; false after a FAIL. */
bool verify_epoch_record(struct verify *v, const struct entry *entry,
    const struct report_place *place);
int verify_run_record(struct verify *v, const struct entry *entry,
    const struct report_place *place, bool *ret_good,
    struct error *e) MUST_CHECK;

/* verify_sign.c: signatures of records. */
bool verify_signature(struct verify *v, const struct entry *entry,
    const uint8_t key[ED25519_PUBLIC], const struct report_place *place);
/* That of the record before, if it was not checked yet. */
bool verify_last_signature(struct verify *v);

#endif
