/*
 * policy/answers.h - what a filter answers to each call by its number, read
 * from its instructions: for `bailiff policy explain` and `diff` and for the
 * golden tables.  No product decision depends on it.
 */
#ifndef POLICY_ANSWERS_H
#define POLICY_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "policy/filter.h"
#include "policy/numbers.h"

struct answer {
	bool by_arguments; /* some arguments get another word */
	uint32_t word;     /* SECCOMP_RET_*; by arguments: to six of -1 */
};

/*
 * The answer to 'number' on 'arch' (AUDIT_ARCH_*).  Every branch that looks at
 * an argument is followed both ways.  ERROR_MALFORMED for what the kernel would
 * not load.
 */
int answer_find(const struct filter *f, uint32_t arch, int number,
    struct answer *ret, struct error *e) MUST_CHECK;

/* "allow", "EPERM", "ENOSYS", "kill", "once" (pid 1 of the run is asked). */
const char *answer_word(uint32_t word);

/* All of them, on this machine's architecture. */
struct answers {
	struct answer of[NUMBER_LAST + 1];
};
int answers_find(
    const struct filter *f, struct answers *ret, struct error *e) MUST_CHECK;

#endif
