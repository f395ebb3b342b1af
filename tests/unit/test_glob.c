/*
 * tests/unit/test_glob.c - patterns over paths.
 */
#include "policy/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
static const struct {
	const char *pattern, *path;
	bool matches;
} rows[] = {
	{ "a", "a", true },          { "a", "b", false },
	{ "a", "a/a", false },       { "a", "", false },
	{ "*", "a", true },          { "*", ".hidden", true },
	{ "*", "a/b", false },       { "*.csv", "a.csv", true },
	{ "*.csv", ".csv", true },   { "*.csv", "d/a.csv", false },
	{ "*.csv", "a.csv.x", false }, { "a*b*c", "aXbYbc", true },
	{ "a*b*c", "abXc/", false }, { "?", "a", true },
	{ "?", "", false },          { "?", "/", false },
	{ "a?c", "a/c", false },     { "**", "a", true },
	{ "**", "a/b/c", true },     { "**/a", "a", true },
	{ "**/a", "b/c/a", true },   { "**/a", "ba", false },
	{ "**/a", "b/ca", false },   { "out/**", "out/a/b", true },
	{ "out/**", "out", false },  { "out/**", "outer/a", false },
	{ "a/**/b", "a/b", true },   { "a/**/b", "a/x/y/b", true },
	{ "a/**/b", "a/xb", false }, { "**/**/a", "a", true },
	{ "**/*.csv", "x/y/.csv", true }, { "d/*", "d/a", true },
	{ "d/*", "d/a/b", false },   { "**/*", "a", true },
};
/* clang-format on */

static void paths_match_as_it_is_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(glob_is_fine(rows[i].pattern));
		if (glob_matches(rows[i].pattern, rows[i].path,
		        strlen(rows[i].path)) != rows[i].matches)
			fail_msg("%s on %s", rows[i].pattern, rows[i].path);
	}
	assert_true(glob_matches("a??*", "a\0\xff\n", 4));
}

static void what_is_no_pattern_is_told(void **state)
{
	static const char *const bad[] = { "", "/", "/a", "a/", "a//b", ".",
		"..", "a/../b", "./a", "a**", "**a", "***", "a/**b", "[a]",
		"{a,b}", "a\\*", "a\n", "\xc3\xa9", "a\x7f" };
	static const char *const good[] = { "a", ".a", "...", "..a/b", "*a*b*",
		"**", "a b", "a/**/*", "~" };
	char text[GLOB_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (glob_is_fine(bad[i]))
			fail_msg("'%s' is fine", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!glob_is_fine(good[i]))
			fail_msg("'%s' is not fine", good[i]);
	memset(text, 'a', sizeof(text) - 1);
	text[GLOB_MAX] = '\0';
	assert_false(glob_is_fine(text));
	text[GLOB_MAX - 1] = '\0';
	assert_true(glob_is_fine(text));
}

/* What makes a matcher that tries and goes back try for ever. */
static void stars_cost_no_more_than_letters(void **state)
{
	static const char pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
	char *path = malloc(4096);

	(void)state;
	assert_non_null(path);
	memset(path, 'a', 4096);
	assert_false(glob_matches(pattern, path, 4096));
	path[4095] = 'b';
	assert_true(glob_matches(pattern, path, 4096));
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_match_as_it_is_written),
		cmocka_unit_test(what_is_no_pattern_is_told),
		cmocka_unit_test(stars_cost_no_more_than_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
