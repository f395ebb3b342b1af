/*
 * cli/options.h - the one option parser of our commands: a table of rows says
 * which options there are, what they take and what they do; the same table
 * prints --help.
 *
 * "--name value" and "--name=value" are the same.  Options and operands may
 * stand in any order; "--" ends both.  An unknown option is ERROR_USAGE and
 * names the nearest one that exists.  -h and --help are always known.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define OPTIONS_MAX 64 /* rows of one command */

/* Exit codes that are ours (DESIGN.md section 10). */
enum exit_code {
	EXIT_USAGE = 2,
	EXIT_TIMEOUT = 124,
	EXIT_NOT_STARTED = 125,
	EXIT_DENIED = 126,
	EXIT_MEMORY = 137,
};

struct option_row {
	const char *name;     /* "--policy", or "-c" */
	const char *argument; /* "FILE"; NULL: the option takes none */
	const char *help;     /* one line */
	bool many;            /* may be given more than once */
};

struct command {
	const char *name;  /* "bailiff run" */
	const char *usage; /* what stands behind the name */
	const char *about; /* a sentence or two, lines of at most 78 bytes */
	const struct option_row *rows;
	size_t n_rows;
	const char *notes; /* examples and exit codes; ends with a newline */
};

/* What options_next found, beside the number of a row (0 and up). */
enum option_found {
	OPTIONS_END = -1,     /* no more words */
	OPTIONS_OPERAND = -2, /* a word that is no option; "-" is one */
	OPTIONS_REST = -3,    /* "--": argv[at] and on are not ours */
	OPTIONS_HELP = -4,    /* -h or --help */
};

struct options {
	const struct command *command; /* borrowed */
	char **argv;                   /* borrowed; ends with NULL */
	size_t at;               /* the next word; start behind the name */
	unsigned long long seen; /* one bit a row */
};

/*
 * The next option or operand.  *ret_found is a row's number or one of enum
 * option_found, *ret_value the value of an option or the operand, else NULL;
 * it points into argv.
 */
int options_next(struct options *o, int *ret_found, const char **ret_value,
    struct error *e) MUST_CHECK;

/* Where options_read puts what it finds. */
struct options_into {
	/* One option of the table by its row; 'value' points into argv. */
	int (*take)(void *into, int row, const char *value, struct error *e);
	void *into;            /* borrowed; the first argument of 'take' */
	const char **operands; /* borrowed; filled in order, NULL before */
	size_t operands_max;
	const char *operands_are; /* "one folder": what there may be at most */
};

/*
 * All words of a command that takes nothing behind "--".  *ret_help: --help was
 * among them, and nothing behind it was read.
 */
int options_read(const struct command *command, char **words,
    const struct options_into *to, bool *ret_help, struct error *e) MUST_CHECK;

/* Print --help of 'command' to standard output; the exit code: 0, or 1 when
 * it could not be written. */
int options_help(const struct command *command) MUST_CHECK;

/*
 * The nearest of 'n' words to 'word', or NULL when none is near enough to be
 * what was meant.  'words' is a table with 'stride' bytes from one char
 * pointer to the next.
 */
const char *options_nearest(
    const char *word, const void *words, size_t n, size_t stride);

#endif
