/*
 * executor/run_helper.c - one opener or collector of a run: made by the
 * launcher, or without root by ourselves, and spoken to by us.  Linked by the supervisor.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/run_steps.h"
#include "executor/spawn.h"

/*
 * Without root there are no ids to give a helper: we start it as we are.  The
 * launcher could not: it does not see the host any more.
 */
static int start_own(enum launch_helper_kind kind, int its_end, struct error *e)
{
	const char *argv[] = { kind == HELPER_OPENER ? "bailiff-opener"
		                                     : "bailiff-collect",
		NULL };
	char path[SERVICE_PATH_MAX];
	const struct spawn what = {
		.path = path, .argv = argv, .n_fds = 1, .fds = { its_end }
	};

	if (service_program_path(argv[0], path, e) < 0)
		return -1;
	return spawn(&what, NULL, e);
}

int run_start_helper(
    struct run *r, enum launch_helper_kind kind, struct error *e)
{
	struct launch_helper what = { .kind = kind };
	struct fd_list fds = { .n = 1 };
	int ends[2];
	int failed = 0;

	if (r->s->launch_fd < 0)
		return FAIL(e, ERROR_CLOSED, "the launcher is gone");
	if (channel_pair(ends, e) < 0)
		return -1;
	r->helper_fd = ends[0];
	r->helper_watch.owner = r;
	fds.fd[0] = ends[1];
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ||
	    loop_add(&r->s->loop, &r->helper_watch, ends[0], EPOLLIN, e) < 0) {
		(void)close(ends[1]);
		run_close_helper(r);
		return FAIL(e, ERROR_SYSTEM, "watch a helper");
	}
	if (r->s->owner.rootless)
		failed = start_own(kind, ends[1], e);
	else
		supervisor_tell_launcher(r->s, LAUNCH_HELPER, &what, &fds);
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
}
