/*
 * tests/unit/test_options.c - the option parser of all our commands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"

static const struct option_row rows[] = {
	{ "--policy", "FILE", "", false },
	{ "--file", "HOST", "", true },
	{ "--json", NULL, "", false },
	{ "-c", "CODE", "", false },
};

static const struct command command = { .name = "x",
	.usage = "",
	.about = "",
	.rows = rows,
	.n_rows = 4 };

enum {
	POLICY,
	FILE_ROW,
	JSON,
	CODE
};

static char *const no_words[] = { NULL };

static void expect(struct options *o, int found, const char *value)
{
	struct error e;
	const char *got;
	int ret = 0;

	assert_int_equal(options_next(o, &ret, &got, &e), 0);
	assert_int_equal(ret, found);
	if (value == NULL)
		assert_null(got);
	else
		assert_string_equal(got, value);
}

static void expect_usage(char **words, const char *text)
{
	struct options o = { .command = &command, .argv = words };
	struct error e = { .kind = ERROR_NONE };
	const char *value;
	int found = 0;
	int result;

	do
		result = options_next(&o, &found, &value, &e);
	while (result == 0 && found != OPTIONS_END);
	assert_int_equal(result, -1);
	assert_int_equal(e.kind, ERROR_USAGE);
	assert_string_equal(e.text, text);
}

static void options_and_operands_come_in_any_order(void **state)
{
	char *words[] = { (char[]){ "a" }, (char[]){ "--json" },
		(char[]){ "--policy" }, (char[]){ "p" },
		(char[]){ "--file=h:n" }, (char[]){ "--file" },
		(char[]){ "--" }, (char[]){ "-" }, (char[]){ "-c" },
		(char[]){ "-x" }, NULL };
	struct options o = { .command = &command, .argv = words };

	(void)state;
	expect(&o, OPTIONS_OPERAND, "a");
	expect(&o, JSON, NULL);
	expect(&o, POLICY, "p");
	expect(&o, FILE_ROW, "h:n");
	expect(&o, FILE_ROW, "--");
	expect(&o, OPTIONS_OPERAND, "-");
	expect(&o, CODE, "-x");
	expect(&o, OPTIONS_END, NULL);
	expect(&o, OPTIONS_END, NULL);
}

static void two_dashes_end_our_words(void **state)
{
	char *words[] = { (char[]){ "--" }, (char[]){ "--json" }, NULL };
	struct options o = { .command = &command, .argv = words };

	(void)state;
	expect(&o, OPTIONS_REST, NULL);
	assert_int_equal(o.at, 1);
}

static void no_words_are_the_end(void **state)
{
	char *words[] = { no_words[0] };
	struct options o = { .command = &command, .argv = words };

	(void)state;
	expect(&o, OPTIONS_END, NULL);
}

static void an_unknown_option_names_the_nearest(void **state)
{
	char *words[] = { (char[]){ "--polcy" }, NULL };
	char *swapped[] = { (char[]){ "--josn" }, NULL };

	(void)state;
	expect_usage(words, "unknown option --polcy; did you mean --policy?");
	expect_usage(swapped, "unknown option --josn; did you mean --json?");
}

static void a_far_option_names_none(void **state)
{
	char *words[] = { (char[]){ "--zzzzzzzzz=1" }, NULL };
	char longest[400];
	char *many[] = { longest, NULL };

	(void)state;
	expect_usage(words, "unknown option --zzzzzzzzz; see x --help");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "--", 2);
	struct options o = { .command = &command, .argv = many };
	struct error e = { .kind = ERROR_NONE };
	const char *value;
	int found;

	assert_int_equal(options_next(&o, &found, &value, &e), -1);
	assert_int_equal(e.kind, ERROR_USAGE);
}

static void a_prefix_is_not_the_option(void **state)
{
	char *words[] = { (char[]){ "--polic" }, NULL };

	(void)state;
	expect_usage(words, "unknown option --polic; did you mean --policy?");
}

static void a_missing_value_is_said(void **state)
{
	char *words[] = { (char[]){ "--policy" }, NULL };

	(void)state;
	expect_usage(words, "--policy needs a value: --policy FILE");
}

static void a_value_too_many_is_said(void **state)
{
	char *words[] = { (char[]){ "--json=1" }, NULL };

	(void)state;
	expect_usage(words, "--json takes no value");
}

static void twice_is_once_too_often(void **state)
{
	char *words[] = { (char[]){ "--json" }, (char[]){ "--json" }, NULL };

	(void)state;
	expect_usage(words, "--json is given twice");
}

static void help_is_always_known(void **state)
{
	char *words[] = { (char[]){ "-h" }, (char[]){ "--help" }, NULL };
	struct options o = { .command = &command, .argv = words };

	(void)state;
	expect(&o, OPTIONS_HELP, NULL);
	expect(&o, OPTIONS_HELP, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_operands_come_in_any_order),
		cmocka_unit_test(two_dashes_end_our_words),
		cmocka_unit_test(no_words_are_the_end),
		cmocka_unit_test(an_unknown_option_names_the_nearest),
		cmocka_unit_test(a_far_option_names_none),
		cmocka_unit_test(a_prefix_is_not_the_option),
		cmocka_unit_test(a_missing_value_is_said),
		cmocka_unit_test(a_value_too_many_is_said),
		cmocka_unit_test(twice_is_once_too_often),
		cmocka_unit_test(help_is_always_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
