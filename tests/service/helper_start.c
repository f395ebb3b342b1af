/*
 * tests/service/helper_start.c - the launcher's part in tests of its helpers.
 */
#include "tests/service/helper_start.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/channel.h"

#define LAST_CAPABILITY 40

static int become(const struct helper_start *what, struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	uint32_t low = (uint32_t)what->capabilities;
	struct __user_cap_data_struct sets[2] = { { low, low, low },
		{ 0, 0, 0 } };

	if (setgroups(0, NULL) < 0 || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ||
	    setresgid(what->uid, what->uid, what->uid) < 0 ||
	    setresuid(what->uid, what->uid, what->uid) < 0 ||
	    syscall(SYS_capset, &header, sets) < 0)
		return FAIL_SYS(e, "become the helper");
	for (int i = 0; i <= LAST_CAPABILITY; i++)
		if ((what->capabilities >> i & 1) != 0 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) < 0)
			return FAIL_SYS(e, "keep a capability");
	return 0;
}

_Noreturn static void child(const struct helper_start *what, int fd)
{
	static char *const nothing[] = { NULL };
	char *const argv[] = { (char *)(uintptr_t)what->path, NULL };
	/* By descriptor: the helper's uid may have no way to the path. */
	int program_fd = open(what->path, O_PATH | O_CLOEXEC);
	struct error e;

	program_fd = fcntl(program_fd, F_DUPFD_CLOEXEC, 5);
	if (program_fd < 0 || dup2(fd, 3) < 0 ||
	    dup3(program_fd, 4, O_CLOEXEC) < 0 || close_range(5, ~0U, 0) < 0 ||
	    become(what, &e) < 0)
		_exit(126);
	(void)close_range(0, 2, 0);
	(void)execveat(4, "", argv, nothing, AT_EMPTY_PATH);
	_exit(127);
}

int helper_start(const struct helper_start *what, int *ret_fd, pid_t *ret_pid,
    struct error *e)
{
	int fds[2];
	pid_t pid;

	if (channel_pair(fds, e) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		child(what, fds[1]);
	(void)close(fds[1]);
	if (pid < 0) {
		(void)close(fds[0]);
		return FAIL_SYS(e, "fork");
	}
	*ret_fd = fds[0];
	*ret_pid = pid;
	return 0;
}
