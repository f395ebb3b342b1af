/*
 * tests/unit/test_gunzip.c - gzip files are read whole, within a bound, or
 * refused.
 */
#include "base/gunzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/memfd.h"
#include "base/own.h"

#define TEXT_BYTES 300000 /* several windows */

struct got {
	size_t len;
	int stop_after; /* pieces; 0: never */
	char text[TEXT_BYTES + 1];
};

static int take(void *context, const void *data, size_t len, struct error *e)
{
	struct got *g = context;

	if (g->stop_after != 0 && --g->stop_after == 0)
		return FAIL(e, ERROR_STATE, "enough");
	assert_true(len <= sizeof(g->text) - g->len);
	memcpy(g->text + g->len, data, len);
	g->len += len;
	return 0;
}

/* Made by zlib itself, in a format of its own ('bits'). */
static size_t pack(
    const char *text, size_t len, int bits, unsigned char *ret, size_t cap)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)text,
		.avail_in = (uInt)len };

	assert_int_equal(
	    deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = ret;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	cap -= z.avail_out;
	assert_int_equal(deflateEnd(&z), Z_OK);
	return cap;
}

struct fixture {
	char text[TEXT_BYTES];
	unsigned char packed[TEXT_BYTES];
	size_t len;
	struct got got;
	struct error e;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return -1;
	/* Hardly any repetition, so that what is packed has windows too. */
	for (uint32_t i = 0, x = 1; i < TEXT_BYTES; i++) {
		x = x * 1664525u + 1013904223u;
		f->text[i] = (char)('a' + (x >> 28));
	}
	f->len = pack(
	    f->text, TEXT_BYTES, 16 + MAX_WBITS, f->packed, sizeof(f->packed));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static int unpack(struct fixture *f, const void *data, size_t len, uint64_t max)
{
	const struct gunzip_sink sink = { take, &f->got, max };

	f->got.len = 0;
	return gunzip_bytes(data, len, &sink, &f->e);
}

static void what_was_packed_comes_back(void **state)
{
	struct fixture *f = *state;
	const struct gunzip_sink sink = { take, &f->got, TEXT_BYTES };
	AUTO_FD fd = -1;

	assert_int_equal(unpack(f, f->packed, f->len, TEXT_BYTES), 0);
	assert_int_equal(f->got.len, TEXT_BYTES);
	assert_memory_equal(f->got.text, f->text, TEXT_BYTES);
	/* And the same from a file. */
	assert_int_equal(memfd_of("gzip", f->packed, f->len, &fd, &f->e), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	f->got.len = 0;
	assert_int_equal(gunzip_fd(fd, &sink, &f->e), 0);
	assert_int_equal(f->got.len, TEXT_BYTES);
	assert_memory_equal(f->got.text, f->text, TEXT_BYTES);
}

static void a_byte_more_than_was_named_is_too_much(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(unpack(f, f->packed, f->len, TEXT_BYTES - 1), -1);
	assert_int_equal(f->e.kind, ERROR_LIMIT);
	assert_true(f->got.len < TEXT_BYTES);
}

static void every_prefix_is_not_whole(void **state)
{
	struct fixture *f = *state;
	unsigned char small[64];
	size_t len = pack("hello", 5, 16 + MAX_WBITS, small, sizeof(small));

	for (size_t n = 0; n < len; n++) {
		assert_int_equal(unpack(f, small, n, 100), -1);
		assert_int_equal(f->e.kind, ERROR_MALFORMED);
	}
	assert_int_equal(unpack(f, small, len, 5), 0);
	assert_memory_equal(f->got.text, "hello", 5);
}

/* Each bit of a small file turned: refused, or (time and system in the header,
 * the fill behind the last block) the same text. */
static void a_turned_bit_never_gives_another_text(void **state)
{
	struct fixture *f = *state;
	unsigned char small[64];
	size_t len = pack("hello", 5, 16 + MAX_WBITS, small, sizeof(small));

	for (size_t bit = 0; bit < 8 * len; bit++) {
		small[bit / 8] ^= (unsigned char)(1 << bit % 8);
		if (unpack(f, small, len, 100) == 0) {
			assert_int_equal(f->got.len, 5);
			assert_memory_equal(f->got.text, "hello", 5);
		}
		small[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
}

static void one_member_and_nothing_behind(void **state)
{
	struct fixture *f = *state;
	unsigned char two[128];
	size_t len = pack("hello", 5, 16 + MAX_WBITS, two, 64);

	memcpy(two + len, two, len);
	assert_int_equal(unpack(f, two, 2 * len, 100), -1);
	assert_int_equal(f->e.kind, ERROR_MALFORMED);
	assert_int_equal(unpack(f, two, len + 1, 100), -1);
	len = pack("hello", 5, MAX_WBITS, two, sizeof(two));
	assert_int_equal(unpack(f, two, len, 100), -1); /* zlib, not gzip */
	assert_int_equal(f->e.kind, ERROR_MALFORMED);
}

static void who_takes_may_stop_it(void **state)
{
	struct fixture *f = *state;

	f->got.stop_after = 2;
	assert_int_equal(unpack(f, f->packed, f->len, TEXT_BYTES), -1);
	assert_int_equal(f->e.kind, ERROR_STATE);
	f->got.stop_after = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_comes_back),
		cmocka_unit_test(a_byte_more_than_was_named_is_too_much),
		cmocka_unit_test(every_prefix_is_not_whole),
		cmocka_unit_test(a_turned_bit_never_gives_another_text),
		cmocka_unit_test(one_member_and_nothing_behind),
		cmocka_unit_test(who_takes_may_stop_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
