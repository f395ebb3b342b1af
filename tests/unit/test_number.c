/*
 * tests/unit/test_number.c - digits only, inside the range, or an error.
 */
#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct number_range any = { 0, UINT64_MAX };

static void digits_are_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} rows[] = { { "0", 0 }, { "7", 7 }, { "10", 10 },
		{ "4294967296", 4294967296 },
		{ "18446744073709551615", UINT64_MAX } };
	struct error e = { 0 };
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
		    number_parse(rows[i].text, "n", any, &value, &e), 0);
		assert_true(value == rows[i].value);
	}
}

static void everything_else_is_an_error_and_leaves_the_output(void **state)
{
	static const char *const rows[] = { "", " ", "-1", "+1", " 1", "1 ",
		"1\n", "0x10", "1e3", "1.0", "00", "01", "1_000", "1,000",
		"18446744073709551616", "99999999999999999999999", "\xd9\xa1",
		"NaN", "unlimited" };
	uint64_t value = 42;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
		    number_parse(rows[i], "n", any, &value, &e), -1);
		assert_int_equal(e.kind, ERROR_USAGE);
		assert_true(value == 42);
	}
}

static void a_range_holds_both_ends(void **state)
{
	const struct number_range range = { 5, 9 };
	uint64_t value = 0;
	struct error e;

	(void)state;
	assert_int_equal(number_parse("4", "n", range, &value, &e), -1);
	assert_int_equal(number_parse("5", "n", range, &value, &e), 0);
	assert_int_equal(number_parse("9", "n", range, &value, &e), 0);
	assert_int_equal(number_parse("10", "n", range, &value, &e), -1);
	assert_true(value == 9);
}

static void the_error_names_what_is_wrong(void **state)
{
	uint64_t value;
	struct error e;

	(void)state;
	assert_int_equal(number_parse("x", "--timeout", any, &value, &e), -1);
	assert_non_null(strstr(e.text, "--timeout"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_numbers),
		cmocka_unit_test(
		    everything_else_is_an_error_and_leaves_the_output),
		cmocka_unit_test(a_range_holds_both_ends),
		cmocka_unit_test(the_error_names_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
