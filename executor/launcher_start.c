/*
 * executor/launcher_start.c - starts bailiff-launch.  Linked by the
 * supervisor; runs as root, before any peer exists.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/peers.h"
#include "executor/spawn.h"

union launch_answer {
	struct launch_ready ready;
	struct launch_started started;
	struct launch_failed failed;
	struct launch_release release;
};

static int await_ready(
    struct channel *c, struct launch_ready *ret, struct error *e)
{
	struct pollfd answer = { .fd = c->fd, .events = POLLIN };
	union launch_answer in;
	struct channel_receive what = { &launch_reply_protocol, 0,
		{ &in, sizeof(in) } };
	struct fd_list none = { .n = 0 };
	uint16_t verb;
	int n;

	do
		n = poll(&answer, 1, (int)(PATIENCE_BUILD / 1000));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return FAIL_SYS(e, "wait for bailiff-launch");
	if (n == 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "bailiff-launch is not ready after a minute "
		    "(launcher.timeout); look at its state and at dmesg");
	if (channel_receive(c, &what, &verb, &none, e) < 0)
		return FAIL_IN(e, "bailiff-launch ended before it was ready");
	if (verb == LAUNCH_FAILED)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "sandbox cannot be built: step %s: %.280s; %.120s",
		    in.failed.step, in.failed.text, in.failed.remedy);
	if (verb != LAUNCH_READY)
		return FAIL(e, ERROR_STATE, "bailiff-launch said %s, not ready",
		    wire_verb_name(&launch_reply_protocol, verb));
	*ret = in.ready;
	return 0;
}

static int send_view(
    struct channel *c, const struct launcher_start *start, struct error *e)
{
	struct launch_build build = {
		.landlock_min_abi = start->landlock_min_abi,
		.ahead = 1,
		.flags = start->flags,
	};
	const struct fd_list filter = { 1, { start->init_filter_fd } };
	struct channel_send last = { &launch_protocol, LAUNCH_BUILD, &build,
		&filter };

	for (size_t i = 0; i < start->view->n; i++) {
		const struct template_item *item = &start->view->items[i];
		struct fd_list fds = { .n = item->fd >= 0 ? 1 : 0,
			.fd = { item->fd } };
		struct channel_send what = { &launch_protocol, LAUNCH_ENTRY,
			&item->entry, &fds };

		if (channel_send(c, &what, e) < 0)
			return -1;
	}
	memcpy(build.instance, start->instance, sizeof(build.instance));
	return channel_send(c, &last, e);
}

static int start_program(int take_its_end, int *ret_pid_fd, struct error *e)
{
	static const char *const argv[] = { "bailiff-launch", NULL };
	AUTO_FD its_end = take_its_end;
	char path[SERVICE_PATH_MAX];
	struct spawn what = {
		.path = path, .argv = argv, .n_fds = 1, .fds = { its_end }
	};

	if (service_program_path(argv[0], path, e) < 0)
		return -1;
	return spawn(&what, ret_pid_fd, e);
}

void launcher_kill(int pid_fd)
{
	/* It is gone already, or it was never ours to kill. */
	if (pid_fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, NULL, 0);
}

static int talk(const struct launcher_start *start, struct launch_ready *ret,
    struct error *e)
{
	struct error sent;

	/* If it left in the middle, its last message says why. */
	if (send_view(start->channel, start, &sent) < 0 &&
	    sent.kind != ERROR_CLOSED) {
		*e = sent;
		return -1;
	}
	if (await_ready(start->channel, ret, e) < 0)
		return -1;
	if (fcntl(start->channel->fd, F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up the launcher's channel");
	return 0;
}

int launcher_start(const struct launcher_start *start, struct launch_ready *ret,
    int *ret_pid_fd, struct error *e)
{
	int ends[2];
	AUTO_FD pid_fd = -1;

	if (channel_pair(ends, e) < 0)
		return -1;
	start->channel->fd = ends[0];
	if (start_program(ends[1], &pid_fd, e) < 0)
		return -1;
	if (talk(start, ret, e) < 0) {
		launcher_kill(pid_fd);
		return -1;
	}
	*ret_pid_fd = take_fd(&pid_fd);
	return 0;
}
