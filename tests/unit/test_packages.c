/*
 * tests/unit/test_packages.c - what a package database says of languages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/packages.h"

#define IN "Status: install ok installed\n"

struct given {
	struct policy policy;
	struct packages packages;
};

/* A language of these patterns reads this database. */
static struct given *take(
    const char *version, const char *library, const char *text)
{
	struct given *g = calloc(1, sizeof(*g));
	struct language *l;

	assert_non_null(g);
	l = &g->policy.languages[0].language;
	g->policy.n_languages = 1;
	(void)snprintf(l->package, sizeof(l->package), "%s", "python3");
	(void)snprintf(
	    l->packages.version, sizeof(l->packages.version), "%s", version);
	(void)snprintf(l->packages.libraries[0],
	    sizeof(l->packages.libraries[0]), "%s", library);
	l->packages.n_libraries = 1;
	(void)snprintf(
	    g->policy.languages[0].denied[0], POLICY_NAME_MAX, "bad");
	g->policy.languages[0].n_denied = 1;
	packages_take(&g->packages, text, strlen(text), &g->policy);
	return g;
}

static void is_version(const char *database, const char *upstream)
{
	char text[256];
	struct given *g;

	(void)snprintf(text, sizeof(text),
	    "Package: python3\n" IN "Version: %s\n", database);
	g = take("", "*", text);
	assert_int_equal(g->packages.of[0].n_versions, 1);
	assert_string_equal(g->packages.of[0].versions[0].version, upstream);
	free(g);
}

static void a_version_loses_epoch_and_revision(void **state)
{
	(void)state;
	is_version("3.11.2-1+b1", "3.11.2");
	is_version("2:1.19~1", "1.19");
	is_version("20.20.2-1nodesource1+repack1", "20.20.2");
	is_version("3.1.7+really3.1.2-0+deb12u1", "3.1.2");
	is_version("17.0.15+6-1~deb12u1", "17.0.15");
	is_version("4", "4");
	is_version("\x1b[31m", "");
}

static void a_pattern_of_a_version_takes_numbers_alone(void **state)
{
	struct given *g = take("ruby*", "x*",
	    "Package: ruby\n" IN "Version: 1\n\n"
	    "Package: ruby3.1\n" IN "Version: 3.1.2-1\n\n"
	    "Package: ruby3.1-dev\n" IN "Version: 5\n\n"
	    "Package: ruby2.7\nStatus: deinstall ok config-files\nVersion: "
	    "2.7.1\n\n"
	    "Package: ruby3.3\n" IN "Version: 3.3.0-1\n");
	const struct packages_of *of = &g->packages.of[0];

	(void)state;
	assert_int_equal(of->n_versions, 2);
	assert_string_equal(of->versions[0].star, "3.1");
	assert_string_equal(of->versions[0].version, "3.1.2");
	assert_string_equal(of->versions[1].star, "3.3");
	free(g);
}

static void libraries_are_sorted_once_each_and_no_denied_one(void **state)
{
	struct given *g = take("", "python3-*",
	    "Package: python3-yaml\n" IN "Version: 6.0-3\n\n"
	    "Package: python3-numpy\nVersion: 1:1.24.2-1\n" IN
	    "Depends: python3-x\n Package: python3-evil\n\n"
	    "Package: python3-yam\n" IN "Version: 1\n\n"
	    "Package: python3-numpy\n" IN "Version: 2\n\n"
	    "Package: python3-numpy-doc\n" IN "Version: 2\n\n"
	    "Package: python3-bad\n" IN "Version: 2\n\n"
	    "Package: python3-gone\nStatus: deinstall ok not-installed\n"
	    "Version: 2\n\n"
	    "Package: python3-\x1b\n" IN "Version: 2\n\n"
	    "Package: python3-\n" IN "Version: 2\n\n"
	    "Package: python3-nothing\n" IN "\n"
	    "Package: python\n" IN "Version: 2\n\n"
	    "Package: python3-a\n" IN "Version: 7");

	(void)state;
	assert_string_equal(g->packages.of[0].libraries,
	    "a 7\nnumpy 1.24.2\nyam 1\nyaml 6.0\n");
	assert_int_equal(g->packages.of[0].libraries_len,
	    strlen(g->packages.of[0].libraries));
	free(g);
}

static void what_does_not_fit_is_counted(void **state)
{
	size_t cap = 400000;
	char *text = calloc(1, cap);
	size_t len = 0;
	struct given *g;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < 2000; i++)
		len += (size_t)snprintf(text + len, cap - len,
		    "Package: python3-p%d\n" IN "Version: 1.%d\n\n", i * 7, i);
	g = take("", "python3-*", text);
	assert_true(g->packages.of[0].libraries_len < PACKAGES_LIBRARIES_MAX);
	assert_true(
	    g->packages.of[0].libraries_len > PACKAGES_LIBRARIES_MAX - 20);
	assert_true(g->packages.of[0].libraries_more > 500);
	free(g);
	free(text);
}

static void any_text_is_read_to_its_end(void **state)
{
	static const char text[] =
	    "Package: python3-a\n" IN "Version: 7\n\nPackage: \n\n\nVersion:";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char *cut = malloc(len > 0 ? len : 1);
		struct given *g = take("", "python3-*", "");

		assert_non_null(cut);
		memcpy(cut, text, len);
		packages_take(&g->packages, cut, len, &g->policy);
		free(cut);
		free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_version_loses_epoch_and_revision),
		cmocka_unit_test(a_pattern_of_a_version_takes_numbers_alone),
		cmocka_unit_test(
		    libraries_are_sorted_once_each_and_no_denied_one),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(any_text_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
