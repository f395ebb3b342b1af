/*
 * tests/unit/test_request.c - requests written as JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/request.h"

#define N(a)          (sizeof(a) / sizeof((a)[0]))
#define WITH(members) "{\"language\":\"python\",\"code\":1" members "}"

struct fixture {
	struct reader reader;
	struct policy_faults faults;
	struct request request;
	struct error e;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return f != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static int decode_bytes(struct fixture *f, const char *text, size_t len)
{
	const struct policy_text file = { "r.json", text, len };

	f->faults.n = 0;
	f->faults.more = 0;
	f->reader.faults = &f->faults;
	return request_decode(&f->reader, &file, &f->request, &f->e);
}

static void takes(struct fixture *f, const char *text)
{
	if (decode_bytes(f, text, strlen(text)) < 0)
		fail_msg("%s: %s", text, f->e.text);
	assert_int_equal(f->faults.n, 0);
}

static void refuses(struct fixture *f, const char *text, const char *why)
{
	if (decode_bytes(f, text, strlen(text)) == 0)
		fail_msg("%s: taken", text);
	assert_true(f->faults.n > 0);
	if (strstr(f->e.text, why) == NULL)
		fail_msg("%s: '%s' and not '%s'", text, f->e.text, why);
}

static void every_key_arrives(void **state)
{
	struct fixture *f = *state;
	const struct policy_request *asks = &f->request.asks;

	takes(f, "{\"language\":\"python\",\"code\":\"print(\\u00e9)\","
	         "\"stdin\":\"ab\",\"args\":[\"--year\",\"\",\"x\"],"
	         "\"limits\":{\"wall_ms\":5000,\"output\":\"unlimited\"},"
	         "\"inputs\":[{\"file\":\"/srv/a\",\"name\":\"b\"},"
	         "{\"directory\":\"/srv/d\"},{\"inline\":12,\"name\":\"c\"},"
	         "{\"inline\":\"four\",\"name\":\"d\"}]}");
	assert_string_equal(asks->language, "python");
	assert_string_equal(f->request.code, "print(\xc3\xa9)");
	assert_int_equal(asks->code_size, 9);
	assert_int_equal(asks->stdin_size, 2);
	assert_int_equal(asks->args_size, 7 + 1 + 2);
	assert_true(asks->asks[LIMIT_WALL_MS]);
	assert_int_equal(asks->limits[LIMIT_WALL_MS], 5000);
	assert_true(asks->limits[LIMIT_OUTPUT] == LIMIT_UNLIMITED);
	assert_false(asks->asks[LIMIT_MEMORY]);
	assert_int_equal(asks->n_inputs, 4);
	assert_int_equal(asks->n_inputs_asked, 4);
	assert_string_equal(asks->inputs[0].host, "/srv/a");
	assert_string_equal(asks->inputs[0].name, "b");
	assert_int_equal(asks->inputs[0].kind, POLICY_INPUT_FILE);
	assert_string_equal(asks->inputs[1].name, "d");
	assert_int_equal(asks->inputs[1].kind, POLICY_INPUT_DIRECTORY);
	assert_string_equal(asks->inputs[2].name, "c");
	assert_int_equal(asks->inputs[2].kind, POLICY_INPUT_INLINE);
	assert_int_equal(asks->inline_size, 12 + 4);
}

static void sizes_stand_for_texts(void **state)
{
	struct fixture *f = *state;
	const struct policy_request *asks = &f->request.asks;

	takes(f, "{\"language\":\"\",\"code\":70,\"stdin\":8,\"args\":9}");
	assert_null(f->request.code);
	assert_int_equal(asks->code_size, 70);
	assert_int_equal(asks->stdin_size, 8);
	assert_int_equal(asks->args_size, 9);
	assert_int_equal(asks->n_inputs, 0);
	assert_string_equal(asks->language, "");
	/* Nothing of the last request is left. */
	takes(f, WITH(""));
	assert_int_equal(asks->stdin_size, 0);
	takes(f, "{\"language\":\"python\",\"code\":\"\"}");
	assert_string_equal(f->request.code, "");
	assert_int_equal(asks->code_size, 0);
}

static void hostile_texts_arrive_as_they_are(void **state)
{
	struct fixture *f = *state;
	const struct policy_input *input = f->request.asks.inputs;

	takes(f, WITH(",\"inputs\":[{\"file\":\"/a/../b\\n\\u202e\"},"
	              "{\"file\":\"\"},{\"file\":\"/a/\"}]"));
	assert_string_equal(input[0].host, "/a/../b\n\xe2\x80\xae");
	assert_string_equal(input[0].name, "b\n\xe2\x80\xae");
	assert_string_equal(input[1].name, "");
	assert_string_equal(input[2].name, "");
}

