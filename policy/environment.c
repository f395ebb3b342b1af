/*
 * policy/environment.c - NAME=VALUE of a run.  Linked by bailiff-policy and the
 * supervisor; pure.
 */
#include "policy/environment.h"

#include <string.h>

bool environment_has_plots(
    const struct language *l, const uint64_t limits[LIMIT_N])
{
	return l->n_plot_files > 0 && limits[LIMIT_PLOTS] > 0 &&
	       limits[LIMIT_ARTIFACTS] > 0;
}

/* Both lists are sorted, and no name is in both. */
void environment_make(const struct language *l, const uint64_t limits[LIMIT_N],
    struct environment *ret)
{
	size_t n_plots = environment_has_plots(l, limits) ? l->n_plot_env : 0;
	size_t i = 0;
	size_t j = 0;

	ret->n = 0;
	while (i < l->n_env || j < n_plots)
		if (j == n_plots ||
		    (i < l->n_env && strcmp(l->env[i], l->plot_env[j]) < 0))
			ret->rows[ret->n++] = l->env[i++];
		else
			ret->rows[ret->n++] = l->plot_env[j++];
}
