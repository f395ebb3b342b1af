/*
 * executor/spawn.c - fork and exec of the launcher and the signer.  Linked by
 * the supervisor.
 */
#include "executor/spawn.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

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
	return close_range(SPAWN_FIRST + (unsigned)what->n_fds, ~0u,
	           CLOSE_RANGE_CLOEXEC) == 0;
}

bool spawn_reset_signals(void)
{
	const struct sigaction as_born = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* Handlers end with exec, ignored signals would not. */
	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &as_born, NULL); /* some are not ours */
	return sigemptyset(&none) == 0 &&
	       /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	       sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

static bool go_alone(const struct spawn *what)
{
	int fd;

	if (!what->alone)
		return true;
	/* EPERM: a session leader already. */
	if (setsid() < 0 && getsid(0) != getpid())
		return false;
	fd = open("/dev/null", O_RDWR | O_NOCTTY);
	for (int i = 0; i < SPAWN_FIRST; i++)
		if (fd < 0 || (fd != i && dup2(fd, i) < 0))
			return false;
	if (fd >= SPAWN_FIRST)
		(void)close(fd);
	return chdir("/") == 0;
}

static bool take_ids(uint32_t uid)
{
	return uid == 0 ||
	       (setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 &&
	           setresuid(uid, uid, uid) == 0);
}

int spawn(const struct spawn *what, int *ret_pid_fd, struct error *e)
{
	char *const environment[] = { NULL };
	char *argv[SPAWN_FDS_MAX];
	size_t n = 0;
	pid_t pid;
	AUTO_FD opened_fd = open(what->path, O_PATH | O_CLOEXEC);
	AUTO_FD program_fd = -1;

	/* By descriptor: the uid it gets may have no way to the path. */
	if (opened_fd < 0)
		return FAIL_SYS(e, "open %s", what->path);
	program_fd =
	    fcntl(opened_fd, F_DUPFD_CLOEXEC, PARKED + (int)SPAWN_FDS_MAX);
	if (program_fd < 0)
		return FAIL_SYS(e, "keep %s open", what->path);

	while (what->argv[n] != NULL && n + 1 < SPAWN_FDS_MAX)
		n++;
	/* execve takes pointers to what it could change, and never does. */
	memcpy(argv, what->argv, n * sizeof(argv[0]));
	argv[n] = NULL;
	pid = fork();
	if (pid == 0) {
		if (place_fds(what) && go_alone(what) &&
		    spawn_reset_signals() && take_ids(what->uid))
			(void)execveat(
			    program_fd, "", argv, environment, AT_EMPTY_PATH);
		_exit(EXIT_NO_EXEC);
	}
	if (pid < 0)
		return FAIL_SYS(e, "start %s", what->path);
	if (ret_pid_fd == NULL)
		return 0;
	/* Nobody else reaps it, so the number is still its own. */
	*ret_pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*ret_pid_fd < 0)
		return FAIL_SYS(e, "hold on to %s", what->path);
	return 0;
}
