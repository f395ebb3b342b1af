/*
 * policy/diff.h - what a second policy allows that a first does not, and the
 * other way round.
 */
#ifndef POLICY_DIFF_H
#define POLICY_DIFF_H

#include "base/error.h"
#include "policy/policy.h"

enum diff_kind {
	DIFF_ALLOWED, /* the second allows what the first denies */
	DIFF_DENIED,  /* the second denies what the first allows */
	DIFF_CHANGED, /* neither more nor less */
};

#define DIFF_WHAT_MAX 256
#define DIFF_TEXT_MAX (POLICY_PATH_MAX + 64)

/* One difference: 'what' names the place ("python.limits.pids.max"). */
struct diff_item {
	enum diff_kind kind;
	char what[DIFF_WHAT_MAX];
	char text[DIFF_TEXT_MAX]; /* "8, was 4" */
};

struct diff_sink {
	void (*take)(void *context, const struct diff_item *item);
	void *context;
};

/*
 * Every difference, in the order: languages by name, each with capabilities,
 * limits, modules and calls of its filter; paths; the rest.  Both policies must
 * have been read with the same language files.  Not quite pure: filter.h.
 */
int diff_policies(const struct policy *first, const struct policy *second,
    const struct diff_sink *sink, struct error *e) MUST_CHECK;

#endif
