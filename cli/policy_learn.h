/*
 * cli/policy_learn.h - `bailiff audit facts`, started to be read from.  Private
 * to bailiff-policy.
 */
#ifndef CLI_POLICY_LEARN_H
#define CLI_POLICY_LEARN_H

#include <sys/types.h>

#include "base/error.h"
#include "policy/learn.h"

#define LEARN_RUNS_MAX 64

struct learn_reader {
	const char *runs[LEARN_RUNS_MAX + 1]; /* borrowed; ends with NULL */
	const char *state, *key;              /* borrowed; NULL: not said */
	pid_t pid;
	int fd; /* owned; its facts */
};

/* Start bailiff-audit, which lies beside this program; it speaks on our
 * standard error itself. */
int learn_reader_start(struct learn_reader *r, struct error *e) MUST_CHECK;

/*
 * Give up everything but reading that descriptor, writing to open ones and
 * waiting: before the first fact.
 */
int learn_reader_confine(struct error *e) MUST_CHECK;

/* Every line into 'l', to the end.  *ret_code is what bailiff-audit ended with:
 * 0, or its exit code after it has said why. */
int learn_reader_take(struct learn_reader *r, struct learn *l, int *ret_code,
    struct error *e) MUST_CHECK;

#endif
