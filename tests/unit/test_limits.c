/*
 * tests/unit/test_limits.c - the table of limits holds together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "audit/event.h"
#include "executor/launch.h"
#include "executor/protocol.h"
#include "policy/filter.h"
#include "policy/limits.h"

static void every_row_is_ordered(void **state)
{
	(void)state;
	for (size_t i = 0; i < LIMIT_N; i++) {
		const struct limit_info *l = &limit_table[i];

		assert_non_null(l->name);
		assert_non_null(l->rule);
		assert_true(l->floor <= l->fallback_default);
		assert_true(l->fallback_default <= l->fallback_max);
		assert_true(l->fallback_max <= l->ceiling);
		assert_true(l->ceiling < LIMIT_UNLIMITED);
	}
}

static void names_are_found_and_are_words_of_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < LIMIT_N; i++) {
		const char *name = limit_table[i].name;

		assert_int_equal(limit_find(name), i);
		assert_int_equal(
		    strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		assert_true(strlen(name) < PROTOCOL_WORD_MAX);
		/* The word of the rule is the name without its unit. */
		assert_int_equal(strncmp(name, limit_table[i].rule,
		                     strlen(limit_table[i].rule)),
		    0);
	}
	assert_int_equal(limit_find(""), LIMIT_N);
	assert_int_equal(limit_find("wall"), LIMIT_N);
	assert_int_equal(limit_find("WALL_MS"), LIMIT_N);
}

static void ceilings_fit_what_carries_them(void **state)
{
	(void)state;
	assert_true(LIMIT_N <= PROTOCOL_LIMITS_MAX);
	assert_true(LIMIT_N <= EVENT_LIMITS_MAX);
	assert_true(limit_table[LIMIT_INPUTS].ceiling <= LAUNCH_INPUTS_MAX);
	assert_true(limit_table[LIMIT_INPUTS].ceiling <= PROTOCOL_INPUTS_MAX);
	assert_true(limit_table[LIMIT_ARGS].ceiling <= PROTOCOL_ARGS_MAX);
	assert_true(
	    limit_table[LIMIT_OPEN_FILES].ceiling < FILTER_PROGRAM_FD - 1);
	/* tmpfs reads 0 as no limit. */
	assert_true(limit_table[LIMIT_SCRATCH_BYTES].floor > 0);
	assert_true(limit_table[LIMIT_SCRATCH_INODES].floor > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_ordered),
		cmocka_unit_test(names_are_found_and_are_words_of_records),
		cmocka_unit_test(ceilings_fit_what_carries_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
