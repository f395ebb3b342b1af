/*
 * executor/spawn.c - fork and exec of the launcher and the signer.  Linked by
 * the supervisor.
 */
#include "executor/spawn.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_NO_EXEC 127

/* Above every target, so that no move overwrites what is still to be moved. */
enum {
	PARKED = SPAWN_FIRST + SPAWN_FDS_MAX
};

static bool place_fds(const struct spawn *what)
{
	int parked[SPAWN_FDS_MAX];

	for (size_t i = 0; i < what->n_fds; i++) {
		parked[i] = -1;
		if (what->fds[i] < 0)
			continue;
		parked[i] = fcntl(what->fds[i], F_DUPFD, PARKED);
		if (parked[i] < 0)
			return false;
	}
	for (size_t i = 0; i < what->n_fds; i++) {
		int target = SPAWN_FIRST + (int)i;

		if (parked[i] < 0)
			(void)close(target); /* may be closed already */
		else if (dup2(parked[i], target) < 0)
			return false;
	}
	return close_range(SPAWN_FIRST + (unsigned)what->n_fds, ~0u, 0) == 0;
}

static bool reset_signals(void)
{
	sigset_t none;

	/* Handlers end with exec, ignored signals would not. */
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL); /* some numbers are not ours */
	return sigemptyset(&none) == 0 &&
	       sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

static bool take_ids(uint32_t uid)
{
	return uid == 0 ||
	       (setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 &&
	           setresuid(uid, uid, uid) == 0);
}

int spawn(const struct spawn *what, struct error *e)
{
	char *const environment[] = { NULL };
	char *argv[SPAWN_FDS_MAX];
	size_t n = 0;
	pid_t pid;

	while (what->argv[n] != NULL && n + 1 < SPAWN_FDS_MAX) {
		argv[n] = strdup(what->argv[n]);
		if (argv[n++] == NULL)
			return FAIL_SYS(e, "start %s", what->path);
	}
	argv[n] = NULL;
	pid = fork();
	if (pid == 0) {
		if (place_fds(what) && reset_signals() && take_ids(what->uid))
			(void)execve(what->path, argv, environment);
		_exit(EXIT_NO_EXEC);
	}
	for (size_t i = 0; i < n; i++)
		free(argv[i]);
	if (pid < 0)
		return FAIL_SYS(e, "start %s", what->path);
	return 0;
}
