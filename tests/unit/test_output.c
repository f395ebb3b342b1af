/*
 * tests/unit/test_output.c - head, tail, counts and digests of a stream,
 * against a plain copy of all its bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memfd.h"
#include "executor/output.h"

#include <fcntl.h>
#include <sys/mman.h>

static int scratch(void)
{
	int fd = memfd_create("head", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + i / 251);
}

/* Feed 'total' bytes in pieces and compare with what they must come to. */
static void check(size_t head_max, size_t total, size_t piece)
{
	uint8_t *all = malloc(total + 1);
	uint8_t digest[SHA256_BYTES];
	uint8_t *head;
	uint8_t *tail = malloc(OUTPUT_TAIL_MAX);
	size_t head_len;
	size_t kept = total < head_max ? total : head_max;
	size_t after = total - kept;
	size_t tail_len = after < OUTPUT_TAIL_MAX ? after : OUTPUT_TAIL_MAX;
	struct output o;
	struct error e;

	assert_non_null(all);
	assert_non_null(tail);
	for (size_t i = 0; i < total; i++)
		all[i] = byte_at(i);
	output_init(&o, scratch(), head_max);
	for (size_t at = 0; at < total; at += piece)
		output_add(
		    &o, all + at, total - at < piece ? total - at : piece);
	output_end(&o);
	assert_int_equal(o.total, total);
	assert_int_equal(o.head_size, kept);
	sha256_of(all, total, digest);
	assert_memory_equal(o.total_sha256, digest, sizeof(digest));
	sha256_of(all, kept, digest);
	assert_memory_equal(o.head_sha256, digest, sizeof(digest));
	assert_int_equal(
	    file_read_all(o.file_fd, 1 << 24, &head, &head_len, &e), 0);
	assert_int_equal(head_len, kept);
	assert_memory_equal(head, all, kept);
	assert_int_equal(output_tail_size(&o), tail_len);
	output_tail(&o, tail);
	assert_memory_equal(tail, all + total - tail_len, tail_len);
	free(head);
	output_done(&o);
	free(all);
	free(tail);
}

static void head_and_tail_are_the_ends_of_the_stream(void **state)
{
	static const size_t heads[] = { 0, 1, 4096, 100000, 1 << 20 };
	static const size_t totals[] = { 0, 1, 4095, 4096, 4097, 65536, 70000,
		165535, 165536, 165537, 400000 };
	static const size_t pieces[] = { 1000, 65536, 70001, 400000 };

	(void)state;
	for (size_t h = 0; h < sizeof(heads) / sizeof(heads[0]); h++)
		for (size_t t = 0; t < sizeof(totals) / sizeof(totals[0]); t++)
			for (size_t p = 0;
			     p < sizeof(pieces) / sizeof(pieces[0]); p++)
				check(heads[h], totals[t], pieces[p]);
}

static void single_bytes_come_to_the_same(void **state)
{
	(void)state;
	check(10, 3 * OUTPUT_TAIL_MAX + 17, 1);
}

static void a_full_disk_ends_the_head_and_nothing_else(void **state)
{
	static const char text[] = "0123456789";
	uint8_t digest[SHA256_BYTES];
	struct output o;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(full >= 0);
	output_init(&o, full, 1000);
	output_add(&o, text, 10);
	output_add(&o, text, 10);
	output_end(&o);
	assert_int_equal(o.file_errno, ENOSPC);
	assert_int_equal(o.head_size, 0);
	assert_int_equal(o.total, 20);
	sha256_of("01234567890123456789", 20, digest);
	assert_memory_equal(o.total_sha256, digest, sizeof(digest));
	sha256_of("", 0, digest);
	assert_memory_equal(o.head_sha256, digest, sizeof(digest));
	assert_int_equal(output_tail_size(&o), 20);
	output_done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_and_tail_are_the_ends_of_the_stream),
		cmocka_unit_test(single_bytes_come_to_the_same),
		cmocka_unit_test(a_full_disk_ends_the_head_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
