/*
 * audit/note.h - C2SP notes: verifier keys, checkpoints, cosignatures and
 * tlog-proofs (c2sp.org/signed-note, tlog-checkpoint, tlog-cosignature and
 * tlog-proof@v1).
 *
 * Pure: text in, text out.  Every reader demands the one canonical form: a
 * checkpoint has exactly the three lines origin, size, root, then an empty
 * line, then signature lines.  Lines of keys that nobody asked about are
 * ignored, but must look like signature lines.
 */
#ifndef AUDIT_NOTE_H
#define AUDIT_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "audit/ed25519.h"
#include "audit/tree.h"
#include "base/error.h"
#include "base/text.h"

#define NOTE_NAME_MAX  256   /* of a key, with its NUL */
#define NOTE_KEY_MAX   320   /* a verifier key as text, with its NUL */
#define NOTE_BYTES_MAX 16384 /* a note or a tlog-proof; more is malformed */
#define NOTE_LOG       0x01  /* type of log and record keys */
#define NOTE_WITNESS   0x04  /* type of a witness */

/* One public key.  A name is 1 to 255 of the bytes 0x21 to 0x7E without '+',
 * '"' and '\'. */
struct note_key {
	char name[NOTE_NAME_MAX];
	uint8_t type; /* NOTE_LOG or NOTE_WITNESS */
	uint8_t id[4];
	uint8_t public_key[ED25519_PUBLIC];
};

/* Fill in the id.  ERROR_MALFORMED for a bad name or a bad point. */
int note_key_make(const char *name, uint8_t type,
    const uint8_t public_key[ED25519_PUBLIC], struct note_key *ret,
    struct error *e) MUST_CHECK;

/*
 * "name+id+base64(type || key)", with or without one LF behind.
 * ERROR_UNAVAILABLE for a type that we do not know, ERROR_MALFORMED for
 * anything else that is off.
 */
int note_key_parse(const void *text, size_t len, struct note_key *ret,
    struct error *e) MUST_CHECK;

/* Append the same, with its LF. */
int note_key_format(const struct note_key *key, struct text_out *out,
    struct error *e) MUST_CHECK;

struct note_signer {
	const struct note_key *key; /* borrowed; type NOTE_LOG */
	const uint8_t *secret_key;  /* borrowed; ED25519_SECRET bytes */
};

/* Append the three lines of a checkpoint: what is signed. */
int note_text(const char *origin, const struct tree_head *head,
    struct text_out *out, struct error *e) MUST_CHECK;

/*
 * Append a whole checkpoint of origin signers[0].key->name, signed by each of
 * the 'n_signers'.
 */
int note_write(const struct note_signer *signers, size_t n_signers,
    const struct tree_head *head, struct text_out *out,
    struct error *e) MUST_CHECK;

/*
 * Read a checkpoint whose origin is the name of 'pin' and which 'pin' signed.
 * ERROR_TAMPERED otherwise, saying what is off.
 */
int note_open(const void *data, size_t len, const struct note_key *pin,
    struct tree_head *ret, struct error *e) MUST_CHECK;

/*
 * Does the note carry a good cosignature of 'witness'?  *ret_time is its time
 * in seconds since 1970.  ERROR_TAMPERED for a bad one, ERROR_STATE for none.
 */
int note_cosigned(const void *data, size_t len, const struct note_key *witness,
    uint64_t *ret_time, struct error *e) MUST_CHECK;

/* A receipt: record 'index' is in the tree of a signed checkpoint. */
struct note_proof {
	uint64_t index;
	struct tree_path path;
	struct tree_head head;
};

/* Append a tlog-proof around a checkpoint made by note_write. */
int note_proof_write(uint64_t index, const struct tree_path *path,
    const struct text_out *checkpoint, struct text_out *out,
    struct error *e) MUST_CHECK;

/* Read one; its checkpoint as note_open.  Whether the path proves a record is
 * asked of tree_includes, with the record's leaf. */
int note_proof_open(const void *data, size_t len, const struct note_key *pin,
    struct note_proof *ret, struct error *e) MUST_CHECK;

#endif
