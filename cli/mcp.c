/*
 * cli/mcp.c - `bailiff mcp`.  Linked by `bailiff`.  It finds or starts the
 * service as `bailiff run` does, then becomes bailiff-mcp with nothing but
 * standard input, output, error and that one channel.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/front.h"
#include "cli/mcp_config.h"
#include "cli/say.h"
#include "executor/service.h"

#define LINK_FD 3 /* mcp/front.c */

enum row {
	ROW_POLICY,
	ROW_STATE,
	ROW_PRINT,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_POLICY] = { "--policy", "FILE", "what may run; as given to bailiff run", false },
	[ROW_STATE]  = { "--state", "DIR", "where results and log lie; as given to bailiff run", false },
	[ROW_PRINT]  = { "--print-config", "CLIENT", "print what CLIENT needs to start this server", false },
};
/* clang-format on */

const struct command mcp_command = {
	.name = "bailiff mcp",
	.usage = "[options]",
	.about = "Serve an MCP client over standard input and output: tools to "
	         "run code under\nthe policy, and to read what runs left.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "CLIENT is claude-code, claude-desktop, codex, cursor, gemini "
	         "or vscode.\n"
	         "\n"
	         "exit codes: 0 the client left, 1 the service ended, 2 usage, "
	         "125 no service\n",
};

struct mcp_options {
	struct front_place place;
	const char *client; /* of --print-config, or NULL */
	bool help;
};

static int parse(char **words, struct mcp_options *o, struct error *e)
{
	struct options at = { .command = &mcp_command, .argv = words };
	const char *value;
	int found;

	do {
		if (options_next(&at, &found, &value, e) < 0)
			return -1;
		switch (found) {
		case ROW_POLICY:
			o->place.policy = value;
			break;
		case ROW_STATE:
			o->place.state = value;
			break;
		case ROW_PRINT:
			o->client = value;
			break;
		case OPTIONS_HELP:
			o->help = true;
			break;
		case OPTIONS_OPERAND:
		case OPTIONS_REST:
			return FAIL(e, ERROR_USAGE, "mcp takes no operand");
		default:
			break;
		}
	} while (found != OPTIONS_END && !o->help);
	return 0;
}

/* The channel becomes descriptor 3, which alone survives the exec. */
static int hand_over(struct front *f, struct error *e)
{
	if (f->channel.fd == LINK_FD) {
		if (fcntl(LINK_FD, F_SETFD, 0) < 0)
			return FAIL_SYS(e, "hand the channel over");
		return 0;
	}
	if (dup2(f->channel.fd, LINK_FD) < 0)
		return FAIL_SYS(e, "hand the channel over");
	return 0;
}

static int become(struct front *f, struct error *e)
{
	static const char name[] = "bailiff-mcp";
	char path[SERVICE_PATH_MAX];
	char word[sizeof(name)];
	char *argv[] = { word, NULL };
	char *const no_environment[] = { NULL };

	memcpy(word, name, sizeof(name));
	if (service_program_path(name, path, e) < 0 || hand_over(f, e) < 0)
		return -1;
	(void)execve(path, argv, no_environment);
	return FAIL_SYS(e, "%.200s", path);
}

int mcp_main(char **words)
{
	struct mcp_options o = { .help = false };
	struct front *f;
	struct error e;

	if (parse(words, &o, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (o.help)
		return options_help(&mcp_command);
	if (o.client != NULL)
		return mcp_config_print(o.client, &o.place);
	if (front_open(&o.place, &f, &e) == 0) {
		(void)become(f, &e);
		front_free(f);
	}
	return say_failed(&e, EXIT_NOT_STARTED);
}
