/*
 * tests/unit/test_json.c - the writer of profile c1 writes only what the strict
 * reader accepts, and refuses the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "audit/c1.h"
#include "audit/json.h"

static char text[512];

static void check_text(const struct json *j, const char *want)
{
	struct c1_value v;
	struct error e = { 0 };

	assert_int_equal(json_done(j, &e), 0);
	assert_int_equal(j->len, strlen(want));
	assert_memory_equal(j->data, want, j->len);
	assert_int_equal(c1_check(j->data, j->len, &v, &e), 0);
}

static void check_refused(const struct json *j, enum error_kind kind)
{
	struct error e = { 0 };

	assert_int_equal(json_done(j, &e), -1);
	assert_int_equal(e.kind, kind);
}

static void what_is_written_is_canonical(void **state)
{
	static const uint8_t bytes[] = { 0x00, 0xab, 0xff };
	struct json j;

	(void)state;
	json_init(&j, text, sizeof(text), 0);
	json_object(&j);
	json_key(&j, "a");
	json_array(&j);
	json_number(&j, 0);
	json_number(&j, JSON_NUMBER_MAX);
	json_object(&j);
	json_end(&j);
	json_array(&j);
	json_end(&j);
	json_end(&j);
	json_key(&j, "a_");
	json_hex(&j, bytes, sizeof(bytes));
	json_key(&j, "b");
	json_base64(&j, bytes, sizeof(bytes));
	json_key(&j, "c");
	json_truth(&j, true);
	json_key(&j, "d");
	json_truth(&j, false);
	json_key(&j, "e");
	json_prefixed(&j, "x:", (struct json_bytes){ bytes, 1 });
	json_end(&j);
	check_text(&j, "{\"a\":[0,9007199254740991,{},[]],\"a_\":\"00abff\","
	               "\"b\":\"AKv/\",\"c\":true,\"d\":false,\"e\":\"x:00\"}");
}

static void keys_out_of_order_are_refused(void **state)
{
	static const char *const pairs[][2] = { { "b", "a" }, { "a", "a" },
		{ "ab", "a" }, { "a", "B" } };
	struct json j;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		json_init(&j, text, sizeof(text), 0);
		json_object(&j);
		json_key(&j, pairs[i][0]);
		json_number(&j, 1);
		json_key(&j, pairs[i][1]);
		json_number(&j, 1);
		json_end(&j);
		check_refused(&j, ERROR_STATE);
	}
}

static void keys_that_no_key_can_be_are_refused(void **state)
{
	static const char *const keys[] = { "", "1a", "a-b", "a.b", "a b",
		"\xc3\xa9" };
	struct json j;

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_init(&j, text, sizeof(text), 0);
		json_object(&j);
		json_key(&j, keys[i]);
		check_refused(&j, ERROR_MALFORMED);
	}
}

static void strings_outside_the_profile_are_refused(void **state)
{
	struct json j;

	(void)state;
	for (int c = 1; c < 256; c++) {
		char s[] = { (char)c, '\0' };

		json_init(&j, text, sizeof(text), 0);
		json_object(&j);
		json_key(&j, "k");
		json_string(&j, s);
		json_end(&j);
		if (c >= 0x20 && c <= 0x7e && c != '"' && c != '\\')
			assert_null(j.why);
		else
			check_refused(&j, ERROR_MALFORMED);
	}
}

static void numbers_above_the_range_are_refused(void **state)
{
	struct json j;

	(void)state;
	json_init(&j, text, sizeof(text), 0);
	json_object(&j);
	json_key(&j, "k");
	json_number(&j, JSON_NUMBER_MAX + 1);
	check_refused(&j, ERROR_MALFORMED);
}

static void depth_is_bounded(void **state)
{
	struct json j;

	(void)state;
	json_init(&j, text, sizeof(text), 0);
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array(&j);
	assert_null(j.why);
	json_array(&j);
	check_refused(&j, ERROR_STATE);
}

static void what_does_not_fit_is_a_limit_and_writes_nothing_beyond(void **state)
{
	static const char want[] = "{\"key\":\"value\"}";
	struct json j;

	(void)state;
	for (size_t cap = 0; cap < strlen(want); cap++) {
		memset(text, '#', sizeof(text));
		json_init(&j, text, cap, 0);
		json_object(&j);
		json_key(&j, "key");
		json_string(&j, "value");
		json_end(&j);
		check_refused(&j, ERROR_LIMIT);
		assert_int_equal(text[cap], '#');
	}
}

static void values_and_ends_out_of_place_are_refused(void **state)
{
	struct json j;

	(void)state;
	json_init(&j, text, sizeof(text), 0);
	json_object(&j);
	json_number(&j, 1);
	check_refused(&j, ERROR_STATE);
	json_init(&j, text, sizeof(text), 0);
	json_object(&j);
	json_key(&j, "a");
	json_end(&j);
	check_refused(&j, ERROR_STATE);
	json_init(&j, text, sizeof(text), 0);
	json_object(&j);
	json_end(&j);
	json_end(&j);
	check_refused(&j, ERROR_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_canonical),
		cmocka_unit_test(keys_out_of_order_are_refused),
		cmocka_unit_test(keys_that_no_key_can_be_are_refused),
		cmocka_unit_test(strings_outside_the_profile_are_refused),
		cmocka_unit_test(numbers_above_the_range_are_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(
		    what_does_not_fit_is_a_limit_and_writes_nothing_beyond),
		cmocka_unit_test(values_and_ends_out_of_place_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
