/*
 * executor/helper.c - how a supervisor gets an opener, a collector or a screen.
 * Linked by the supervisor.
 */
#include "executor/helper.h"

#include "executor/spawn.h"
#include "executor/supervisor.h"

static const char *program_of(enum launch_helper_kind kind)
{
	switch (kind) {
	case HELPER_OPENER:
		return "bailiff-opener";
	case HELPER_COLLECT:
		return "bailiff-collect";
	case HELPER_SCREEN:
	default:
		return "bailiff-screen";
	}
}

/*
 * Without root there are no ids to give a helper: we start it as we are.  The
 * launcher could not: it does not see the host any more.
 */
static int start_own(
    enum launch_helper_kind kind, int its_end, int *ret_pid_fd, struct error *e)
{
	const char *argv[] = { program_of(kind), NULL };
	char path[SERVICE_PATH_MAX];
	const struct spawn what = {
		.path = path, .argv = argv, .n_fds = 1, .fds = { its_end }
	};

	if (service_program_path(argv[0], path, e) < 0)
		return -1;
	return spawn(&what, ret_pid_fd, e);
}

int helper_start(struct supervisor *s, enum launch_helper_kind kind,
    int its_end, int *ret_pid_fd, struct error *e)
{
	const struct launch_helper what = { .kind = kind };
	const struct fd_list fds = { .n = 1, .fd = { its_end } };

	if (s->launch_fd < 0)
		return FAIL(e, ERROR_CLOSED, "the launcher is gone");
	if (s->owner.rootless)
		return start_own(kind, its_end, ret_pid_fd, e);
	if (ret_pid_fd != NULL)
		*ret_pid_fd = -1;
	supervisor_tell_launcher(s, LAUNCH_HELPER, &what, &fds);
	return 0;
}
