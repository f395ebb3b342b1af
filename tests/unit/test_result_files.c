/*
 * tests/unit/test_result_files.c - files of a result folder: MANIFEST, the list
 * in result.json, and what is read back of it.
 */
#include "executor/result_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void manifest_is_sorted_sha256sum_text(void **state)
{
	static const char *const names[] = { "stdout", "files/b", "code.py",
		"files/B", "files/a/c" };
	static const char *const sorted[] = { "code.py", "files/B", "files/a/c",
		"files/b", "stdout" };
	struct result_file files[5];
	char out[1024];
	char must[1024];
	size_t len = 0;
	struct text_out text = { out, sizeof(out), 0 };
	struct error e;

	(void)state;
	memset(files, 0, sizeof(files));
	for (size_t i = 0; i < 5; i++)
		(void)snprintf(
		    files[i].name, sizeof(files[i].name), "%s", names[i]);
	result_files_sort(files, 5);
	assert_int_equal(result_manifest(files, 5, &text, &e), 0);
	for (size_t i = 0; i < 5; i++)
		len += (size_t)snprintf(must + len, sizeof(must) - len,
		    "%064d  %s\n", 0, sorted[i]);
	assert_int_equal(text.len, len);
	assert_memory_equal(out, must, len);
	text.cap = text.len - 1;
	text.len = 0;
	assert_int_equal(result_manifest(files, 5, &text, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
}

static const struct result_file some[] = {
	{ .name = "code.py", .size = 9 },
	{ .name = "files/a", .size = 1, .picture = { PICTURE_TEXT, 0, 0 } },
	{ .name = "files/b.csv", .size = 2, .picture = { PICTURE_TEXT, 0, 0 } },
	{ .name = "files/plots/1.png",
	    .size = 3,
	    .picture = { PICTURE_PNG, 640, 480 },
	    .is_plot = true },
	{ .name = "files/z", .size = 4, .picture = { PICTURE_BYTES, 0, 0 } },
	{ .name = "stdout", .size = 5 },
};
#define N_SOME (sizeof(some) / sizeof(some[0]))

static const char listed[] =
    "\"list\":[{\"name\":\"a\",\"size\":1,\"type\":\"text/plain\"},"
    "{\"name\":\"b.csv\",\"size\":2,\"type\":\"text/csv\"},"
    "{\"height\":480,\"name\":\"plots/1.png\",\"plot\":true,\"size\":3,"
    "\"type\":\"image/png\",\"width\":640},"
    "{\"name\":\"z\",\"size\":4,\"type\":\"application/octet-stream\"}]";

static void what_the_program_left_is_listed(void **state)
{
	char text[1024] = "";
	struct text_out out = { text, sizeof(text), 0 };
	struct error e;

	(void)state;
	assert_int_equal(result_files_json(some, N_SOME, &out, &e), 0);
	assert_string_equal(text, listed);
}

static void what_is_listed_is_read_back_in_order(void **state)
{
	char text[1024];
	const char *at;
	struct result_listed is;

	(void)state;
	(void)snprintf(
	    text, sizeof(text), "{\"files\":{\"count\":4,%s", listed);
	at = result_files_first(text);
	assert_non_null(at);
	assert_false(result_files_next(&at, "b.csv", &is)); /* not yet */
	assert_true(result_files_next(&at, "a", &is));
	assert_string_equal(is.type, "text/plain");
	assert_true(result_files_next(&at, "b.csv", &is));
	assert_int_equal(is.width, 0);
	assert_false(result_files_next(&at, "plots/1", &is)); /* a part of it */
	assert_true(result_files_next(&at, "plots/1.png", &is));
	assert_string_equal(is.type, "image/png");
	assert_int_equal(is.width, 640);
	assert_int_equal(is.height, 480);
	assert_true(is.is_plot);
	assert_true(result_files_next(&at, "z", &is));
	assert_false(is.is_plot);
	assert_false(result_files_next(&at, "zz", &is));
}

static void an_older_result_has_no_list(void **state)
{
	(void)state;
	assert_null(
	    result_files_first("{\"files\":{\"bytes\":1,\"count\":1}}"));
}

/* Whatever is cut off: no read beyond the end (under the sanitizers), no item. */
static void a_cut_list_says_nothing(void **state)
{
	static const char item[] =
	    "{\"height\":480,\"name\":\"n\",\"plot\":true,"
	    "\"size\":3,\"type\":\"image/png\","
	    "\"width\":640}";

	(void)state;
	for (size_t n = 0; n < sizeof(item); n++) {
		char *part = strndup(item, n);
		const char *at = part;
		struct result_listed is;

		assert_non_null(part);
		assert_int_equal(
		    result_files_next(&at, "n", &is), n == sizeof(item) - 1);
		free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manifest_is_sorted_sha256sum_text),
		cmocka_unit_test(what_the_program_left_is_listed),
		cmocka_unit_test(what_is_listed_is_read_back_in_order),
		cmocka_unit_test(an_older_result_has_no_list),
		cmocka_unit_test(a_cut_list_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
