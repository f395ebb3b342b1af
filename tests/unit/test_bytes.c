/*
 * tests/unit/test_bytes.c - wire bytes: order, bounds, and 'bad' that stays.
 */
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void integers_are_little_endian(void **state)
{
	static const uint8_t wanted[] = { 0x02, 0x01, 0x06, 0x05, 0x04, 0x03,
		0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0x08, 0x07 };
	uint8_t data[14];
	struct bytes_writer w = { data, sizeof(data), 0, false };

	(void)state;
	bytes_put_u16(&w, 0x0102);
	bytes_put_u32(&w, 0x03040506);
	bytes_put_u64(&w, 0x0708090a0b0c0d0e);
	assert_false(w.bad);
	assert_int_equal(w.len, sizeof(wanted));
	assert_memory_equal(data, wanted, sizeof(wanted));
}

static void what_is_written_is_read(void **state)
{
	uint8_t data[17];
	uint8_t block[3];
	struct bytes_writer w = { data, sizeof(data), 0, false };
	struct bytes_reader r = { data, sizeof(data), 0, false };

	(void)state;
	bytes_put_u64(&w, UINT64_MAX);
	bytes_put(&w, "abc", 3);
	bytes_put_u32(&w, 0x80000000);
	bytes_put_u16(&w, 0xffff);
	assert_true(bytes_get_u64(&r) == UINT64_MAX);
	bytes_get(&r, block, sizeof(block));
	assert_memory_equal(block, "abc", 3);
	assert_int_equal(bytes_get_u32(&r), 0x80000000);
	assert_int_equal(bytes_get_u16(&r), 0xffff);
	assert_false(r.bad);
	assert_int_equal(r.at, r.len);
}

static void a_write_past_the_end_writes_nothing_and_stays_bad(void **state)
{
	uint8_t data[8] = { 0 };
	struct bytes_writer w = { data, 3, 0, false };

	(void)state;
	bytes_put_u32(&w, 0xffffffff);
	assert_true(w.bad);
	bytes_put(&w, "x", 1);
	assert_true(w.bad);
	for (size_t i = 3; i < sizeof(data); i++)
		assert_int_equal(data[i], 0);
}

static void a_read_past_the_end_gives_zero_and_stays_bad(void **state)
{
	static const uint8_t data[] = { 1, 2, 3 };
	uint8_t to[4] = { 9, 9, 9, 9 };
	struct bytes_reader r = { data, sizeof(data), 0, false };

	(void)state;
	bytes_get(&r, to, sizeof(to));
	assert_true(r.bad);
	assert_int_equal(to[0] | to[1] | to[2] | to[3], 0);
	assert_int_equal(bytes_get_u16(&r), 0);
	assert_int_equal(r.at, 0);
}

static void lengths_near_the_end_of_memory_are_refused(void **state)
{
	uint8_t data[4] = { 0 };
	struct bytes_writer w = { data, sizeof(data), 1, false };
	struct bytes_reader r = { data, 0, 0, false };

	(void)state;
	bytes_put(&w, data, SIZE_MAX);
	assert_true(w.bad);
	assert_int_equal(bytes_get_u16(&r), 0);
	assert_true(r.bad);
}

static void nothing_at_all_may_be_moved(void **state)
{
	struct bytes_writer w = { NULL, 0, 0, false };
	struct bytes_reader r = { NULL, 0, 0, false };

	(void)state;
	bytes_put(&w, NULL, 0);
	bytes_get(&r, NULL, 0);
	assert_false(w.bad || r.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(
		    a_write_past_the_end_writes_nothing_and_stays_bad),
		cmocka_unit_test(a_read_past_the_end_gives_zero_and_stays_bad),
		cmocka_unit_test(lengths_near_the_end_of_memory_are_refused),
		cmocka_unit_test(nothing_at_all_may_be_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
