/*
 * tests/unit/test_schema.c - no key of a policy is without a shape, and every
 * bound of a shape is the parser's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/parse_layers.h"
#include "policy/schema.h"
#include "policy/shape.h"

/* Of language files, and of limits, whose shape is limit_table. */
static bool is_unpublished(const struct reader_keys *table)
{
	return table == &parse_language_file_keys ||
	       table == &parse_language_module_keys ||
	       table == &parse_language_package_keys ||
	       table == &parse_installer_keys || table == &parse_plot_keys ||
	       table == &parse_limit_keys;
}

static void every_key_of_a_policy_has_a_shape(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; parse_tables[i] != NULL; i++)
		for (size_t j = 0; j < parse_tables[i]->n; j++, n++)
			if ((parse_tables[i]->keys[j].shape == NULL) !=
			    is_unpublished(parse_tables[i]))
				fail_msg("%s: %s", parse_tables[i]->what,
				    parse_tables[i]->keys[j].name);
	assert_true(n > 60);
}

/* A table that no shape leads to would be missing from the schema. */
static void every_table_is_reached(void **state)
{
	(void)state;
	for (size_t i = 1; parse_tables[i] != NULL; i++) {
		bool reached = is_unpublished(parse_tables[i]) ||
		               parse_tables[i] == shape_language.keys;

		for (size_t j = 0; !reached && parse_tables[j] != NULL; j++)
			for (size_t k = 0; k < parse_tables[j]->n; k++) {
				const struct shape *s =
				    parse_tables[j]->keys[k].shape;

				if (s != NULL && s->item != NULL)
					s = s->item;
				while (s != NULL) {
					reached = reached ||
					          s->keys == parse_tables[i];
					s = s->instead;
				}
			}
		if (!reached)
			fail_msg("nothing leads to %s", parse_tables[i]->what);
	}
}

static void words_that_are_built_come_first(void **state)
{
	(void)state;
	for (size_t i = 0; parse_tables[i] != NULL; i++)
		for (size_t j = 0; j < parse_tables[i]->n; j++) {
			const struct shape *s = parse_tables[i]->keys[j].shape;

			if (s == NULL || s->kind != SHAPE_WORD)
				continue;
			assert_true(s->n_built >= 1);
			assert_true(s->n_built <= s->words->n);
		}
}

static void printing_fits_or_fails(void **state)
{
	char *text = malloc(SCHEMA_TEXT_MAX);
	struct text_out out = { text, SCHEMA_TEXT_MAX, 0 };
	struct error e;
	size_t len;

	(void)state;
	assert_non_null(text);
	assert_int_equal(schema_print(&out, &e), 0);
	len = out.len;
	assert_true(len > 10000 && text[len - 1] == '\n');
	for (size_t cap = 0; cap < len; cap += 997) {
		out = (struct text_out){ text, cap, 0 };
		assert_int_equal(schema_print(&out, &e), -1);
		assert_int_equal(e.kind, ERROR_LIMIT);
		assert_true(out.len <= cap);
	}
	out = (struct text_out){ text, len + 1, 0 };
	assert_int_equal(schema_print(&out, &e), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_of_a_policy_has_a_shape),
		cmocka_unit_test(every_table_is_reached),
		cmocka_unit_test(words_that_are_built_come_first),
		cmocka_unit_test(printing_fits_or_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
