/*
 * audit/keys.c - the signer's keys.  Linked by the signer only.  Seeds pass
 * through locked memory and nothing else; every copy is wiped.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/keys_file.h"
#include "audit/signer.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

#define ID_HEX       32
#define RECORD_LINES "bailiff record key 1\n"
#define LOG_FORMAT   "bailiff log key 1\nlog %s\norigin %s\n"
#define NAME_LEN     48

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

static void record_name(uint64_t epoch, char ret[NAME_LEN])
{
	(void)snprintf(
	    ret, NAME_LEN, "record-%llu.key", (unsigned long long)epoch);
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
	struct locked *l = keys_locked(k);
	char origin[SIGNER_ORIGIN_MAX];
	struct keys_seal seal;
	AUTO_FD fd = -1;
	bool sealed;

	if (store_open_file(&file, O_RDONLY, &fd, e) == 0)
		return FAIL(e, ERROR_STATE,
		    "this log has a key already; leave --new-log out");
	if (e->saved_errno != ENOENT)
		return -1;
	if (keys_seal_read(k->dir_fd, &seal, &sealed, e) < 0)
		return -1;
	/* A seal without a log is what a crash left of the last attempt. */
	if (what->secret != NULL &&
	    (keys_seal_make(k->dir_fd, &seal, e) < 0 ||
	        keys_seal_derive(k, &seal, what->secret, e) < 0))
		return -1;
	if (what->secret == NULL && sealed)
		return FAIL(e, ERROR_STATE,
		    "keys/seal is there without a key; begin again with "
		    "bailiff "
		    "key init --seal, or remove it");
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
	struct locked *l = keys_locked(k);
	char id[ID_HEX + 1];
	int failed;

	(void)sodium_bin2hex(id, sizeof(id), k->log_id, sizeof(k->log_id));
	(void)snprintf(
	    l->text, sizeof(l->text), LOG_FORMAT, id, k->log_note.name);
	/* libsodium's secret key begins with the seed. */
	memcpy(l->seed, l->log, sizeof(l->seed));
	failed = keys_file_write(k, SIGNER_KEY_FILE, e);
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	return failed;
}

/* Split what keys_commit wrote, the seed taken off; 'text' is modified. */
static int parse_lines(
    char *text, uint8_t ret_id[16], const char **ret_origin, struct error *e)
{
	char *lines[3];
	char *at = text;
	size_t n = 0;

	for (size_t i = 0; i < 3; i++) {
		lines[i] = at;
		at = strchr(at, '\n');
		if (at == NULL)
			return FAIL(
			    e, ERROR_MALFORMED, SIGNER_KEY_FILE " is damaged");
		*at++ = '\0';
	}
	if (strcmp(lines[0], "bailiff log key 1") != 0 ||
	    strncmp(lines[1], "log ", 4) != 0 ||
	    strncmp(lines[2], "origin ", 7) != 0 || *at != '\0' ||
	    sodium_hex2bin(ret_id, 16, lines[1] + 4, strlen(lines[1] + 4), NULL,
	        &n, NULL) != 0 ||
	    n != 16)
		return FAIL(e, ERROR_MALFORMED, SIGNER_KEY_FILE " is damaged");
	*ret_origin = lines[2] + 7;
	return 0;
}

static int unseal(
    struct keys *k, const struct keys_secret *secret, struct error *e)
{
	struct keys_seal seal;
	bool sealed;

	if (keys_seal_read(k->dir_fd, &seal, &sealed, e) < 0)
		return -1;
	if (!sealed)
		return 0;
	if (secret == NULL)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the keys are sealed: open them with bailiff key unlock, "
		    "or "
		    "give the service the credential " KEYS_CREDENTIAL);
	return keys_seal_derive(k, &seal, secret, e);
}

static int open_keys(
    struct keys *k, const struct keys_secret *secret, struct error *e)
{
	struct locked *l = keys_locked(k);
	const char *origin;

