/*
 * executor/process.c - rows "session", "descriptors" and "signals": what a
 * process inherits without asking.  Linked by bailiff-launch.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/confine.h"

#define UMASK 077

int apply_session(struct confine *c, struct error *e)
{
	(void)c;
	if (setsid() < 0)
		return FAIL_SYS(e, "start a session");
	(void)umask(UMASK);
	if (chdir("/sandbox") < 0)
		return FAIL_SYS(e, "enter /sandbox");
	return 0;
}

int prove_session(struct confine *c, struct error *e)
{
	(void)c;
	if (getsid(0) != getpid())
		return FAIL(e, ERROR_STATE, "the session is somebody else's");
	if (umask(UMASK) != UMASK)
		return FAIL(e, ERROR_STATE, "the umask is another");
	/* A terminal would take input typed at it (TIOCSTI). */
	if (open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0)
		return FAIL(e, ERROR_STATE, "there is a terminal");
	return 0;
}

/* Standard streams go one way only. */
static int judge_stream(int fd, int wanted, struct error *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return FAIL_SYS(e, "look at a standard stream");
	if ((flags & O_ACCMODE) != wanted)
		return FAIL(e, ERROR_MALFORMED, "a standard stream is open %s",
		    wanted == O_RDONLY ? "for writing" : "for reading");
	return 0;
}

static int place(int from, int to, int flags, struct error *e)
{
	if (syscall(SYS_dup3, from, to, flags) < 0)
		return FAIL_SYS(e, "place descriptor %d", to);
	return 0;
}

/* dup3 refuses equal numbers; ours are never at their place already. */
int apply_descriptors(struct confine *c, struct error *e)
{
	for (int i = 0; i < 3; i++)
		if (judge_stream(
		        c->std_fd[i], i == 0 ? O_RDONLY : O_WRONLY, e) < 0)
			return -1;
	if (place(c->report_fd, CONFINE_REPORT_FD, O_CLOEXEC, e) < 0)
		return -1;
	c->report_fd = CONFINE_REPORT_FD;
	if (place(c->gate_fd, CONFINE_GATE_FD, O_CLOEXEC, e) < 0 ||
	    place(c->program_fd, FILTER_PROGRAM_FD, O_CLOEXEC, e) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (place(c->std_fd[i], i, 0, e) < 0)
			return -1;
	/* The ruleset stays until it is in force. */
	if (syscall(SYS_close_range, 3, CONFINE_RULESET_FD - 1, 0) < 0 ||
	    syscall(SYS_close_range, FILTER_PROGRAM_FD + 1, ~0u, 0) < 0)
		return FAIL_SYS(e, "close all other descriptors");
	return 0;
}

static bool is_wanted(int fd)
{
	return (fd >= 0 && fd <= 2) ||
	       (fd >= CONFINE_REPORT_FD && fd <= FILTER_PROGRAM_FD);
}

/* As linux_dirent64 of getdents64(2); opendir(3) would allocate. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

/* Judge one block of directory entries; 'own_fd' is the directory itself. */
static int judge_block(
    const char *block, size_t len, int own_fd, struct error *e)
{
	for (size_t at = 0; at < len;) {
		uint16_t step;
		const char *name = block + at + offsetof(struct entry, name);
		int fd;

		memcpy(&step, block + at + offsetof(struct entry, len),
		    sizeof(step));
		at += step;
		if (name[0] == '.')
			continue;
		fd = (int)strtol(name, NULL, 10);
		if (fd != own_fd && !is_wanted(fd))
			return FAIL(
			    e, ERROR_STATE, "descriptor %d is open", fd);
	}
	return 0;
}

int prove_descriptors(struct confine *c, struct error *e)
{
	char block[1024];
	AUTO_FD fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long got;

	(void)c;
	if (fd < 0)
		return FAIL_SYS(e, "open /proc/self/fd");
	do {
		got = syscall(SYS_getdents64, fd, block, sizeof(block));
		if (got < 0)
			return FAIL_SYS(e, "list /proc/self/fd");
		if (judge_block(block, (size_t)got, fd, e) < 0)
			return -1;
	} while (got > 0);
	return 0;
}

/*
 * As the kernel has it: handler, flags, restorer, mask.  By the raw call,
 * since libc refuses the two signals that it keeps for itself, and posix_spawn
 * and system(3) leave just those ignored.
 */
struct kernel_action {
	unsigned long handler, flags, restorer, mask;
};

static int signal_action(
    int number, const struct kernel_action *set, struct kernel_action *ret)
{
	return (int)syscall(
	    SYS_rt_sigaction, number, set, ret, sizeof(ret->mask));
}

int apply_signals(struct confine *c, struct error *e)
{
	static const struct kernel_action plain = { 0 };
	sigset_t none;

	(void)c;
	for (int s = 1; s <= SIGRTMAX; s++)
		if (s != SIGKILL && s != SIGSTOP &&
		    signal_action(s, &plain, NULL) < 0)
			return FAIL_SYS(e, "reset signal %d", s);
	(void)sigemptyset(&none);
	if (pthread_sigmask(SIG_SETMASK, &none, NULL) != 0)
		return FAIL(e, ERROR_SYSTEM, "unblock signals");
	return 0;
}

int prove_signals(struct confine *c, struct error *e)
{
	sigset_t mask;
	struct kernel_action now;

	(void)c;
	if (pthread_sigmask(SIG_SETMASK, NULL, &mask) != 0)
		return FAIL(e, ERROR_SYSTEM, "read the signal mask");
	for (int s = 1; s <= SIGRTMAX; s++) {
		if (sigismember(&mask, s) == 1)
			return FAIL(e, ERROR_STATE, "signal %d is blocked", s);
		if (signal_action(s, NULL, &now) < 0 || now.handler != 0)
			return FAIL(e, ERROR_STATE, "signal %d is handled", s);
	}
	return 0;
}
