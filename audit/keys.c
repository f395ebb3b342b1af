/*
 * audit/keys.c - the signer's keys.  Linked by the signer only.  Seeds pass
 * through locked memory and nothing else; every copy is wiped.
 */
#include "audit/keys.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/signer.h"
#include "audit/store_file.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

#define SEED_HEX      ((size_t)2 * crypto_sign_SEEDBYTES)
#define ID_HEX        32
#define RECORD_PREFIX "bailiff record key 1\nseed "
#define LOG_FORMAT    "bailiff log key 1\nlog %s\norigin %s\nseed "
#define TEXT_MAX      1024
#define NAME_LEN      48

/* What one mapping of locked memory holds. */
struct locked {
	uint8_t log[ED25519_SECRET];
	uint8_t record[ED25519_SECRET];
	uint8_t scratch[ED25519_SECRET];
	uint8_t seed[crypto_sign_SEEDBYTES];
	char text[TEXT_MAX];
};

static int locked_new(struct locked **ret, struct error *e)
{
	struct locked *l = sodium_malloc(sizeof(*l));

	if (l == NULL)
		return FAIL_SYS(e, "allocate memory for keys");
	/* sodium_malloc goes on when it cannot lock; we do not. */
	if (sodium_mlock(l, sizeof(*l)) < 0) {
		sodium_free(l);
		return FAIL_SYS(
		    e, "lock memory for keys (RLIMIT_MEMLOCK too low?)");
	}
	*ret = l;
	return 0;
}

static struct locked *locked_of(const struct keys *k)
{
	return (struct locked *)(void *)k->locked;
}

static void record_name(uint64_t epoch, char ret[NAME_LEN])
{
	(void)snprintf(
	    ret, NAME_LEN, "record-%llu.key", (unsigned long long)epoch);
}

/* The 64 digits of a seed at 'hex', then LF and the end. */
static int parse_seed(
    struct locked *l, const char *hex, const char *name, struct error *e)
{
	size_t n = 0;
	const char *end = NULL;

	if (strlen(hex) != SEED_HEX + 1 || hex[SEED_HEX] != '\n' ||
	    sodium_hex2bin(
	        l->seed, sizeof(l->seed), hex, SEED_HEX, NULL, &n, &end) != 0 ||
	    n != sizeof(l->seed))
		return FAIL(e, ERROR_MALFORMED, "%s is damaged", name);
	return 0;
}

static int read_private(
    const struct store_file *file, struct locked *l, struct error *e)
{
	AUTO_FD fd = -1;
	size_t len;

	if (store_read(file, l->text, sizeof(l->text), &len, e) < 0)
		return -1;
	if (store_open_file(file, O_RDONLY, &fd, e) < 0)
		return -1;
	return store_check_private(fd, file->name, e);
}

static int write_private(
    const struct store_file *file, struct locked *l, struct error *e)
{
	size_t at = strlen(l->text);

	(void)sodium_bin2hex(
	    l->text + at, sizeof(l->text) - at, l->seed, sizeof(l->seed));
	at += SEED_HEX;
	l->text[at++] = '\n';
	return store_replace(
	    file, (struct store_bytes){ l->text, at }, STORE_SYNC, e);
}

static int write_pin(
    const struct keys_new *what, const struct note_key *key, struct error *e)
{
	const struct store_file file = { what->pin_fd, SIGNER_PIN_FILE };
	char text[NOTE_KEY_MAX];
	struct text_out out = { text, sizeof(text), 0 };
	AUTO_FD fd = -1;

	if (note_key_format(key, &out, e) < 0)
		return -1;
	if (store_open_file(&file, O_WRONLY | O_CREAT | O_EXCL, &fd, e) < 0)
		return -1;
	if (file_write_all(fd, text, out.len, e) < 0)
		return FAIL_IN(e, "%s", file.name);
	/* Public: auditors of any account pin it. */
	if (fchmod(fd, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) < 0 ||
	    fsync(fd) < 0 || fsync(what->pin_fd) < 0)
		return FAIL_SYS(e, "write %s", file.name);
	return 0;
}

