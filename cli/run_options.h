/*
 * cli/run_options.h - the words of `bailiff run`, understood.
 */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include <stdbool.h>

#include "cli/front.h"
#include "cli/source.h"
#include "cli/stream.h"

struct run_options {
	/* NULL: run_command; or run_explain_command, which knows 'request'. */
	const struct command *command;
	const char *request; /* --request, or NULL */
	struct front_place place;
	struct source source;
	const char *language; /* --lang, or NULL */
	const char *out;      /* --out, or NULL */
	enum source_stdin input;
	enum stream_mode mode;
	bool json;
	bool help;
	bool has_source;
	/* Of each input of 'run' that is inline: the file to read; borrowed. */
	const char *put[PROTOCOL_INPUTS_MAX];
	size_t put_len[PROTOCOL_INPUTS_MAX]; /* bytes of that path */
	struct protocol_run *run; /* limits, inputs, args, label; borrowed */
};

extern const struct command run_explain_command;

/*
 * Fill 'ret' (zeroed, with 'run' set) from the words.  Everything wrong with
 * them is ERROR_USAGE; nothing is opened yet.
 */
int run_options_parse(
    char **words, struct run_options *ret, struct error *e) MUST_CHECK;

#endif
