/*
 * tests/unit/test_result_inputs.c - inputs are told as the intent lists them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "executor/result_inputs.h"

#define ZEROS "00000000000000000000000000000000000000000000000000000000000000"

static void make(struct result_input ret[2])
{
	memset(ret, 0, 2 * sizeof(ret[0]));
	ret[0] = (struct result_input){
		.kind = PROTOCOL_INPUT_INLINE, .name = "c", .size = 5
	};
	ret[1] = (struct result_input){ .kind = PROTOCOL_INPUT_FILE,
		.name = "a b",
		.dev = 0xfe00,
		.ino = UINT64_MAX,
		.size = 7 };
	ret[1].sha256[31] = 0xff;
	result_inputs_sort(ret, 2);
}

static void the_list_is_sorted_sha256sum_text(void **state)
{
	static const char must[] = ZEROS "ff  a%20b\n" ZEROS "00  c\n";
	struct result_input inputs[2];
	char data[512];
	struct text_out out = { data, sizeof(data), 0 };
	struct error e;

	(void)state;
	make(inputs);
	assert_int_equal(result_inputs_list(inputs, 2, &out, &e), 0);
	assert_int_equal(out.len, strlen(must));
	assert_memory_equal(data, must, out.len);
	out = (struct text_out){ data, strlen(must) - 1, 0 };
	assert_int_equal(result_inputs_list(inputs, 2, &out, &e), -1);
}

static void json_has_place_size_and_digest(void **state)
{
	static const char must[] =
	    "\"inputs\":[{\"dev\":\"254:0\",\"ino\":\"18446744073709551615\","
	    "\"kind\":\"file\",\"name\":\"a%20b\",\"sha256\":\"" ZEROS
	    "ff\",\"size\":7},{\"kind\":\"inline\",\"name\":\"c\",\"sha256\":"
	    "\"" ZEROS "00\",\"size\":5}],";
	struct result_input inputs[2];
	char data[512];
	struct text_out out = { data, sizeof(data), 0 };
	struct error e;

	(void)state;
	make(inputs);
	assert_int_equal(result_inputs_json(inputs, 2, &out, &e), 0);
	assert_int_equal(out.len, strlen(must));
	assert_memory_equal(data, must, out.len);
	out.len = 0;
	assert_int_equal(result_inputs_json(inputs, 0, &out, &e), 0);
	assert_int_equal(out.len, strlen("\"inputs\":[],"));
}

static void a_directory_has_a_place_and_no_digest(void **state)
{
	const struct result_input input = { .kind = PROTOCOL_INPUT_DIRECTORY,
		.name = "d d",
		.dev = 0xfe01,
		.ino = 12 };
	char data[512] = "";
	struct text_out out = { data, sizeof(data), 0 };
	struct error e;

	(void)state;
	assert_int_equal(result_inputs_list(&input, 1, &out, &e), 0);
	assert_int_equal(result_inputs_json(&input, 1, &out, &e), 0);
	data[out.len] = '\0';
	assert_string_equal(data,
	    "directory 254:1 12  d%20d\n\"inputs\":[{\"dev\":\"254:1\",\"ino\":"
	    "\"12\",\"kind\":\"directory\",\"name\":\"d%20d\"}],");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_is_sorted_sha256sum_text),
		cmocka_unit_test(a_directory_has_a_place_and_no_digest),
		cmocka_unit_test(json_has_place_size_and_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
