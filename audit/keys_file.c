/*
 * audit/keys_file.c - seeds on disk.  Linked by the signer.  A seed passes
 * through locked memory and nothing else; every copy is wiped.
 */
#include "audit/keys_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

#define PLAIN     "seed "
#define SEALED    "sealed "
#define SEED_HEX  ((size_t)2 * KEYS_SEED)
#define NONCE     crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define NONCE_HEX ((size_t)2 * NONCE)
#define BOX       (KEYS_SEED + crypto_aead_xchacha20poly1305_ietf_ABYTES)
#define BOX_HEX   ((size_t)2 * BOX)
#define BOUND_MAX (KEYS_TEXT_MAX + 64)

struct locked *keys_locked(const struct keys *k)
{
	return (struct locked *)(void *)k->locked;
}

/* What a box is bound to: the name of its file, a NUL, the lines before it. */
static size_t bind_to(
    const char *name, const char *lines, size_t n, char ret[BOUND_MAX])
{
	size_t at = strlen(name) + 1;

	if (at > BOUND_MAX - KEYS_TEXT_MAX)
		at = BOUND_MAX - KEYS_TEXT_MAX;
	memcpy(ret, name, at);
	memcpy(ret + at, lines, n);
	return at + n;
}

static int damaged(const char *name, struct error *e)
{
	return FAIL(e, ERROR_MALFORMED, "%s is damaged", name);
}

static bool read_hex(const char *hex, uint8_t *ret, size_t len)
{
	size_t n = 0;

	return sodium_hex2bin(ret, len, hex, 2 * len, NULL, &n, NULL) == 0 &&
	       n == len;
}

static int open_box(struct keys *k, const char *name, const char *line,
    size_t before, struct error *e)
{
	struct locked *l = keys_locked(k);
	const char *hex = line + strlen(SEALED);
	uint8_t nonce[NONCE], box[BOX];
	char bound[BOUND_MAX];
	size_t n_bound = bind_to(name, l->text, before, bound);

	if (strlen(hex) != NONCE_HEX + 1 + BOX_HEX + 1 ||
	    hex[NONCE_HEX] != ' ' || hex[NONCE_HEX + 1 + BOX_HEX] != '\n' ||
	    !read_hex(hex, nonce, NONCE) ||
	    !read_hex(hex + NONCE_HEX + 1, box, BOX))
		return damaged(name, e);
	if (crypto_aead_xchacha20poly1305_ietf_decrypt(l->seed, NULL, NULL, box,
	        sizeof(box), (const uint8_t *)bound, n_bound, nonce,
	        l->seal) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "the passphrase does not open %s: it is another one, or "
		    "the file was changed",
		    name);
	return 0;
}

/* The last line, after which 'before' bytes of lines are left. */
static int take_seed(struct keys *k, const char *name, struct error *e)
{
	struct locked *l = keys_locked(k);
	size_t len = strlen(l->text);
	char *line = len > 1 ? memrchr(l->text, '\n', len - 1) : NULL;
	size_t before;

	if (line == NULL)
		return damaged(name, e);
	line++;
	before = (size_t)(line - l->text);
	if (strncmp(line, SEALED, strlen(SEALED)) == 0) {
		if (!k->sealed)
			return FAIL(e, ERROR_TAMPERED,
			    "%s is sealed, but keys/seal is gone", name);
		if (open_box(k, name, line, before, e) < 0)
			return -1;
	} else {
		if (k->sealed)
			return FAIL(e, ERROR_TAMPERED,
			    "%s is not sealed, but keys/seal says that all are",
			    name);
		if (strncmp(line, PLAIN, strlen(PLAIN)) != 0 ||
		    strlen(line) != strlen(PLAIN) + SEED_HEX + 1 ||
		    line[strlen(PLAIN) + SEED_HEX] != '\n' ||
		    !read_hex(line + strlen(PLAIN), l->seed, KEYS_SEED))
			return damaged(name, e);
	}
	sodium_memzero(line, len - before);
	return 0;
}

