/*
 * cli/audit.c - bailiff-audit, the program behind `bailiff audit`: verifies and
 * shows logs.  It reads hostile bytes with what its caller may do, and less: it
 * confines itself first.  It holds no key and writes nothing.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/audit.h"
#include "cli/say.h"

struct audit_command {
	const char *name;
	int (*main)(char **words); /* NULL: not built yet */
	const char *help;
};

/* `bailiff` asks a service for it: this program holds no key. */
static int redact_elsewhere(char **words)
{
	(void)words;
	say_line("redact is asked of the service: call bailiff audit redact");
	return EXIT_USAGE;
}

static const struct audit_command entries[] = {
	{ "verify", audit_verify_main, "check a log, and results beside it" },
	{ "show", audit_show_main, "list records, or show one" },
	{ "prove", audit_prove_main, "write the receipt of a record" },
	{ "check", audit_check_main, "check a receipt without the log" },
	{ "checkpoint", audit_checkpoint_main, "print the signed head" },
	{ "diff", audit_diff_main, "compare two logs, or a log and a head" },
	{ "export", audit_export_main, "records as DSSE, CSV or OCSF" },
	{ "redact", redact_elsewhere, "erase what opens a run's commitments" },
	{ "trace", audit_trace_main, "show what a traced run did" },
	{ "facts", audit_facts_main, "what traced runs did, for programs" },
	/* Named so that nobody takes them for a typing error. */
	{ "witness", NULL, NULL },
};
#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static int print_help(void)
{
	bool failed =
	    dprintf(STDOUT_FILENO,
	        "usage: bailiff audit COMMAND ...\n\n"
	        "Read the signed log of what ran, and check that it holds.\n\n"
	        "commands:\n") < 0;

	for (size_t i = 0; i < N_ENTRIES && !failed; i++)
		if (entries[i].help != NULL)
			failed = dprintf(STDOUT_FILENO, "  %-10s %s\n",
			             entries[i].name, entries[i].help) < 0;
	if (!failed)
		failed = dprintf(STDOUT_FILENO,
		             "\nbailiff audit COMMAND --help says more\n\n"
		             "exit codes: 0, or 2 when it could not run; those "
		             "of verify stand in its help\n") < 0;
	return failed ? 1 : 0;
}

static int unknown(const char *name)
{
	const char *nearest = options_nearest(
	    name, &entries[0].name, N_ENTRIES, sizeof(entries[0]));

	if (nearest != NULL)
		say_line("unknown command 'audit %.80s'; did you mean %s?",
		    name, nearest);
	else
		say_line("unknown command 'audit %.80s'; see bailiff audit "
		         "--help",
		    name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	if (sodium_init() < 0) {
		say_line("libsodium does not start");
		return VERDICT_NOT_RUN;
	}
	if (argc < 2) {
		say_line("no command; see bailiff audit --help");
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	for (size_t i = 0; i < N_ENTRIES; i++) {
		if (strcmp(argv[1], entries[i].name) != 0)
			continue;
		if (entries[i].main != NULL)
			return entries[i].main(argv + 2);
		say_line("'audit %s' is not built yet in version %s", argv[1],
		    BAILIFF_VERSION);
		return EXIT_USAGE;
	}
	return unknown(argv[1]);
}
