/*
 * tests/unit/test_keys.c - keys on disk: made once, kept for one epoch more
 * than needed, forgotten, and refused when they are not ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/keys.h"
#include "audit/signer.h"
#include "base/sha256.h"

#define LOG_ID "00112233445566778899aabbccddeeff"

struct fixture {
	char dir[64];
	int keys_fd, pin_fd;
	struct keys keys;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct keys_new what = { .log_id_hex = LOG_ID };
	struct error e = { 0 };

	assert_non_null(f);
	assert_true(sodium_init() >= 0);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/bailiff-keys-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->keys_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->keys_fd >= 0);
	assert_int_equal(mkdirat(f->keys_fd, "pin", 0700), 0);
	f->pin_fd =
	    openat(f->keys_fd, "pin", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	what.pin_fd = f->pin_fd;
	assert_int_equal(keys_create(f->keys_fd, &what, &f->keys, &e), 0);
	*state = f;
	return 0;
}

static int remove_one(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	keys_close(&f->keys);
	(void)close(f->keys_fd);
	(void)close(f->pin_fd);
	(void)nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static bool there(const struct fixture *f, const char *name)
{
	return faccessat(f->keys_fd, name, F_OK, 0) == 0;
}

static void log_exists_only_once_committed(void **state)
{
	struct fixture *f = *state;
	struct keys_new again = { .log_id_hex = LOG_ID, .pin_fd = f->pin_fd };
	struct keys k;
	struct error e = { 0 };

	assert_true(there(f, "pin/" SIGNER_PIN_FILE));
	assert_false(there(f, SIGNER_KEY_FILE));
	assert_int_equal(keys_open(f->keys_fd, NULL, &k, &e), -1);
	assert_int_equal(keys_commit(&f->keys, &e), 0);
	assert_int_equal(keys_open(f->keys_fd, NULL, &k, &e), 0);
	assert_memory_equal(k.log.secret, f->keys.log.secret, ED25519_SECRET);
	assert_string_equal(k.log_note.name, "localhost/bailiff/" LOG_ID);
	assert_memory_equal(k.log_id, f->keys.log_id, sizeof(k.log_id));
	keys_close(&k);
	assert_int_equal(keys_create(f->keys_fd, &again, &k, &e), -1);
	assert_int_equal(e.kind, ERROR_STATE);
}

static void pin_is_the_public_half(void **state)
{
	struct fixture *f = *state;
	struct note_key key;
	char text[NOTE_KEY_MAX] = "";
	struct error e = { 0 };
	struct stat st;
	int fd = openat(f->pin_fd, SIGNER_PIN_FILE, O_RDONLY | O_CLOEXEC);

	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	(void)close(fd);
	assert_int_equal(note_key_parse(text, strlen(text), &key, &e), 0);
	assert_memory_equal(key.public_key, f->keys.log.public_key, 32);
}

static void seeds_of_an_epoch_and_the_next_until_forgotten(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	uint8_t announced[32];
	uint8_t first[32];

	assert_int_equal(keys_prepare(&f->keys, 0, NULL, &e), 0);
	assert_true(there(f, "record-0.key") && there(f, "record-1.key"));
	assert_int_equal(keys_load_record(&f->keys, 0, &e), 0);
	memcpy(first, f->keys.record.public_key, sizeof(first));
	sha256_of(f->keys.next, sizeof(f->keys.next), announced);

	/* A crash before the opening record: the same keys again. */
	assert_int_equal(keys_prepare(&f->keys, 0, NULL, &e), 0);
	assert_int_equal(keys_load_record(&f->keys, 0, &e), 0);
	assert_memory_equal(f->keys.record.public_key, first, sizeof(first));

	assert_int_equal(keys_forget(&f->keys, 0, &e), 0);
	assert_false(there(f, "record-0.key"));
	assert_int_equal(keys_forget(&f->keys, 0, &e), 0);
	assert_int_equal(keys_prepare(&f->keys, 1, announced, &e), 0);
	assert_true(there(f, "record-1.key") && there(f, "record-2.key"));
	assert_int_equal(keys_load_record(&f->keys, 1, &e), 0);
	keys_end_record(&f->keys);
	for (size_t i = 0; i < ED25519_SECRET; i++)
		assert_int_equal(f->keys.record.secret[i], 0);
}

static void announced_key_must_be_there_and_match(void **state)
{
	struct fixture *f = *state;
	uint8_t other[32] = { 1 };
	struct error e = { 0 };

	assert_int_equal(keys_prepare(&f->keys, 0, NULL, &e), 0);
	assert_int_equal(keys_prepare(&f->keys, 1, other, &e), -1);
	assert_int_equal(e.kind, ERROR_TAMPERED);
	assert_int_equal(unlinkat(f->keys_fd, "record-1.key", 0), 0);
	assert_int_equal(keys_prepare(&f->keys, 1, other, &e), -1);
	assert_int_equal(e.kind, ERROR_CLOSED);
	assert_false(there(f, "record-1.key"));
}

static void damaged_or_shared_key_files_are_refused(void **state)
{
	static const char *const texts[] = { "", "bailiff record key 1\n",
		"bailiff record key 1\nseed 00\n",
		"bailiff record key 2\nseed "
		"00000000000000000000000000000000000000000000000000000000000000"
		"00"
		"\n",
		"bailiff record key 1\nseed "
		"00000000000000000000000000000000000000000000000000000000000000"
		"0g"
		"\n" };
	struct fixture *f = *state;
	struct error e = { 0 };
	int fd;

	assert_int_equal(keys_prepare(&f->keys, 0, NULL, &e), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fd = openat(
		    f->keys_fd, "record-0.key", O_WRONLY | O_TRUNC | O_CLOEXEC);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])),
		    (ssize_t)strlen(texts[i]));
		(void)close(fd);
		assert_int_equal(keys_load_record(&f->keys, 0, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
	}
	assert_int_equal(fchmodat(f->keys_fd, "record-1.key", 0640, 0), 0);
	assert_int_equal(keys_prepare(&f->keys, 1, NULL, &e), -1);
	assert_int_equal(e.kind, ERROR_TAMPERED);
}

#define WITH_KEYS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_KEYS(log_exists_only_once_committed),
		WITH_KEYS(pin_is_the_public_half),
		WITH_KEYS(seeds_of_an_epoch_and_the_next_until_forgotten),
		WITH_KEYS(announced_key_must_be_there_and_match),
		WITH_KEYS(damaged_or_shared_key_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