static int read_text(struct keys *k, const char *name, struct error *e)
{
	const struct store_file file = { k->dir_fd, name };
	struct locked *l = keys_locked(k);
	AUTO_FD fd = -1;
	size_t len;

	if (store_read(&file, l->text, sizeof(l->text), &len, e) < 0)
		return -1;
	if (store_open_file(&file, O_RDONLY, &fd, e) < 0 ||
	    store_check_private(fd, name, e) < 0)
		return -1;
	return strlen(l->text) == len ? 0 : damaged(name, e);
}

int keys_file_read(struct keys *k, const char *name, struct error *e)
{
	return read_text(k, name, e) < 0 ? -1 : take_seed(k, name, e);
}

int keys_file_peek(struct keys *k, const char *name, struct error *e)
{
	struct locked *l = keys_locked(k);
	size_t len;
	char *line;

	if (read_text(k, name, e) < 0)
		return -1;
	len = strlen(l->text);
	line = len > 1 ? memrchr(l->text, '\n', len - 1) : NULL;
	if (line == NULL)
		return damaged(name, e);
	sodium_memzero(line + 1, len - (size_t)(line + 1 - l->text));
	return 0;
}

static void put_hex(struct locked *l, const uint8_t *from, size_t n)
{
	size_t at = strlen(l->text);

	(void)sodium_bin2hex(l->text + at, sizeof(l->text) - at, from, n);
}

static void put_text(struct locked *l, const char *text)
{
	size_t at = strlen(l->text);

	(void)snprintf(l->text + at, sizeof(l->text) - at, "%s", text);
}

static int put_box(struct keys *k, const char *name, struct error *e)
{
	struct locked *l = keys_locked(k);
	uint8_t nonce[NONCE], box[BOX];
	char bound[BOUND_MAX];
	size_t n_bound = bind_to(name, l->text, strlen(l->text), bound);

	randombytes_buf(nonce, sizeof(nonce));
	if (crypto_aead_xchacha20poly1305_ietf_encrypt(box, NULL, l->seed,
	        sizeof(l->seed), (const uint8_t *)bound, n_bound, NULL, nonce,
	        l->seal) != 0)
		return FAIL(e, ERROR_STATE, "seal %s", name);
	put_text(l, SEALED);
	put_hex(l, nonce, sizeof(nonce));
	put_text(l, " ");
	put_hex(l, box, sizeof(box));
	return 0;
}

int keys_file_write(struct keys *k, const char *name, struct error *e)
{
	const struct store_file file = { k->dir_fd, name };
	struct locked *l = keys_locked(k);

	if (!k->sealed) {
		put_text(l, PLAIN);
		put_hex(l, l->seed, sizeof(l->seed));
	} else if (put_box(k, name, e) < 0) {
		return -1;
	}
	put_text(l, "\n");
	return store_replace(&file,
	    (struct store_bytes){ l->text, strlen(l->text) }, STORE_SYNC, e);
}

/*
 * Overwritten before the name goes.  A journal or a flash drive may keep an
 * old block all the same; nothing above the disk can help that.  A file system
 * that needs space to overwrite is of that kind, so there the name goes alone.
 */
int keys_file_forget(struct keys *k, const char *name, struct error *e)
{
	static const uint8_t zeros[KEYS_TEXT_MAX];
	const struct store_file file = { k->dir_fd, name };
	struct stat st;
	AUTO_FD fd = -1;

	if (store_open_file(&file, O_WRONLY, &fd, e) < 0)
		return e->saved_errno == ENOENT ? 0 : -1;
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at %s", name);
	if ((size_t)st.st_size > sizeof(zeros))
		return damaged(name, e);
	if (file_write_all(fd, zeros, (size_t)st.st_size, e) < 0 &&
	    !store_is_full(e))
		return FAIL_IN(e, "%s", name);
	if (fdatasync(fd) < 0 || unlinkat(k->dir_fd, name, 0) < 0)
		return FAIL_SYS(e, "forget %s", name);
	return 0;
}
