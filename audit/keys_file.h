/*
 * audit/keys_file.h - one seed in one file of keys/, plain or sealed.  Private
 * to audit/keys*.c.
 *
 * A file is a few lines that say what it is, and a last one with the seed:
 *
 *   seed <64 hex>                    plain
 *   sealed <48 hex> <96 hex>         nonce and box: XChaCha20-Poly1305 (libsodium)
 *                                    over the seed, with the file's name, a NUL
 *                                    and the lines before as associated data, so
 *                                    that no box fits into another file
 *
 * Where keys/seal exists all files are sealed, else none is; a mixture is
 * refused.  keys/seal says how the passphrase becomes the key:
 *
 *   bailiff seal 1
 *   argon2id <passes> <bytes of memory> <32 hex salt>
 */
#ifndef AUDIT_KEYS_FILE_H
#define AUDIT_KEYS_FILE_H

#include <sodium.h>
#include <stdbool.h>

#include "audit/keys.h"
#include "audit/store_file.h"

#define KEYS_SEED     crypto_sign_SEEDBYTES
#define KEYS_TEXT_MAX 1024

/* What one mapping of locked memory holds. */
struct locked {
	uint8_t log[ED25519_SECRET];
	uint8_t record[ED25519_SECRET];
	uint8_t scratch[ED25519_SECRET];
	uint8_t seed[KEYS_SEED];
	uint8_t seal[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	char text[KEYS_TEXT_MAX];
};

struct locked *keys_locked(const struct keys *k);

/*
 * Read file 'name' of keys/: the seed into locked->seed, the lines before it,
 * with a NUL behind, stay in locked->text.  ERROR_CLOSED if there is none.
 */
int keys_file_read(
    struct keys *k, const char *name, struct error *e) MUST_CHECK;

/* The lines alone, whatever the seed's is: nobody vouches for them. */
int keys_file_peek(
    struct keys *k, const char *name, struct error *e) MUST_CHECK;

/* Replace it by the lines in locked->text and the seed in locked->seed. */
int keys_file_write(
    struct keys *k, const char *name, struct error *e) MUST_CHECK;

/* Overwrite and remove it. */
int keys_file_forget(
    struct keys *k, const char *name, struct error *e) MUST_CHECK;

/* keys_seal.c: is there a keys/seal?  Its numbers, checked. */
int keys_seal_read(int dir_fd, struct keys_seal *ret, bool *ret_sealed,
    struct error *e) MUST_CHECK;

/* Make keys/seal with a fresh salt. */
int keys_seal_make(
    int dir_fd, struct keys_seal *ret, struct error *e) MUST_CHECK;

/* The key of the boxes, into locked->seal. */
int keys_seal_derive(struct keys *k, const struct keys_seal *seal,
    const struct keys_secret *secret, struct error *e) MUST_CHECK;

#endif
