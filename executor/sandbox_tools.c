/*
 * executor/sandbox_tools.c - what the processes of a run share on their way:
 * clone, a word to their parent, closing what is not theirs.  Linked by
 * bailiff-launch; allocates nothing, since it also runs after clone.
 */
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "executor/sandbox.h"

/* Of a buffer: as much as most requests take. */
#define TOUCHED 8192

pid_t sandbox_fork(
    const struct sandbox_clone *how, int *ret_pid_fd, struct error *e)
{
	int pid_fd = -1;
	struct clone_args args = { .flags = how->flags | (uint64_t)CLONE_PIDFD |
		                            CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&pid_fd,
		.exit_signal = SIGCHLD };
	pid_t pid;

	if (how->cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned int)how->cgroup_fd;
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return FAIL_SYS(e, "clone");
	if (pid > 0)
		*ret_pid_fd = pid_fd;
	return pid;
}

int sandbox_say(struct sandbox *s, int fd, uint16_t verb, const void *message,
    struct error *e)
{
	struct channel *c = &s->memory->channel;
	struct bytes_writer w = { c->buffer, sizeof(c->buffer), 0, false };
	ssize_t wrote;

	if (wire_encode(&launch_status_protocol, verb, message, &w, e) < 0)
		return -1;
	do
		wrote = write(fd, w.data, w.len);
	while (wrote < 0 && errno == EINTR);
	if (wrote < 0)
		return FAIL_SYS(e, "send a status");
	return 0;
}

void sandbox_touch(struct sandbox_memory *memory)
{
	memset(&memory->ask, 0, sizeof(memory->ask));
	memset(memory->channel.buffer, 0, TOUCHED);
	memset(memory->filter, 0, TOUCHED);
	/* The first pages of both lists. */
	memory->argv[0] = NULL;
	memory->env[0] = NULL;
}

int sandbox_keep_only(int *keep, size_t n, struct error *e)
{
	unsigned int from = 3;

	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j > 0 && keep[j - 1] > keep[j]; j--) {
			int swap = keep[j];

			keep[j] = keep[j - 1];
			keep[j - 1] = swap;
		}
	for (size_t i = 0; i < n; i++) {
		unsigned int fd = (unsigned int)keep[i];

		if (keep[i] < (int)from)
			continue;
		if (fd > from && syscall(SYS_close_range, from, fd - 1, 0) < 0)
			return FAIL_SYS(e, "close descriptors");
		from = fd + 1;
	}
	if (syscall(SYS_close_range, from, ~0u, 0) < 0)
		return FAIL_SYS(e, "close descriptors");
	return 0;
}
