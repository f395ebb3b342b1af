/*
 * cli/options.c - the option parser.  Linked by `bailiff` and the commands
 * behind it.  The words are the caller's own and only ever compared.
 */
#include "cli/options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

#define WORD_MAX 48 /* longer words are nobody's typing error */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows of the table that distance() walks down. */
struct rows {
	uint8_t last[WORD_MAX + 1], above[WORD_MAX + 1], here[WORD_MAX + 1];
};

/* Fill 'here': letter i of 'a' against each letter of 'b'. */
static void fill_row(struct rows *r, const char *a, size_t i, const char *b)
{
	r->here[0] = (uint8_t)i;
	for (size_t j = 1; b[j - 1] != '\0'; j++) {
		size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
		size_t best = least(r->above[j - 1] + cost,
		    least(r->above[j], r->here[j - 1]) + 1U);

		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
		    a[i - 2] == b[j - 1])
			best = least(best, r->last[j - 2] + 1U);
		r->here[j] = (uint8_t)best;
	}
}

/* Levenshtein distance; a swap of two neighbours counts as one change. */
static size_t distance(const char *a, const char *b)
{
	struct rows r = { 0 };
	size_t n = strlen(a);
	size_t m = strlen(b);

	if (n > WORD_MAX || m > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		r.here[j] = (uint8_t)j;
	for (size_t i = 1; i <= n; i++) {
		memcpy(r.last, r.above, sizeof(r.last));
		memcpy(r.above, r.here, sizeof(r.above));
		fill_row(&r, a, i, b);
	}
	return r.here[m];
}

const char *options_nearest(
    const char *word, const void *words, size_t n, size_t stride)
{
	const char *best = NULL;
	size_t bound = strlen(word) / 3 + 1;

	for (size_t i = 0; i < n; i++) {
		const char *candidate;
		size_t d;

		memcpy(&candidate, (const char *)words + i * stride,
		    sizeof(candidate));
		d = distance(word, candidate);
		if (d > bound)
			continue;
		best = candidate;
		bound = d == 0 ? 0 : d - 1;
	}
	return best;
}

static int unknown(
    const struct command *c, const char *word, size_t len, struct error *e)
{
	char name[WORD_MAX + 1];
	const char *nearest = NULL;

	if (len <= WORD_MAX) {
		memcpy(name, word, len);
		name[len] = '\0';
		nearest = options_nearest(
		    name, &c->rows[0].name, c->n_rows, sizeof(c->rows[0]));
	}
	if (nearest != NULL)
		return FAIL(e, ERROR_USAGE,
		    "unknown option %.*s; did you mean %s?",
		    (int)least(len, 80), word, nearest);
	return FAIL(e, ERROR_USAGE, "unknown option %.*s; see %s --help",
	    (int)least(len, 80), word, c->name);
}

/* The value of a row that takes one: behind '=' or the next word. */
static int take_value(struct options *o, const struct option_row *row,
    const char *behind, const char **ret_value, struct error *e)
{
	*ret_value = NULL;
	if (row->argument == NULL && behind != NULL)
		return FAIL(e, ERROR_USAGE, "%s takes no value", row->name);
	if (row->argument == NULL)
		return 0;
	if (behind != NULL) {
		*ret_value = behind;
		return 0;
	}
	if (o->argv[o->at] == NULL)
		return FAIL(e, ERROR_USAGE, "%s needs a value: %s %s",
		    row->name, row->name, row->argument);
	*ret_value = o->argv[o->at++];
	return 0;
}

static int find_row(struct options *o, const char *word, int *ret_found,
    const char **ret_value, struct error *e)
{
	const char *equals =
	    strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
	size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);

	for (size_t i = 0; i < o->command->n_rows; i++) {
		const struct option_row *row = &o->command->rows[i];

		if (strlen(row->name) != len ||
		    strncmp(row->name, word, len) != 0)
			continue;
		if (o->seen >> i & 1 && !row->many)
			return FAIL(
			    e, ERROR_USAGE, "%s is given twice", row->name);
		o->seen |= 1ULL << i;
		*ret_found = (int)i;
		return take_value(
		    o, row, equals != NULL ? equals + 1 : NULL, ret_value, e);
	}
	return unknown(o->command, word, len, e);
}

int options_next(
    struct options *o, int *ret_found, const char **ret_value, struct error *e)
{
	const char *word = o->argv[o->at];

	*ret_value = NULL;
	if (word == NULL) {
		*ret_found = OPTIONS_END;
		return 0;
	}
	o->at++;
	if (strcmp(word, "--") == 0) {
		*ret_found = OPTIONS_REST;
		return 0;
	}
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
		*ret_found = OPTIONS_HELP;
		return 0;
	}
	if (word[0] != '-' || word[1] == '\0') {
		*ret_found = OPTIONS_OPERAND;
		*ret_value = word;
		return 0;
	}
	return find_row(o, word, ret_found, ret_value, e);
}

static int print_row(const struct option_row *r)
{
	const char *argument = r->argument != NULL ? r->argument : "";
	int used = (int)(strlen(r->name) + strlen(argument)) +
	           (r->argument != NULL ? 1 : 0);

	return dprintf(STDOUT_FILENO, "  %s%s%s%*s%s\n", r->name,
	    r->argument != NULL ? " " : "", argument, used < 22 ? 24 - used : 2,
	    "", r->help);
}

int options_read(const struct command *command, char **words,
    const struct options_into *to, bool *ret_help, struct error *e)
{
	struct options o = { command, words, 0, 0 };
	size_t n_operands = 0;
	const char *value;
	int found;

	for (;;) {
		if (options_next(&o, &found, &value, e) < 0)
			return -1;
		*ret_help = found == OPTIONS_HELP;
		if (*ret_help || found == OPTIONS_END)
			return 0;
		if (found == OPTIONS_REST ||
		    (found == OPTIONS_OPERAND &&
		        n_operands == to->operands_max))
			return FAIL(e, ERROR_USAGE, "%s at most; see %s --help",
			    to->operands_are, command->name);
		if (found == OPTIONS_OPERAND)
			to->operands[n_operands++] = value;
		else if (to->take(to->into, found, value, e) < 0)
			return -1;
	}
}

int options_help(const struct command *c)
{
	bool failed =
	    dprintf(STDOUT_FILENO, "usage: %s %s\n\n%s\n%s", c->name, c->usage,
	        c->about, c->n_rows > 0 ? "\noptions:\n" : "") < 0;

	for (size_t i = 0; i < c->n_rows && !failed; i++)
		failed = print_row(&c->rows[i]) < 0;
	if (!failed && c->notes != NULL)
		failed = dprintf(STDOUT_FILENO, "\n%s", c->notes) < 0;
	if (failed && errno != EPIPE)
		say_line("standard output: %s", strerrordesc_np(errno));
	return failed ? 1 : 0;
}
