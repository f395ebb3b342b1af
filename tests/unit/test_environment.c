/*
 * tests/unit/test_environment.c - what a run's environment is made of.
 */
#include "policy/environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct language *make(void)
{
	struct language *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	strcpy(l->env[0], "A=1");
	strcpy(l->env[1], "M=2");
	l->n_env = 2;
	strcpy(l->plot_env[0], "B=3");
	strcpy(l->plot_env[1], "Z=4");
	l->n_plot_env = 2;
	strcpy(l->plot_files[0], "f");
	l->n_plot_files = 1;
	return l;
}

static void plots_add_theirs_in_order(void **state)
{
	static const char *const all[] = { "A=1", "B=3", "M=2", "Z=4" };
	uint64_t limits[LIMIT_N] = { 0 };
	struct language *l = make();
	struct environment env;

	(void)state;
	limits[LIMIT_PLOTS] = 1;
	limits[LIMIT_ARTIFACTS] = 1;
	environment_make(l, limits, &env);
	assert_int_equal(env.n, 4);
	for (size_t i = 0; i < env.n; i++)
		assert_string_equal(env.rows[i], all[i]);
	free(l);
}

static void without_plots_or_artifacts_nothing_is_added(void **state)
{
	static const uint64_t off[][2] = { { 0, 1 }, { 1, 0 }, { 0, 0 } };
	struct language *l = make();

	(void)state;
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		uint64_t limits[LIMIT_N] = { 0 };
		struct environment env;

		limits[LIMIT_PLOTS] = off[i][0];
		limits[LIMIT_ARTIFACTS] = off[i][1];
		assert_false(environment_has_plots(l, limits));
		environment_make(l, limits, &env);
		assert_int_equal(env.n, 2);
	}
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plots_add_theirs_in_order),
		cmocka_unit_test(without_plots_or_artifacts_nothing_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
