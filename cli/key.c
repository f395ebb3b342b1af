/*
 * cli/key.c - bailiff-key, the program behind `bailiff key`: makes, opens, turns
 * and shows the keys of a log, and pins those of others.
 *
 * A program of its own, since bailiff-audit reads hostile logs and holds no
 * key.  It signs nothing: what takes a secret is done by bailiff-signer, which
 * it starts or asks; a passphrase goes from the caller's descriptor to the
 * signer's and is never read here.
 */
#include "cli/key.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/say.h"

#define SYSTEM_PINS "/etc/bailiff/keys.d"
#define USER_PINS   "/.config/bailiff"

struct key_command {
	const char *name;
	int (*main)(char **words);
	const char *help;
};

static const struct key_command entries[] = {
	{ "init", key_init_main, "make a log and its keys, plain or sealed" },
	{ "show", key_show_main,
	    "print the log's public key and where keys lie" },
	{ "unlock", key_unlock_main, "open sealed keys, for services to use" },
	{ "rotate", key_rotate_main, "end the epoch now: another record key" },
	{ "enroll", key_enroll_main, "pin the key of a log, to verify it by" },
};
#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

int key_harden(struct error *e)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "forbid core dumps");
	return 0;
}

static int make_directories(char path[KEY_PATH_MAX], struct error *e)
{
	for (char *at = strchr(path + 1, '/');; at = strchr(at + 1, '/')) {
		if (at != NULL)
			*at = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return FAIL_SYS(e, "make %s", path);
		if (at == NULL)
			return 0;
		*at = '/';
	}
}

int key_open_pins(
    bool make, int *ret_fd, char ret_path[KEY_PATH_MAX], struct error *e)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	const char *home = getenv("HOME");
	struct stat st;
	AUTO_FD fd = -1;
	int n;

	if (geteuid() != 0 && (home == NULL || home[0] != '/'))
		return FAIL(e, ERROR_USAGE, "no HOME to keep a key in");
	n = geteuid() == 0
	        ? snprintf(ret_path, KEY_PATH_MAX, SYSTEM_PINS)
	        : snprintf(ret_path, KEY_PATH_MAX, "%s" USER_PINS, home);
	if (n < 0 || n >= KEY_PATH_MAX)
		return FAIL(e, ERROR_USAGE, "HOME is too long");
	if (make && make_directories(ret_path, e) < 0)
		return -1;
	fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return FAIL(e, ERROR_CLOSED, "%s does not exist", ret_path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "%s", ret_path);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return FAIL(e, ERROR_STATE,
		    "%s: must belong to uid %u and be writable by nobody else",
		    ret_path, geteuid());
	*ret_fd = take_fd(&fd);
	return 0;
}

static int print_help(void)
{
	bool failed =
	    dprintf(STDOUT_FILENO,
	        "usage: bailiff key COMMAND ...\n\n"
	        "The keys that sign a log, and those that it is verified "
	        "by.\n\n"
	        "commands:\n") < 0;

	for (size_t i = 0; i < N_ENTRIES && !failed; i++)
		failed = dprintf(STDOUT_FILENO, "  %-8s %s\n", entries[i].name,
		             entries[i].help) < 0;
	if (!failed)
		failed = dprintf(STDOUT_FILENO,
		             "\nbailiff key COMMAND --help says more\n\n"
		             "exit codes: 0, 1 it could not be done, 2 "
		             "usage\n") < 0;
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *nearest;

	if (sodium_init() < 0) {
		say_line("libsodium does not start");
		return 1;
	}
	if (argc < 2) {
		say_line("no command; see bailiff key --help");
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (strcmp(argv[1], entries[i].name) == 0)
			return entries[i].main(argv + 2);
	nearest = options_nearest(
	    argv[1], &entries[0].name, N_ENTRIES, sizeof(entries[0]));
	if (nearest != NULL)
		say_line("unknown command 'key %.80s'; did you mean %s?",
		    argv[1], nearest);
	else
		say_line("unknown command 'key %.80s'; see bailiff key --help",
		    argv[1]);
	return EXIT_USAGE;
}
