/*
 * cli/policy.c - main of bailiff-policy: `bailiff policy ...` and
 * `bailiff languages`.  It runs with the rights of whoever called it.
 */
#include "cli/policy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/say.h"

/* A command that has a main is built; the others are known by name only. */
static const struct entry {
	const char *name;
	int (*main)(char **words);
	const char *about;
} entries[] = {
	{ "check", policy_check_main, "say whether a policy is sound" },
	{ "languages", policy_languages_main, "list the languages" },
	{ "explain", policy_explain_main, "what a request would get, and why" },
	{ "test", policy_test_main, "run a policy's case file" },
	{ "init", policy_init_main, "write a first policy" },
	{ "schema", policy_schema_main, "print the JSON Schema" },
	{ "diff", policy_diff_main, "what differs between two policies" },
	{ "learn", policy_learn_main, "the least that recorded runs needed" },
};
#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

int policy_place(const char *name, char ret[POLICY_PATH_MAX], struct error *e)
{
	ssize_t len = readlink("/proc/self/exe", ret, POLICY_PATH_MAX - 1);
	int n;

	if (len < 0)
		return FAIL_SYS(e, "read /proc/self/exe");
	ret[len] = '\0';
	/* PREFIX/libexec/bailiff/bailiff-policy, three names up. */
	for (int i = 0; i < 3; i++) {
		char *slash = strrchr(ret, '/');

		if (slash == NULL)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "%s: not an installation", ret);
		*slash = '\0';
	}
	n = snprintf(ret + strlen(ret), POLICY_PATH_MAX - strlen(ret),
	    "/share/bailiff/%s", name);
	if (n < 0 || strlen(ret) + 1 >= POLICY_PATH_MAX)
		return FAIL(e, ERROR_LIMIT, "path too long");
	return 0;
}

static int print_help(void)
{
	char text[1024];
	size_t len = (size_t)snprintf(text, sizeof(text),
	    "usage: bailiff policy COMMAND [options]\n\ncommands:\n");

	for (size_t i = 0; i < N_ENTRIES && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "  %-10s %s%s\n", entries[i].name, entries[i].about,
		    entries[i].main == NULL ? " (not built yet)" : "");
	return say_out(text, len < sizeof(text) ? len : sizeof(text) - 1);
}

static int dispatch(const char *name, char **words)
{
	const char *nearest;

	for (size_t i = 0; i < N_ENTRIES; i++) {
		if (strcmp(entries[i].name, name) != 0)
			continue;
		if (entries[i].main != NULL)
			return entries[i].main(words);
		say_line("'policy %s' is not built yet in version %s", name,
		    BAILIFF_VERSION);
		return EXIT_USAGE;
	}
	nearest = options_nearest(
	    name, &entries[0].name, N_ENTRIES, sizeof(entries[0]));
	if (nearest != NULL)
		say_line("unknown command 'policy %.80s'; did you mean %s?",
		    name, nearest);
	else
		say_line("unknown command 'policy %.80s'; see bailiff policy "
		         "--help",
		    name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		say_line("which command? see bailiff policy --help");
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0) {
		static const char version[] = "bailiff " BAILIFF_VERSION "\n";

		return say_out(version, sizeof(version) - 1);
	}
	return dispatch(argv[1], argv + 2);
}
