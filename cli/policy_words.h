/*
 * cli/policy_words.h - how every command of bailiff-policy begins: its words
 * by the table of its options, and the policy that is meant.
 */
#ifndef CLI_POLICY_WORDS_H
#define CLI_POLICY_WORDS_H

#include <stdbool.h>

#include "cli/options.h"
#include "policy/policy.h"

#define POLICY_WORDS_OPERANDS 2

/* What was said; all borrowed of argv. */
struct policy_words_given {
	bool has[OPTIONS_MAX]; /* of each row of the command */
	const char *values[OPTIONS_MAX];
	const char *operands[POLICY_WORDS_OPERANDS]; /* NULL: not given */
};

/* Worth an exit code, or POLICY_WORDS_GO_ON. */
#define POLICY_WORDS_GO_ON (-1)

/*
 * Read all words: at least 'least' and at most 'most' operands, which
 * 'operand' names in errors.  Behind "--" every word is an operand.  --help is
 * printed; what is wrong is said in a line (EXIT_USAGE).
 */
struct policy_words_want {
	const struct command *command;
	const char *operand; /* "FILE" */
	size_t least, most;
};
int policy_words_take(const struct policy_words_want *want, char **words,
    struct policy_words_given *ret) MUST_CHECK;

/*
 * The policy that `bailiff run` would use without --policy (DESIGN.md): the
 * system's if there is one, else the preset of this account.
 */
int policy_words_default(char ret[POLICY_PATH_MAX], struct error *e) MUST_CHECK;

#endif
