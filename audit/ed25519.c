/*
 * audit/ed25519.c - signatures by libsodium.  Linked by signer and audit
 * reader; trusts neither keys nor signatures.
 */
#include "audit/ed25519.h"

#include <sodium.h>

bool ed25519_key_is_good(const uint8_t public_key[ED25519_PUBLIC])
{
	return crypto_core_ed25519_is_valid_point(public_key) == 1;
}

bool ed25519_verify(const uint8_t public_key[ED25519_PUBLIC],
    const uint8_t sig[ED25519_SIG], const void *message, size_t len)
{
	return crypto_sign_verify_detached(sig, message, len, public_key) == 0;
}

void ed25519_sign(const uint8_t secret_key[ED25519_SECRET], const void *message,
    size_t len, uint8_t ret[ED25519_SIG])
{
	/* Documented to return 0 always; there is nothing to hand on. */
	(void)crypto_sign_detached(ret, NULL, message, len, secret_key);
}