static int create(struct keys *k, const struct keys_new *what, struct error *e)
{
	const struct store_file file = { k->dir_fd, SIGNER_KEY_FILE };
	struct locked *l = locked_of(k);
	char origin[SIGNER_ORIGIN_MAX];
	size_t len;

	if (store_read(&file, l->text, sizeof(l->text), &len, e) == 0)
		return FAIL(e, ERROR_STATE,
		    "this log has a key already; leave --new-log out");
	if (e->kind != ERROR_CLOSED)
		return -1;
	if (strlen(what->log_id_hex) != ID_HEX ||
	    strspn(what->log_id_hex, "0123456789abcdef") != ID_HEX ||
	    sodium_hex2bin(k->log_id, sizeof(k->log_id), what->log_id_hex,
	        ID_HEX, NULL, NULL, NULL) != 0)
		return FAIL(
		    e, ERROR_USAGE, "a log id is 32 lower-case hex digits");
	(void)snprintf(
	    origin, sizeof(origin), "localhost/bailiff/%s", what->log_id_hex);
	if (what->origin != NULL)
		(void)snprintf(origin, sizeof(origin), "%s", what->origin);
	randombytes_buf(l->seed, sizeof(l->seed));
	(void)crypto_sign_seed_keypair(
	    k->log.public_key, k->log.secret, l->seed);
	sodium_memzero(l->seed, sizeof(l->seed));
	if (note_key_make(
	        origin, NOTE_LOG, k->log.public_key, &k->log_note, e) < 0)
		return FAIL_IN(e, "origin");
	return write_pin(what, &k->log_note, e);
}

static int keys_new(int dir_fd, struct keys *ret, struct error *e)
{
	struct locked *l;

	if (locked_new(&l, e) < 0)
		return -1;
	*ret = (struct keys){ .dir_fd = dir_fd, .locked = (uint8_t *)l };
	ret->log.secret = l->log;
	ret->record.secret = l->record;
	return 0;
}

int keys_create(
    int dir_fd, const struct keys_new *what, struct keys *ret, struct error *e)
{
	struct keys k;

	if (keys_new(dir_fd, &k, e) < 0)
		return -1;
	if (create(&k, what, e) < 0) {
		keys_close(&k);
		return -1;
	}
	*ret = k;
	return 0;
}

int keys_commit(struct keys *k, struct error *e)
{
	const struct store_file file = { k->dir_fd, SIGNER_KEY_FILE };
	struct locked *l = locked_of(k);
	char id[ID_HEX + 1];
	int failed;

	(void)sodium_bin2hex(id, sizeof(id), k->log_id, sizeof(k->log_id));
	(void)snprintf(
	    l->text, sizeof(l->text), LOG_FORMAT, id, k->log_note.name);
	/* libsodium's secret key begins with the seed. */
	memcpy(l->seed, l->log, sizeof(l->seed));
	failed = write_private(&file, l, e);
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	return failed;
}

/* Split what keys_commit wrote; 'text' is modified. */
static int parse_log_key(struct keys *k, struct locked *l, struct error *e)
{
	char *lines[4];
	char *at = l->text;
	size_t n = 0;

	for (size_t i = 0; i < 3; i++) {
		lines[i] = at;
		at = strchr(at, '\n');
		if (at == NULL)
			return FAIL(
			    e, ERROR_MALFORMED, SIGNER_KEY_FILE " is damaged");
		*at++ = '\0';
	}
	lines[3] = at;
	if (strcmp(lines[0], "bailiff log key 1") != 0 ||
	    strncmp(lines[1], "log ", 4) != 0 ||
	    strncmp(lines[2], "origin ", 7) != 0 ||
	    strncmp(lines[3], "seed ", 5) != 0 ||
	    sodium_hex2bin(k->log_id, sizeof(k->log_id), lines[1] + 4,
	        strlen(lines[1] + 4), NULL, &n, NULL) != 0 ||
	    n != sizeof(k->log_id))
		return FAIL(e, ERROR_MALFORMED, SIGNER_KEY_FILE " is damaged");
	if (parse_seed(l, lines[3] + 5, SIGNER_KEY_FILE, e) < 0)
		return -1;
	(void)crypto_sign_seed_keypair(
	    k->log.public_key, k->log.secret, l->seed);
	return note_key_make(
	    lines[2] + 7, NOTE_LOG, k->log.public_key, &k->log_note, e);
}

int keys_open(int dir_fd, struct keys *ret, struct error *e)
{
	const struct store_file file = { dir_fd, SIGNER_KEY_FILE };
	struct keys k;
	struct locked *l;

	if (keys_new(dir_fd, &k, e) < 0)
		return -1;
	l = locked_of(&k);
	if (read_private(&file, l, e) < 0 || parse_log_key(&k, l, e) < 0) {
		keys_close(&k);
		return -1;
	}
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	*ret = k;
	return 0;
}

