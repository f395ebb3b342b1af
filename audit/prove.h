/*
 * audit/prove.h - a receipt made from a log at rest: C2SP tlog-proof around the
 * log's own checkpoint.  Linked by the audit reader.
 *
 * Only what was checked is handed out: the checkpoint is signed by the trusted
 * key, and the records lead to its root.  Takes 32 bytes of memory a record.
 */
#ifndef AUDIT_PROVE_H
#define AUDIT_PROVE_H

#include <stdint.h>

#include "audit/entry.h"
#include "audit/note.h"
#include "audit/pin.h"

/* Which record: 'req', the last one of that run, or where that is NULL 'seq'. */
struct prove_what {
	const char *req;
	uint64_t seq;
};

struct prove_from {
	int log_fd;                        /* borrowed: log/ */
	const struct text_out *checkpoint; /* borrowed; as it is stored */
	const struct note_key *key;        /* NULL: that of a pin */
	const int *pin_fds;                /* PIN_DIRECTORIES of them */
};

/*
 * Append the proof to 'out'; *ret_seq is the record's number.  ERROR_STATE: no
 * such record, or none below the checkpoint, or no key to trust.
 * ERROR_TAMPERED: the checkpoint is not that key's, or the log is not its.
 */
int prove_record(const struct prove_from *from, const struct prove_what *what,
    struct text_out *out, uint64_t *ret_seq, struct error *e) MUST_CHECK;

/* A receipt beside the record that it is said to be of. */
struct prove_receipt {
	const void *proof;
	size_t proof_len;
	const struct entry *record; /* borrowed */
	const struct note_key *key; /* NULL: that of a pin */
	const int *pin_fds;
};

/*
 * Does it prove that record?  *ret is what the receipt says, *ret_pin the key
 * that was trusted.  ERROR_TAMPERED: no; ERROR_STATE: no key to trust.
 */
int prove_check(const struct prove_receipt *r, struct note_proof *ret,
    struct note_key *ret_pin, struct error *e) MUST_CHECK;

#endif
