/*
 * cli/bailiff.c - the one command on PATH.  It parses no JSON, no policy and no
 * log: commands that do are programs of their own, started by execve with the
 * caller's own words and descriptors.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "executor/service.h"

struct entry {
	const char *name;
	int (*main)(char **words);     /* here, or */
	const char *program;           /* in libexec/bailiff, or not built */
	const char *first;             /* word put in front of the others */
	const struct command *command; /* of what is here */
	const char *help;
};

/* clang-format off */
static const struct entry entries[] = {
	{ "run", run_main, NULL, NULL, &run_command, "run code: decided, confined, recorded" },
	{ "result", result_main, NULL, NULL, &result_command, "list or print the files that a run left" },
	{ "stop", stop_main, NULL, NULL, &stop_command, "end the services of a state directory" },
	{ "policy", NULL, "bailiff-policy", NULL, NULL, "check, explain, test, compare and write policies" },
	{ "languages", NULL, "bailiff-policy", "languages", NULL, "the languages, and whether their tools are here" },
	{ "audit", NULL, "bailiff-audit", NULL, NULL, "verify and read the log" },
	{ "key", NULL, "bailiff-key", NULL, NULL, "the keys that sign a log, and pins to verify by" },
	{ "mcp", mcp_main, NULL, NULL, &mcp_command, "serve an MCP client" },
	/* Named so that nobody takes them for a typing error. */
	{ "doctor", NULL, NULL, NULL, NULL, NULL },
	{ "selftest", NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */
#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static int print_help(void)
{
	bool failed =
	    dprintf(STDOUT_FILENO,
	        "usage: bailiff COMMAND ...\n\n"
	        "Bailiff executes code that nobody has read: a policy "
	        "decides, the code runs\nconfined or not at all, and "
	        "what happened is written down, signed.\n\n"
	        "commands:\n") < 0;

	for (size_t i = 0; i < N_ENTRIES && !failed; i++)
		if (entries[i].help != NULL)
			failed = dprintf(STDOUT_FILENO, "  %-10s %s\n",
			             entries[i].name, entries[i].help) < 0;
	if (!failed)
		failed = dprintf(STDOUT_FILENO,
		             "\nbailiff COMMAND --help says more; "
		             "bailiff --version\n") < 0;
	return failed ? 1 : 0;
}

static const struct entry *find(const char *name)
{
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
	return NULL;
}

static int become(const struct entry *entry, char **words, size_t n)
{
	char path[SERVICE_PATH_MAX];
	char **argv = calloc(n + 3, sizeof(*argv));
	struct error e;
	size_t at = 0;

	if (argv == NULL)
		return say_failed(
		    &(struct error){ .text = "no memory" }, EXIT_NOT_STARTED);
	argv[at++] = strdup(entry->program);
	if (entry->first != NULL)
		argv[at++] = strdup(entry->first);
	for (size_t i = 0; i < n; i++)
		argv[at++] = words[i];
	if (service_program_path(entry->program, path, &e) < 0) {
		free(argv);
		return say_failed(&e, EXIT_NOT_STARTED);
	}
	(void)execv(path, argv);
	say_line("%s: %s; the installation is incomplete", path,
	    strerrordesc_np(errno));
	free(argv);
	return EXIT_NOT_STARTED;
}

static int unknown(const char *name)
{
	const char *nearest = options_nearest(
	    name, &entries[0].name, N_ENTRIES, sizeof(entries[0]));

	if (nearest != NULL)
		say_line(
		    "unknown command '%.80s'; did you mean %s?", name, nearest);
	else
		say_line("unknown command '%.80s'; see bailiff --help", name);
	return EXIT_USAGE;
}

static int dispatch(const char *name, char **words, size_t n)
{
	/* The one command about the log that changes something. */
	if (strcmp(name, "audit") == 0 && n > 0 &&
	    strcmp(words[0], redact_command.name + strlen("bailiff audit ")) ==
	        0)
		return redact_main(words + 1);

	const struct entry *entry = find(name);

	if (entry == NULL)
		return unknown(name);
	if (entry->main != NULL)
		return entry->main(words);
	if (entry->program != NULL)
		return become(entry, words, n);
	say_line("'%s' is not built yet in version %s", name, BAILIFF_VERSION);
	return EXIT_USAGE;
}

/* "help" and "help run". */
static int help(char **words, size_t n)
{
	char option[] = "--help";
	char *asked[] = { option, NULL };

	if (n == 0)
		return print_help();
	return dispatch(words[0], asked, 1);
}

/*
 * A descriptor of ours that got number 1 would be written to as if it were the
 * caller's standard output.  Reading only: writing there then fails, as it
 * should.
 */
static int fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY | O_NOCTTY) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? (size_t)argc - 2 : 0;

	if (fill_standard_fds() < 0)
		return EXIT_NOT_STARTED;
	if (argc < 2) {
		say_line("no command; see bailiff --help");
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return say_out("bailiff " BAILIFF_VERSION "\n",
		    sizeof("bailiff " BAILIFF_VERSION "\n") - 1);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "help") == 0)
		return help(argv + 2, n);
	return dispatch(argv[1], argv + 2, n);
}
