/*
 * audit/salts.h - erasing the secret of a run's commitments.  Linked by the
 * signer, which owns salts/<epoch>: entries of 40 bytes, a sequence number (u64
 * big-endian) and 32 bytes of salt; an erased salt is zeros.
 *
 * What overwriting cannot reach: copies that the file system or the medium made
 * (snapshots, journals of data, wear levelling), and backups.
 */
#ifndef AUDIT_SALTS_H
#define AUDIT_SALTS_H

#include "audit/record_notes.h"
#include "audit/store.h"

struct entry;

struct salts_search {
	int log_dir_fd; /* borrowed: log/ */
	uint64_t size;  /* records that are acknowledged; no more are read */
	const struct event_run *runs; /* borrowed */
	size_t n_runs;                /* at most EVENT_BATCH_MAX */
};

/*
 * Where the intents of these runs are: fills ret->salts, sorted by seq.  Reads
 * the log from its front, until all are found.  ERROR_STATE names one that the
 * log does not have, or that is named twice.
 */
int salts_find(const struct salts_search *what, struct record_redact *ret,
    struct error *e) MUST_CHECK;

/* Overwrite one; on disk on return.  One that is not there is erased. */
int salts_erase(struct store *s, const struct record_salt *salt,
    struct error *e) MUST_CHECK;

/* All that a redact record names, again: a crash may have come between. */
int salts_erase_named(
    struct store *s, const struct entry *redact, struct error *e) MUST_CHECK;

#endif