/* The public key of an epoch's seed file; the secret lands in 'secret'. */
static int load(
    struct keys *k, uint64_t epoch, struct keys_pair *ret, struct error *e)
{
	struct locked *l = locked_of(k);
	char name[NAME_LEN];
	const struct store_file file = { k->dir_fd, name };
	int failed;

	record_name(epoch, name);
	if (read_private(&file, l, e) < 0)
		return -1;
	if (strncmp(l->text, RECORD_PREFIX, strlen(RECORD_PREFIX)) != 0)
		failed = FAIL(e, ERROR_MALFORMED, "%s is damaged", name);
	else
		failed =
		    parse_seed(l, l->text + strlen(RECORD_PREFIX), name, e);
	if (failed == 0)
		(void)crypto_sign_seed_keypair(
		    ret->public_key, ret->secret, l->seed);
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	return failed;
}

static int make_record(struct keys *k, uint64_t epoch, struct error *e)
{
	struct locked *l = locked_of(k);
	char name[NAME_LEN];
	const struct store_file file = { k->dir_fd, name };
	int failed;

	record_name(epoch, name);
	randombytes_buf(l->seed, sizeof(l->seed));
	(void)snprintf(l->text, sizeof(l->text), RECORD_PREFIX);
	failed = write_private(&file, l, e);
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	return failed;
}

int keys_prepare(
    struct keys *k, uint64_t epoch, const uint8_t *announced, struct error *e)
{
	struct keys_pair pair = { .secret = locked_of(k)->scratch };
	uint8_t digest[SHA256_BYTES];

	for (uint64_t i = epoch; i <= epoch + 1; i++) {
		if (load(k, i, &pair, e) < 0) {
			if (e->kind != ERROR_CLOSED ||
			    (i == epoch && announced != NULL))
				return -1;
			if (make_record(k, i, e) < 0 ||
			    load(k, i, &pair, e) < 0)
				return -1;
		}
		sha256_of(pair.public_key, sizeof(pair.public_key), digest);
		if (i == epoch && announced != NULL &&
		    memcmp(digest, announced, sizeof(digest)) != 0)
			return FAIL(e, ERROR_TAMPERED,
			    "the key of epoch %llu is not the one that the log "
			    "announced; keys/ belongs to another state of it",
			    (unsigned long long)epoch);
	}
	sodium_memzero(pair.secret, ED25519_SECRET);
	return 0;
}

int keys_load_record(struct keys *k, uint64_t epoch, struct error *e)
{
	struct keys_pair after = { .secret = locked_of(k)->scratch };

	if (load(k, epoch, &k->record, e) < 0 ||
	    load(k, epoch + 1, &after, e) < 0)
		return -1;
	memcpy(k->next, after.public_key, sizeof(k->next));
	sodium_memzero(after.secret, ED25519_SECRET);
	return 0;
}

/*
 * Overwritten before the name goes.  A journal or a flash drive may keep an
 * old block all the same; nothing above the disk can help that.  A file system
 * that needs space to overwrite is of that kind, so there the name goes alone.
 */
static int forget(struct keys *k, uint64_t epoch, struct error *e)
{
	static const uint8_t zeros[TEXT_MAX];
	char name[NAME_LEN];
	const struct store_file file = { k->dir_fd, name };
	struct stat st;
	AUTO_FD fd = -1;

	record_name(epoch, name);
	if (store_open_file(&file, O_WRONLY, &fd, e) < 0)
		return e->saved_errno == ENOENT ? 0 : -1;
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at %s", name);
	if ((size_t)st.st_size > sizeof(zeros))
		return FAIL(e, ERROR_MALFORMED, "%s is damaged", name);
	if (file_write_all(fd, zeros, (size_t)st.st_size, e) < 0 &&
	    !store_is_full(e))
		return FAIL_IN(e, "%s", name);
	if (fdatasync(fd) < 0 || unlinkat(k->dir_fd, name, 0) < 0)
		return FAIL_SYS(e, "forget %s", name);
	return 0;
}

int keys_forget(struct keys *k, uint64_t epoch, struct error *e)
{
	if (epoch > 0 && forget(k, epoch - 1, e) < 0)
		return -1;
	return forget(k, epoch, e);
}

void keys_end_record(struct keys *k)
{
	sodium_memzero(k->record.secret, ED25519_SECRET);
}

void keys_close(struct keys *k)
{
	if (k->locked != NULL)
		sodium_free(k->locked); /* wipes */
	k->locked = NULL;
}
