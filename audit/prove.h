/*
 * audit/prove.h - a receipt made from a log at rest: C2SP tlog-proof around the
 * log's own checkpoint.  Linked by the audit reader.
 *
 * Only what was checked is handed out: the checkpoint is signed by the trusted
 * key, and the record leads to its root.  The index (audit/index.h) says where
 * the record is and what its path is; where it is missing or wrong, the whole
 * log is read, which takes 32 bytes of memory a record.
 */
#ifndef AUDIT_PROVE_H
#define AUDIT_PROVE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/entry.h"
#include "audit/note.h"
#include "audit/pin.h"

/* Which record: 'req', the outcome or denial of that run or, as long as there
 * is none, its intent; where that is NULL 'seq'. */
struct prove_what {
	const char *req;
	uint64_t seq;
};

struct prove_from {
	int audit_fd;                      /* borrowed: it holds index/ */
	int log_fd;                        /* borrowed: log/ */
	const struct text_out *checkpoint; /* borrowed; as it is stored */
	const struct note_key *key;        /* NULL: that of a pin */
	const int *pin_fds;                /* PIN_DIRECTORIES of them */
};

struct prove_done {
	uint64_t seq;        /* of the record */
	bool by_index;       /* no more than a part of the log was read */
	bool index_is_wrong; /* 'why' says how */
	struct error why;
};

/*
 * Append the proof to 'out'.  ERROR_STATE: no
 * such record, or none below the checkpoint, or no key to trust.
 * ERROR_TAMPERED: the checkpoint is not that key's, or the log is not its.
 */
int prove_record(const struct prove_from *from, const struct prove_what *what,
    struct text_out *out, struct prove_done *ret, struct error *e) MUST_CHECK;

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
