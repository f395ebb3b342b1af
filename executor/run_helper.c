/*
 * executor/run_helper.c - one opener or collector of a run: made by the
 * launcher, or without root by ourselves, and spoken to by us.  Linked by the supervisor.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/helper.h"
#include "executor/patience.h"
#include "executor/run_steps.h"

int run_start_helper(
    struct run *r, enum launch_helper_kind kind, struct error *e)
{
	int ends[2];
	int failed;

	if (channel_pair(ends, e) < 0)
		return -1;
	r->helper_fd = ends[0];
	r->helper_watch.owner = r;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ||
	    loop_add(&r->s->loop, &r->helper_watch, ends[0], EPOLLIN, e) < 0) {
		(void)close(ends[1]);
		run_close_helper(r);
		return FAIL(e, ERROR_SYSTEM, "watch a helper");
	}
	failed = helper_start(r->s, kind, ends[1], &r->helper_pid_fd, e);
	if (failed == 0)
		run_expect(r, DUE_HELPER, PATIENCE_HELPER);
	(void)close(ends[1]);
	if (failed < 0)
		run_close_helper(r);
	return failed;
}

void run_close_helper(struct run *r)
{
	r->due[DUE_HELPER] = 0;
	if (r->helper_fd < 0)
		return;
	loop_remove(&r->s->loop, &r->helper_watch);
	(void)close(r->helper_fd);
	r->helper_fd = -1;
	/* It ends with its channel, unless it was stopped. */
	if (r->helper_pid_fd >= 0)
		(void)syscall(
		    SYS_pidfd_send_signal, r->helper_pid_fd, SIGKILL, NULL, 0);
	own_close(&r->helper_pid_fd);
	r->helper_pid_fd = -1;
}
