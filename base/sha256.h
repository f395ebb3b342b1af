/*
 * base/sha256.h - SHA-256 (FIPS 180-4).
 *
 * Ours, because the front must hash a policy file without paying for a
 * library, and because every result byte is hashed: see DESIGN.md.  Tested
 * against libsodium.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SHA256_BYTES 32
#define SHA256_BLOCK 64
#define SHA256_HEX   65 /* 64 lower-case digits and a NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t total; /* bytes so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
/* Leaves 'h' unusable until sha256_init. */
void sha256_done(struct sha256 *h, uint8_t ret[SHA256_BYTES]);

/* The digest of one block of memory. */
void sha256_of(const void *data, size_t len, uint8_t ret[SHA256_BYTES]);

/*
 * The digest of 'fd' from offset 0 to its end, by pread; the file offset stays
 * where it is.  *ret_size is the number of bytes hashed.
 */
int sha256_of_fd(int fd, uint8_t ret[SHA256_BYTES], uint64_t *ret_size,
    struct error *e) MUST_CHECK;

void sha256_hex(const uint8_t digest[SHA256_BYTES], char ret[SHA256_HEX]);

#endif
