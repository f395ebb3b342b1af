/*
 * tests/unit/test_path.c - paths and names as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/path.h"
#include "policy/policy.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void judge(const char *path, unsigned int want)
{
	unsigned int got = path_judge(path);

	if (got != want)
		fail_msg("\"%s\": %u, not %u", path, got, want);
}

static void plain_paths_are_fine(void **state)
{
	static const char *const paths[] = { "/a", "/a/b.csv", "/a b/c",
		"/.hidden/...", "/a/..b", "/a/b..", "/a/-rf", "/a/~",
		"/a/$HOME", "/a/*", "/a/c:\\d", "/\xc3\xa9/\xe6\x97\xa5" };

	(void)state;
	for (size_t i = 0; i < N(paths); i++)
		judge(paths[i], PATH_FINE);
}

/* Nothing is decoded or folded: what looks like dots or a slash is a letter,
 * and the component it stands in is a name like any other. */
static void look_alikes_are_plain_names(void **state)
{
	static const char *const paths[] = {
		"/a/%2e%2e/b", "/a/%2E%2E%2Fb", "/a/%252e%252e/b", "/a/..%2fb",
		"/a/..;/b", "/a/..\\..\\b", "/a/.. /b",
		"/a/\xef\xbc\x8e\xef\xbc\x8e/b", /* fullwidth full stops */
		"/a/\xe2\x80\xa4\xe2\x80\xa4/b", /* one dot leaders */
		"/a/\xe2\x80\xa5/b",             /* two dot leader */
		"/a/..\xe2\x88\x95"
		"b", /* division slash */
		"/a/..\xe2\x81\x84"
		"b", /* fraction slash */
		"/a/..\xef\xbc\x8f"
		"b",             /* fullwidth solidus */
		"/a/\xd0\xb0/b", /* Cyrillic a */
	};

	(void)state;
	for (size_t i = 0; i < N(paths); i++) {
		judge(paths[i], PATH_FINE);
		assert_string_equal(path_beneath("/a", paths[i]), paths[i] + 3);
	}
}

static void traversal_is_seen_anywhere(void **state)
{
	static const char *const paths[] = { "/..", "/../a", "/a/..", "/a/../b",
		"/a/b/../../../../etc/passwd", "/.../../..." };

	(void)state;
	for (size_t i = 0; i < N(paths); i++)
		judge(paths[i], PATH_TRAVERSAL);
	judge("..", PATH_TRAVERSAL | PATH_NOT_ABSOLUTE);
	judge("a/../b", PATH_TRAVERSAL | PATH_NOT_ABSOLUTE);
	judge("/a//../b", PATH_TRAVERSAL | PATH_COMPONENT);
}

static void dots_and_slashes_are_components(void **state)
{
	static const char *const paths[] = { "/", "//", "///", "//a", "/a/",
		"/a//", "/a//b", "/./a", "/a/.", "/a/./b", "/." };

	(void)state;
	for (size_t i = 0; i < N(paths); i++)
		judge(paths[i], PATH_COMPONENT);
	judge("", PATH_NOT_ABSOLUTE);
	judge(".", PATH_COMPONENT | PATH_NOT_ABSOLUTE);
	judge("a/", PATH_COMPONENT | PATH_NOT_ABSOLUTE);
}

/* Every control character of ASCII, C1, invisible and bidirectional ones, and
 * what is no UTF-8. */
static void control_characters_are_components(void **state)
{
	static const char *const odd[] = { "\x7f", "\xc2\x80", "\xc2\x85",
		"\xc2\x9b", "\xe2\x80\x8b", "\xe2\x80\x8d", "\xe2\x80\x8e",
		"\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xae", "\xe2\x81\xa0",
		"\xe2\x81\xa6", "\xef\xbb\xbf", "\xff", "\xfe", "\xc0\xaf",
		"\xc0\xae", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xe2\x80",
		"\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80" };
	char path[32];

	(void)state;
	for (int c = 1; c < ' '; c++) {
		(void)snprintf(path, sizeof(path), "/a/b%cc", c);
		judge(path, PATH_COMPONENT);
		(void)snprintf(path, sizeof(path), "/a/%c", c);
		judge(path, PATH_COMPONENT);
		assert_false(path_is_name(path + 3));
	}
	for (size_t i = 0; i < N(odd); i++) {
		(void)snprintf(path, sizeof(path), "/a/b%s", odd[i]);
		judge(path, PATH_COMPONENT);
		assert_false(path_is_name(path + 3));
	}
	/* A traversal behind a control character is one all the same. */
	judge("/a\n/../b", PATH_COMPONENT | PATH_TRAVERSAL);
}

