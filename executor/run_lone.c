/*
 * executor/run_lone.c - a run that no control group holds: killed and found
 * dead by the pidfd of its pid 1, whose end is the end of its pid namespace
 * (pid_namespaces(7)); its cpu time read from /proc.  Linked by the
 * supervisor.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/run_lone.h"
#include "executor/run_steps.h"

/* Behind the name: state is field 3, utime to cstime are 14 to 17 (proc(5)). */
#define FIELD_UTIME  14
#define FIELD_CSTIME 17

/* Ours stays of this process: after its end it reads nothing (ESRCH). */
int run_watch_cpu(struct run *r, int pid_fd, int *ret_fd, struct error *e)
{
	char path[32];
	uint32_t pid;

	if (posture_pid(&r->s->self, pid_fd, &pid, e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%u/stat", pid);
	*ret_fd = openat(r->s->self.proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (*ret_fd < 0)
		return FAIL_SYS(e, "open /proc/%s", path);
	return 0;
}

void run_lone_kill(struct run *r)
{
	int pid_fd = r->handles.fd[LAUNCH_FD_INIT];

	if (pid_fd >= 0 &&
	    syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, NULL, 0) < 0 &&
	    errno != ESRCH)
		/* Nothing may live on: the launcher kills all that we had. */
		supervisor_lose(r->s, "a run cannot be killed");
}

bool run_lone_is_dead(const struct run *r)
{
	struct pollfd ended = { r->handles.fd[LAUNCH_FD_INIT], POLLIN, 0 };

	return poll(&ended, 1, 0) == 1;
}

/* Own time and that of children it has waited for; 0 if it is gone. */
static uint64_t ticks_of(int fd)
{
	char text[1024];
	char *rest = NULL;
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;
	uint64_t ticks = 0;
	int field = 3;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* The name may hold anything, the last parenthesis ends it. */
	rest = strrchr(text, ')');
	for (char *word = rest != NULL ? strtok_r(rest + 1, " ", &rest) : NULL;
	     word != NULL && field <= FIELD_CSTIME;
	     word = strtok_r(NULL, " ", &rest), field++)
		if (field >= FIELD_UTIME)
			ticks += strtoull(word, NULL, 10);
	return ticks;
}

/* What pid 1 has waited for is in its own count: the program's, at the end. */
uint64_t run_lone_cpu_us(const struct run *r)
{
	uint64_t ticks = ticks_of(r->program_stat_fd) +
	                 ticks_of(r->handles.fd[LAUNCH_FD_CPU]);
	long per_s = sysconf(_SC_CLK_TCK);

	return per_s > 0 ? ticks * 1000000 / (uint64_t)per_s : 0;
}
