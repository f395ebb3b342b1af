/*
 * audit/keys_seal.c - from a passphrase to the key that seals keys/.  Linked by
 * the signer and bailiff-key.  The numbers in keys/seal are whoever's who could
 * write there, so they are bounded: too much memory would stop every start, too
 * little would make guessing cheap.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/keys_file.h"
#include "base/file.h"
#include "base/number.h"

#define SEAL_FILE   "seal"
#define SEAL_START  "bailiff seal 1\nargon2id "
#define SEAL_FORMAT SEAL_START "%llu %llu %s\n"
/* One LF and one byte too many. */
#define SECRET_ROOM (KEYS_SECRET_MAX + 2)
#define SEAL_TEXT   256
#define SALT_HEX    (2 * crypto_pwhash_argon2id_SALTBYTES + 1)

/* libsodium's INTERACTIVE: 0.3 s here, and a signer starts with most services
 * that were idle. */
#define PASSES     crypto_pwhash_argon2id_OPSLIMIT_INTERACTIVE
#define MEMORY     crypto_pwhash_argon2id_MEMLIMIT_INTERACTIVE
#define PASSES_MIN 2
#define PASSES_MAX 16
#define MEMORY_MIN (64ull << 20)
#define MEMORY_MAX (1024ull << 20)

static int format(
    const struct keys_seal *seal, char ret[SEAL_TEXT], struct error *e)
{
	char salt[SALT_HEX];
	int n;

	(void)sodium_bin2hex(
	    salt, sizeof(salt), seal->salt, sizeof(seal->salt));
	n = snprintf(ret, SEAL_TEXT, SEAL_FORMAT,
	    (unsigned long long)seal->passes,
	    (unsigned long long)seal->memory_bytes, salt);
	return n > 0 && n < SEAL_TEXT
	           ? 0
	           : FAIL(e, ERROR_LIMIT, "keys/seal is too long");
}

/* The two numbers and the salt, each ended by a NUL; false unless all are there. */
static bool split(char *text, char *ret[3])
{
	static const char ends[] = { ' ', ' ', '\n' };
	char *at = text + strlen(SEAL_START);

	if (strncmp(text, SEAL_START, strlen(SEAL_START)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(ends); i++) {
		ret[i] = at;
		at = strchr(at, ends[i]);
		if (at == NULL)
			return false;
		*at++ = '\0';
	}
	return *at == '\0' && strlen(ret[2]) == SALT_HEX - 1;
}

/* 'text' is modified. */
static int parse(char *text, struct keys_seal *ret, struct error *e)
{
	const struct number_range passes = { PASSES_MIN, PASSES_MAX };
	const struct number_range memory = { MEMORY_MIN, MEMORY_MAX };
	char *parts[3];

	if (!split(text, parts) ||
	    sodium_hex2bin(ret->salt, sizeof(ret->salt), parts[2], SALT_HEX - 1,
	        NULL, NULL, NULL) != 0)
		return FAIL(e, ERROR_MALFORMED, "seal is damaged");
	if (number_parse(parts[0], "seal: passes", passes, &ret->passes, e) <
	        0 ||
	    number_parse(parts[1], "seal: bytes of memory", memory,
	        &ret->memory_bytes, e) < 0)
		return -1;
	return 0;
}

int keys_seal_read(
    int dir_fd, struct keys_seal *ret, bool *ret_sealed, struct error *e)
{
	const struct store_file file = { dir_fd, SEAL_FILE };
	char text[SEAL_TEXT];
	size_t len;

	*ret_sealed = false;
	if (store_read(&file, text, sizeof(text), &len, e) < 0)
		return e->kind == ERROR_CLOSED ? 0 : -1;
	if (strlen(text) != len || parse(text, ret, e) < 0)
		return FAIL_IN(e, "keys/");
	*ret_sealed = true;
	return 0;
}

int keys_seal_make(int dir_fd, struct keys_seal *ret, struct error *e)
{
	const struct store_file file = { dir_fd, SEAL_FILE };
	char text[SEAL_TEXT];

	ret->passes = PASSES;
	ret->memory_bytes = MEMORY;
	randombytes_buf(ret->salt, sizeof(ret->salt));
	if (format(ret, text, e) < 0)
		return -1;
	return store_replace(
	    &file, (struct store_bytes){ text, strlen(text) }, STORE_SYNC, e);
}

int keys_seal_derive(struct keys *k, const struct keys_seal *seal,
    const struct keys_secret *secret, struct error *e)
{
	struct locked *l = keys_locked(k);

	if (crypto_pwhash_argon2id(l->seal, sizeof(l->seal),
	        (const char *)secret->data, secret->len, seal->salt,
	        seal->passes, (size_t)seal->memory_bytes,
	        crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "no memory to open the sealed keys: argon2id needs %llu "
		    "MiB",
		    (unsigned long long)seal->memory_bytes >> 20);
	k->sealed = true;
	return 0;
}

/* To the end, or until it is too much. */
static int read_secret(int fd, uint8_t *data, size_t *ret_len, struct error *e)
{
	size_t len = 0;

	while (len < SECRET_ROOM) {
		ssize_t got = read(fd, data + len, SECRET_ROOM - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read the passphrase");
		if (got == 0)
			break;
		len += (size_t)got;
	}
	/* Whoever types or echoes it ends the line. */
	if (len > 0 && data[len - 1] == '\n')
		len--;
	if (len == 0)
		return FAIL(e, ERROR_USAGE, "the passphrase is empty");
	if (len > KEYS_SECRET_MAX)
		return FAIL(e, ERROR_USAGE,
		    "the passphrase is longer than %d bytes", KEYS_SECRET_MAX);
	*ret_len = len;
	return 0;
}

int keys_secret_read(int fd, struct keys_secret *ret, struct error *e)
{
	struct keys_secret s = { sodium_malloc(SECRET_ROOM), 0 };

	if (s.data == NULL)
		return FAIL_SYS(e, "allocate memory for the passphrase");
	if (sodium_mlock(s.data, SECRET_ROOM) < 0) {
		(void)FAIL_SYS(e, "lock memory for the passphrase");
		keys_secret_done(&s);
		return -1;
	}
	if (read_secret(fd, s.data, &s.len, e) < 0) {
		keys_secret_done(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void keys_secret_done(struct keys_secret *s)
{
	sodium_free(s->data); /* wipes */
	*s = (struct keys_secret){ NULL, 0 };
}