static void components_and_paths_have_a_length(void **state)
{
	char path[POLICY_PATH_MAX + 8];

	(void)state;
	memset(path, 'n', sizeof(path));
	path[0] = '/';
	path[1 + 255] = '\0';
	judge(path, PATH_FINE);
	assert_true(path_is_name(path + 1));
	path[1 + 255] = 'n';
	path[1 + 256] = '\0';
	judge(path, PATH_COMPONENT);
	assert_false(path_is_name(path + 1));
	/* 4095 bytes are the most that openat2(2) takes with its NUL. */
	memset(path, 'n', sizeof(path));
	for (size_t i = 0; i < sizeof(path); i += 256)
		path[i] = '/';
	path[POLICY_PATH_MAX - 1] = '\0';
	assert_int_equal(strlen(path), 4095);
	judge(path, PATH_FINE);
	path[POLICY_PATH_MAX - 1] = 'n';
	path[POLICY_PATH_MAX] = '\0';
	judge(path, PATH_COMPONENT);
	path[POLICY_PATH_MAX] = '/';
	path[POLICY_PATH_MAX + 1] = '.';
	path[POLICY_PATH_MAX + 2] = '.';
	path[POLICY_PATH_MAX + 3] = '\0';
	judge(path, PATH_COMPONENT | PATH_TRAVERSAL);
}

static void beneath_goes_by_components(void **state)
{
	static const struct {
		const char *root, *path, *rest;
	} rows[] = {
		{ "/data", "/data/x", "x" },
		{ "/data", "/data/x/y", "x/y" },
		{ "/data", "/data", NULL },
		{ "/data", "/data2/x", NULL },
		{ "/data", "/dat/x", NULL },
		{ "/data", "/datax", NULL },
		{ "/data", "/DATA/x", NULL },
		{ "/data", "/x/data/x", NULL },
		{ "/data/in", "/data/in/x", "x" },
		{ "/data/in", "/data/input/x", NULL },
		{ "/data/in", "/data/x", NULL },
		{ "/data/in", "/data", NULL },
		{ "/a/a", "/a/a/a/a", "a/a" },
		{ "/data.", "/data./x", "x" },
		{ "/data", "/data./x", NULL },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		const char *rest = path_beneath(rows[i].root, rows[i].path);

		if (rows[i].rest == NULL)
			assert_null(rest);
		else
			assert_string_equal(rest, rows[i].rest);
	}
}

static void names_are_one_component_that_hides_nothing(void **state)
{
	static const char *const good[] = { "a", "a.csv", "a b", "a...a",
		"\xc3\xa9", "a-", "%2e%2e", "a..." };
	static const char *const bad[] = { "", ".", "..", ".a", "-", "--help",
		"...", "...a", "/", "a/b", "a/", "/a" };

	(void)state;
	for (size_t i = 0; i < N(good); i++)
		assert_true(path_is_name(good[i]));
	for (size_t i = 0; i < N(bad); i++)
		assert_false(path_is_name(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_paths_are_fine),
		cmocka_unit_test(look_alikes_are_plain_names),
		cmocka_unit_test(traversal_is_seen_anywhere),
		cmocka_unit_test(dots_and_slashes_are_components),
		cmocka_unit_test(control_characters_are_components),
		cmocka_unit_test(components_and_paths_have_a_length),
		cmocka_unit_test(beneath_goes_by_components),
		cmocka_unit_test(names_are_one_component_that_hides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
