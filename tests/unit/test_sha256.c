/*
 * tests/unit/test_sha256.c - SHA-256 against the examples of NIST, libsodium,
 * and, block by block, its two implementations against each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The file itself: its two inner functions are compared. */
#include "base/sha256.c" // NOLINT(bugprone-suspicious-include)

static void examples_of_nist_come_out(void **state)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{ "",
		    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b78"
		    "52b855" },
		{ "abc",
		    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2"
		    "0015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419"
		    "db06c1" },
	};
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sha256_of(rows[i].text, strlen(rows[i].text), digest);
		sha256_hex(digest, hex);
		assert_string_equal(hex, rows[i].hex);
	}
}

static void a_million_letters_come_out(void **state)
{
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];
	char chunk[1000];
	struct sha256 h;

	(void)state;
	memset(chunk, 'a', sizeof(chunk));
	sha256_init(&h);
	for (size_t i = 0; i < 1000; i++)
		sha256_add(&h, chunk, sizeof(chunk));
	sha256_done(&h, digest);
	sha256_hex(digest, hex);
	assert_string_equal(hex,
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void every_length_and_split_agrees_with_libsodium(void **state)
{
	static uint8_t data[700];
	uint8_t got[SHA256_BYTES], want[SHA256_BYTES];

	(void)state;
	randombytes_buf(data, sizeof(data));
	for (size_t len = 0; len <= sizeof(data); len++) {
		struct sha256 h;
		size_t first = randombytes_uniform((uint32_t)len + 1);
		size_t second =
		    randombytes_uniform((uint32_t)(len - first) + 1);

		(void)crypto_hash_sha256(want, data, len);
		sha256_init(&h);
		sha256_add(&h, data, first);
		sha256_add(&h, data + first, second);
		sha256_add(&h, data + first + second, len - first - second);
		sha256_done(&h, got);
		assert_memory_equal(got, want, sizeof(got));
	}
}

static void both_implementations_give_the_same_state(void **state)
{
	static uint8_t blocks[9 * SHA256_BLOCK + 1];

	(void)state;
	if (!has_sha()) {
		print_message("this processor has no SHA instructions\n");
		skip();
	}
	for (size_t round = 0; round < 2000; round++) {
		uint32_t a[8], b[8];
		size_t n = 1 + randombytes_uniform(8);
		/* Odd addresses too. */
		const uint8_t *from = blocks + (round & 1);

		randombytes_buf(blocks, sizeof(blocks));
		randombytes_buf(a, sizeof(a));
		memcpy(b, a, sizeof(b));
		compress_portable(a, from, n);
		compress_sha(b, from, n);
		assert_memory_equal(a, b, sizeof(a));
	}
}

static void a_file_is_hashed_from_its_start(void **state)
{
	static uint8_t data[10000];
	uint8_t got[SHA256_BYTES], want[SHA256_BYTES];
	int fd = memfd_create("data", MFD_CLOEXEC);
	struct error e;
	uint64_t size;

	(void)state;
	assert_true(fd >= 0);
	randombytes_buf(data, sizeof(data));
	assert_int_equal(write(fd, data, sizeof(data)), (ssize_t)sizeof(data));
	assert_int_equal(sha256_of_fd(fd, got, &size, &e), 0);
	assert_int_equal(size, sizeof(data));
	sha256_of(data, sizeof(data), want);
	assert_memory_equal(got, want, sizeof(got));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), (off_t)sizeof(data));
	assert_int_equal(close(fd), 0);
	assert_int_equal(sha256_of_fd(fd, got, &size, &e), -1);
	assert_int_equal(e.kind, ERROR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_of_nist_come_out),
		cmocka_unit_test(a_million_letters_come_out),
		cmocka_unit_test(every_length_and_split_agrees_with_libsodium),
		cmocka_unit_test(both_implementations_give_the_same_state),
		cmocka_unit_test(a_file_is_hashed_from_its_start),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
