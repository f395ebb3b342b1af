/*
 * audit/ed25519.h - Ed25519 as strictly as libsodium takes it.
 *
 * Go, OpenSSL, Node and signify accept the small-order public key for which
 * one fixed signature verifies every message; we refuse such keys wherever a
 * key enters, once, and leave the rest (S below the order, canonical and
 * large-order R) to libsodium's own verify.
 */
#ifndef AUDIT_ED25519_H
#define AUDIT_ED25519_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ED25519_PUBLIC 32
#define ED25519_SECRET 64 /* as libsodium keeps it: seed and public key */
#define ED25519_SIG    64

/* A canonical point of the prime-order group: ask this of each new key. */
bool ed25519_key_is_good(const uint8_t public_key[ED25519_PUBLIC]);

bool ed25519_verify(const uint8_t public_key[ED25519_PUBLIC],
    const uint8_t sig[ED25519_SIG], const void *message, size_t len);

void ed25519_sign(const uint8_t secret_key[ED25519_SECRET], const void *message,
    size_t len, uint8_t ret[ED25519_SIG]);

#endif
