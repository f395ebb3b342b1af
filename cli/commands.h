/*
 * cli/commands.h - the commands that live in `bailiff` itself.  Each gets its
 * words without the command's name, ended by NULL, and returns an exit code;
 * each has a table for --help.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command run_command;
extern const struct command result_command;
extern const struct command redact_command;
extern const struct command stop_command;
extern const struct command mcp_command;

int run_main(char **words);
int result_main(char **words);
int redact_main(char **words);
int stop_main(char **words);
int mcp_main(char **words);

#endif
