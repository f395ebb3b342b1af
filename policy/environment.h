/*
 * policy/environment.h - the environment that a run of a language starts with,
 * and where the product's own files for it stand.  Pure.
 */
#ifndef POLICY_ENVIRONMENT_H
#define POLICY_ENVIRONMENT_H

#include "policy/policy.h"

/* In the view, read-only; each language has a directory of its name there. */
#define LANGUAGE_PLACE "/opt/bailiff"

/* Where a language's backends for plots write; a directory of the scratch that
 * is collected apart, under the limits "plots" and "plot_bytes". */
#define LANGUAGE_PLOTS  "plots" /* in /sandbox */

#define ENVIRONMENT_MAX (POLICY_ENV_MAX + POLICY_PLOT_ENV_MAX)

struct environment {
	size_t n;
	const char *rows[ENVIRONMENT_MAX]; /* NAME=VALUE, sorted; borrowed */
};

/* Whether plots of such a run are captured: the language has backends, and
 * 'limits' allows plots, and artifacts at all. */
bool environment_has_plots(
    const struct language *l, const uint64_t limits[LIMIT_N]);

/* Total. */
void environment_make(const struct language *l, const uint64_t limits[LIMIT_N],
    struct environment *ret);

#endif
