/*
 * audit/keys.h - the signer's keys, in memory and in the directory keys/.
 *
 *   log.key        log id, origin and seed of the log key: signs checkpoints
 *   record-N.key   seed of the record key of epoch N: signs the records of N
 *
 * Forward security: while epoch N is open only the seed of N + 1 is on disk;
 * that of N lives in locked memory and is wiped when the epoch ends.  Before
 * epoch N opens both lie there, since a crash must not strand the log: the key
 * that its last record announced has to be found again.
 *
 * Files are of our own uid, mode 0600, plain or sealed under a passphrase
 * (audit/keys_file.h); anything else is refused.
 */
#ifndef AUDIT_KEYS_H
#define AUDIT_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/note.h"
#include "base/error.h"

/* A key pair whose secret half lies in locked memory. */
struct keys_pair {
	uint8_t public_key[ED25519_PUBLIC];
	uint8_t *secret; /* ED25519_SECRET bytes of locked memory */
};

struct keys {
	int dir_fd; /* borrowed: keys/ */
	uint8_t log_id[16];
	struct note_key log_note; /* the log key under its origin */
	struct keys_pair log;
	struct keys_pair record;      /* of the open epoch; secret wiped else */
	uint8_t next[ED25519_PUBLIC]; /* public record key of the epoch after */
	uint8_t *locked;              /* owned: where the secrets lie */
	bool sealed;                  /* on disk, under a passphrase */
};

#define KEYS_SECRET_MAX 1024           /* bytes of a passphrase */
#define KEYS_CREDENTIAL "bailiff.seal" /* of systemd, which holds one */

/* A passphrase, in locked memory. */
struct keys_secret {
	uint8_t *data; /* owned, sodium_malloc */
	size_t len;
};

/* Read one to the end of 'fd', without the LF that may end it. */
int keys_secret_read(
    int fd, struct keys_secret *ret, struct error *e) MUST_CHECK;
void keys_secret_done(struct keys_secret *s); /* wipes; {0} is fine */

/* How it becomes a key: argon2id. */
struct keys_seal {
	uint64_t passes;
	uint64_t memory_bytes;
	uint8_t salt[16];
};

struct keys_new {
	const char *log_id_hex;           /* 32 digits */
	const char *origin;               /* NULL: the default */
	int pin_fd;                       /* borrowed: where log.vkey goes */
	const struct keys_secret *secret; /* NULL: plain files */
};

/*
 * Make the log key, in memory, and its pin, on disk.  log.key comes last, with
 * keys_commit: only then does the log exist.  A crash between leaves a pin that
 * nobody has a key for, never a log that nobody can pin.  ERROR_STATE if
 * log.key is there.  'dir_fd' is borrowed until keys_close.
 */
int keys_create(int dir_fd, const struct keys_new *what, struct keys *ret,
    struct error *e) MUST_CHECK;
int keys_commit(struct keys *k, struct error *e) MUST_CHECK;

/* What keys/ says to who has no passphrase. */
struct keys_about {
	char log_id_hex[33];
	char origin[NOTE_NAME_MAX];
	bool sealed;
	struct keys_seal seal; /* where sealed */
	struct note_key key;   /* where plain: from the seed */
};
int keys_describe(
    int dir_fd, struct keys_about *ret, struct error *e) MUST_CHECK;

/*
 * Read log.key.  'dir_fd' is borrowed until keys_close.  ERROR_UNAVAILABLE, with
 * what to do, where the keys are sealed and 'secret' is NULL; a secret that is
 * not needed is not looked at.
 */
int keys_open(int dir_fd, const struct keys_secret *secret, struct keys *ret,
    struct error *e) MUST_CHECK;

/*
 * Make the record keys of 'epoch' and of the one after durable where they are
 * missing, unless 'announced' (SHA-256 of a public key; NULL for epoch 0) says
 * which key 'epoch' must have: then it must be there and match, else
 * ERROR_TAMPERED.
 */
int keys_prepare(struct keys *k, uint64_t epoch, const uint8_t *announced,
    struct error *e) MUST_CHECK;

/* Load the record key of 'epoch' as k->record and the public k->next. */
int keys_load_record(
    struct keys *k, uint64_t epoch, struct error *e) MUST_CHECK;

/* Overwrite and remove the seeds of 'epoch' and of the one before. */
int keys_forget(struct keys *k, uint64_t epoch, struct error *e) MUST_CHECK;

/* Wipe the current record key from memory. */
void keys_end_record(struct keys *k);

void keys_close(struct keys *k); /* wipes; {0} is fine */

#endif