static void what_is_no_request_is_refused_where_it_stands(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "r.json:1:1: /: the text ends too early" },
		{ "[]", "r.json:1:1: /: expected an object" },
		{ "{}", "needs the key \"language\"" },
		{ "{\"language\":\"python\"}", "needs the key \"code\"" },
		{ "{\"language\":7,\"code\":1}", "/language: expected a text" },
		{ "{\"language\":null,\"code\":1}", "this is null" },
		{ "{\"language\":\"a\\u0000b\",\"code\":1}", "NUL" },
		{ "{\"language\":\"a\",\"code\":\"a\\u0000\"}", "NUL" },
		{ "{\"language\":\"a\",\"code\":true}", "text or its size" },
		{ "{\"language\":\"a\",\"code\":-1}", "digits only" },
		{ "{\"language\":\"a\",\"code\":1e3}", "digits only" },
		{ "{\"language\":\"a\",\"code\":1.5}", "digits only" },
		{ "{\"language\":\"a\",\"code\":99999999999999999999}",
		    "digits only" },
		{ "{\"language\":\"a\",\"code\":18446744073709551615}",
		    "out of range" },
		{ "{\"language\":\"a\",\"code\":1,\"code\":2}", "duplicate" },
		{ "{\"language\":\"a\",\"code\":1,\"c\\u006fde\":2}",
		    "duplicate" },
		{ WITH(",\"Language\":\"b\""), "did you mean \"language\"" },
		{ WITH(",\"arg\":[]"), "did you mean \"args\"" },
		{ WITH(",\"args\":[1]"), "/args/0: expected a text" },
		{ WITH(",\"args\":{}"), "/args: expected a list" },
		{ WITH(",\"limits\":[]"), "expected an object" },
		{ WITH(",\"limits\":{\"wall\":1}"), "unknown limit \"wall\"" },
		{ WITH(",\"limits\":{\"wall_ms\":\"unlimited\"}"),
		    "never unlimited" },
		{ WITH(",\"limits\":{\"output\":\"any\"}"), "unlimited" },
		{ WITH(",\"limits\":{\"wall_ms\":\"5\"}"), "a number" },
		{ WITH(",\"limits\":{\"wall_ms\":null}"), "a number" },
		{ WITH(",\"limits\":{\"wall_ms\":-1}"), "digits only" },
		{ WITH(",\"inputs\":{}"), "expected a list" },
		{ WITH(",\"inputs\":[\"/a\"]"), "expected an object" },
		{ WITH(",\"inputs\":[{}]"), "an input needs one of" },
		{ WITH(",\"inputs\":[{\"name\":\"a\"}]"), "needs one of" },
		{ WITH(",\"inputs\":[{\"file\":\"/a\",\"directory\":\"/a\"}]"),
		    "needs one of" },
		{ WITH(",\"inputs\":[{\"inline\":1}]"), "needs a \"name\"" },
		{ WITH(",\"inputs\":[{\"file\":1}]"), "expected a text" },
		{ WITH(",\"inputs\":[{\"fil\":\"/a\"}]"), "unknown key" },
		{ WITH("") "x", "behind the value" },
		{ "\xef\xbb\xbf" WITH(""), "r.json:1:1: " },
		{ WITH(",\"stdin\":\"\xff\""), "not UTF-8" },
		{ WITH(",\"stdin\":\"\\ud800\""), "escape" },
		{ WITH(",\"stdin\":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]"),
		    "nested too deeply" },
		{ WITH(",}"), "key" },
		{ WITH("/**/"), "expected , or }" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N(bad); i++)
		refuses(f, bad[i].text, bad[i].why);
}

static void all_faults_are_listed(void **state)
{
	struct fixture *f = *state;

	refuses(f, "{\"language\":1,\"code\":-1,\"limits\":{\"x\":1},\"y\":0}",
	    "r.json:1:");
	assert_int_equal(f->faults.n, 4);
	assert_string_equal(f->faults.items[0].pointer, "/y");
	assert_string_equal(f->faults.items[3].pointer, "/limits/x");
	/* A fault of an earlier text is not one of the next. */
	takes(f, WITH(""));
}

static void more_inputs_than_there_is_room_for_are_counted(void **state)
{
	struct fixture *f = *state;
	char text[6000] = "{\"language\":\"python\",\"code\":1,\"inputs\":[";

	for (size_t i = 0; i < POLICY_INPUTS_MAX + 3; i++)
		(void)strcat(text, i > 0 ? ",{\"inline\":9223372036854775807,"
		                           "\"name\":\"n\"}"
		                         : "{\"inline\":1,\"name\":\"n\"}");
	(void)strcat(text, "]}");
	takes(f, text);
	assert_int_equal(f->request.asks.n_inputs, POLICY_INPUTS_MAX);
	assert_int_equal(f->request.asks.n_inputs_asked, POLICY_INPUTS_MAX + 3);
	assert_true(f->request.asks.inline_size == UINT64_MAX);
}

static void a_text_of_the_whole_size_fits_and_no_more(void **state)
{
	static const char head[] = "{\"language\":\"python\",\"code\":\"";
	struct fixture *f = *state;
	char *text = malloc(POLICY_TEXT_MAX + 1);
	const size_t tail = POLICY_TEXT_MAX - 2;

	assert_non_null(text);
	memset(text, 'x', POLICY_TEXT_MAX + 1);
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + tail, "\"}", 2);
	assert_int_equal(decode_bytes(f, text, POLICY_TEXT_MAX), 0);
	assert_int_equal(f->request.asks.code_size, tail - (sizeof(head) - 1));
	text[POLICY_TEXT_MAX] = ' ';
	assert_int_equal(decode_bytes(f, text, POLICY_TEXT_MAX + 1), -1);
	assert_non_null(strstr(f->e.text, "more than 1048576 bytes"));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_key_arrives),
		TEST(sizes_stand_for_texts),
		TEST(hostile_texts_arrive_as_they_are),
		TEST(what_is_no_request_is_refused_where_it_stands),
		TEST(all_faults_are_listed),
		TEST(more_inputs_than_there_is_room_for_are_counted),
		TEST(a_text_of_the_whole_size_fits_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