	if (unseal(k, secret, e) < 0 ||
	    keys_file_read(k, SIGNER_KEY_FILE, e) < 0 ||
	    parse_lines(l->text, k->log_id, &origin, e) < 0)
		return -1;
	(void)crypto_sign_seed_keypair(
	    k->log.public_key, k->log.secret, l->seed);
	sodium_memzero(l->seed, sizeof(l->seed));
	return note_key_make(
	    origin, NOTE_LOG, k->log.public_key, &k->log_note, e);
}

int keys_open(int dir_fd, const struct keys_secret *secret, struct keys *ret,
    struct error *e)
{
	struct keys k;

	if (keys_new(dir_fd, &k, e) < 0)
		return -1;
	if (open_keys(&k, secret, e) < 0) {
		keys_close(&k);
		return -1;
	}
	sodium_memzero(keys_locked(&k)->text, KEYS_TEXT_MAX);
	*ret = k;
	return 0;
}

static int describe(struct keys *k, struct keys_about *ret, struct error *e)
{
	struct locked *l = keys_locked(k);
	uint8_t id[16];
	const char *origin;

	if (keys_seal_read(k->dir_fd, &ret->seal, &ret->sealed, e) < 0 ||
	    (ret->sealed ? keys_file_peek(k, SIGNER_KEY_FILE, e)
	                 : keys_file_read(k, SIGNER_KEY_FILE, e)) < 0 ||
	    parse_lines(l->text, id, &origin, e) < 0)
		return -1;
	(void)sodium_bin2hex(
	    ret->log_id_hex, sizeof(ret->log_id_hex), id, sizeof(id));
	(void)snprintf(ret->origin, sizeof(ret->origin), "%s", origin);
	if (ret->sealed)
		return 0;
	(void)crypto_sign_seed_keypair(
	    k->log.public_key, k->log.secret, l->seed);
	return note_key_make(origin, NOTE_LOG, k->log.public_key, &ret->key, e);
}

int keys_describe(int dir_fd, struct keys_about *ret, struct error *e)
{
	struct keys k;
	int failed;

	if (keys_new(dir_fd, &k, e) < 0)
		return -1;
	failed = describe(&k, ret, e);
	keys_close(&k);
	return failed;
}

/* The public key of an epoch's seed file; the secret lands in 'secret'. */
static int load(
    struct keys *k, uint64_t epoch, struct keys_pair *ret, struct error *e)
{
	struct locked *l = keys_locked(k);
	char name[NAME_LEN];
	int failed = 0;

	record_name(epoch, name);
	if (keys_file_read(k, name, e) < 0)
		return -1;
	if (strcmp(l->text, RECORD_LINES) != 0)
		failed = FAIL(e, ERROR_MALFORMED, "%s is damaged", name);
	if (failed == 0)
		(void)crypto_sign_seed_keypair(
		    ret->public_key, ret->secret, l->seed);
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	return failed;
}

static int make_record(struct keys *k, uint64_t epoch, struct error *e)
{
	struct locked *l = keys_locked(k);
	char name[NAME_LEN];
	int failed;

	record_name(epoch, name);
	randombytes_buf(l->seed, sizeof(l->seed));
	(void)snprintf(l->text, sizeof(l->text), RECORD_LINES);
	failed = keys_file_write(k, name, e);
	sodium_memzero(l->text, sizeof(l->text));
	sodium_memzero(l->seed, sizeof(l->seed));
	return failed;
}

int keys_prepare(
    struct keys *k, uint64_t epoch, const uint8_t *announced, struct error *e)
{
	struct keys_pair pair = { .secret = keys_locked(k)->scratch };
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
	struct keys_pair after = { .secret = keys_locked(k)->scratch };

	if (load(k, epoch, &k->record, e) < 0 ||
	    load(k, epoch + 1, &after, e) < 0)
		return -1;
	memcpy(k->next, after.public_key, sizeof(k->next));
	sodium_memzero(after.secret, ED25519_SECRET);
	return 0;
}

static int forget(struct keys *k, uint64_t epoch, struct error *e)
{
	char name[NAME_LEN];

	record_name(epoch, name);
	return keys_file_forget(k, name, e);
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
