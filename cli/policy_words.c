/*
 * cli/policy_words.c - the common beginning of the commands.  Linked by
 * bailiff-policy.
 */
#include "cli/policy_words.h"

#include <string.h>
#include <unistd.h>

#include "cli/policy.h"
#include "cli/say.h"

#define SYSTEM_POLICY "/etc/bailiff/policy.json"

static int take_operand(const struct policy_words_want *want, size_t *n,
    const char *word, struct policy_words_given *ret)
{
	if (*n < want->most) {
		ret->operands[(*n)++] = word;
		return POLICY_WORDS_GO_ON;
	}
	if (want->most == 0)
		say_line("%s takes no operand", want->command->name);
	else
		say_line("'%.80s' is one %s too many; see %s --help", word,
		    want->operand, want->command->name);
	return EXIT_USAGE;
}

static int take_all(const struct policy_words_want *want, char **words,
    size_t *n, struct policy_words_given *ret)
{
	struct options at = { .command = want->command, .argv = words };
	int code = POLICY_WORDS_GO_ON;
	const char *value;
	struct error e;
	int found;

	do {
		if (options_next(&at, &found, &value, &e) < 0)
			return say_failed(&e, EXIT_USAGE);
		if (found == OPTIONS_HELP)
			return options_help(want->command);
		if (found == OPTIONS_OPERAND)
			code = take_operand(want, n, value, ret);
		if (found < 0)
			continue;
		ret->has[found] = true;
		ret->values[found] = value;
	} while (code == POLICY_WORDS_GO_ON && found != OPTIONS_END &&
	         found != OPTIONS_REST);
	for (; code == POLICY_WORDS_GO_ON && words[at.at] != NULL; at.at++)
		code = take_operand(want, n, words[at.at], ret);
	return code;
}

int policy_words_take(const struct policy_words_want *want, char **words,
    struct policy_words_given *ret)
{
	size_t n = 0;
	int code;

	memset(ret, 0, sizeof(*ret));
	code = take_all(want, words, &n, ret);
	if (code != POLICY_WORDS_GO_ON || n >= want->least)
		return code;
	say_line("%s needs %s; see %s --help", want->command->name,
	    want->operand, want->command->name);
	return EXIT_USAGE;
}

int policy_words_default(char ret[POLICY_PATH_MAX], struct error *e)
{
	if (access(SYSTEM_POLICY, F_OK) == 0) {
		memcpy(ret, SYSTEM_POLICY, sizeof(SYSTEM_POLICY));
		return 0;
	}
	return policy_place(
	    geteuid() == 0 ? "policies/default.json" : "policies/user.json",
	    ret, e);
}
