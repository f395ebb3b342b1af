/*
 * executor/launch_end.c - RELEASE: the end of a run, and proof that nothing of
 * it is left.  Linked by bailiff-launch.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/launcher.h"
#include "executor/steps.h"

#define WAIT_MS 5000

static void drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/*
 * Pid 1 takes all of its pid namespace along (pid_namespaces(7)).  It may be
 * dead already.
 */
static void kill_init(const struct launched *run)
{
	(void)syscall(SYS_pidfd_send_signal, run->pid_fd, SIGKILL, NULL, 0);
}

/* By the group, and if that cannot be, through pid 1. */
static int kill_tree(const struct launched *run, int wait_ms, struct error *e)
{
	int group_fd = run->leaf.fd[CGROUP_UNIFIED];

	if (group_fd >= 0 && cgroup_kill(group_fd, wait_ms, e) == 0)
		return 0;
	if (run->pid_fd >= 0)
		kill_init(run);
	return group_fd >= 0 ? cgroup_await_empty(group_fd, wait_ms, e) : 0;
}

static int reap(const struct launched *run, int wait_ms, struct error *e)
{
	struct pollfd dead = { run->pid_fd, POLLIN, 0 };
	siginfo_t how;

	if (poll(&dead, 1, wait_ms) != 1)
		return FAIL(e, ERROR_LIMIT,
		    "pid 1 of the run lives %d ms after"
		    " it was killed",
		    wait_ms);
	memset(&how, 0, sizeof(how));
	if (waitid(P_PIDFD, (id_t)run->pid_fd, &how, WEXITED) < 0)
		return FAIL_SYS(e, "reap pid 1 of the run");
	return 0;
}

static int end_within(
    struct launcher *l, struct launched *run, int wait_ms, struct error *e)
{
	if (kill_tree(run, wait_ms, e) < 0)
		return -1;
	if (run->pid_fd >= 0 && reap(run, wait_ms, e) < 0)
		return -1;
	drop(&run->pid_fd);
	/* By its name: what was removed in part is closed. */
	if (run->leaf.name[0] != '\0' &&
	    cgroup_leaf_remove(&l->cgroups, &run->leaf, e) < 0)
		return -1;
	drop(&run->sync_fd);
	drop(&run->ask_fd);
	drop(&run->gate_fd);
	drop(&run->status_fd);
	drop(&run->scratch_fd);
	/* Last: the ids are free only when nobody has them. */
	drop(&run->uid_lock_fd);
	run->state = RUN_FREE;
	return 0;
}

int launched_end(struct launcher *l, struct launched *run, struct error *e)
{
	return end_within(l, run, WAIT_MS, e);
}

void launched_abandon(struct launcher *l, struct launched *run)
{
	struct error ignored;

	if (launched_end(l, run, &ignored) == 0)
		return;
	run->state = RUN_ENDING;
	run->id = 0;
}

void launched_retry(struct launcher *l)
{
	struct error ignored;

	for (size_t i = 0; i < LAUNCHER_SLOTS; i++)
		if (l->runs[i].state == RUN_ENDING)
			(void)!end_within(l, &l->runs[i], 0, &ignored);
}

static struct launched *find(struct launcher *l, uint64_t id)
{
	/* A slot without a run has id 0. */
	for (size_t i = 0; i < LAUNCHER_SLOTS && id != 0; i++)
		if (l->runs[i].state != RUN_FREE && l->runs[i].id == id)
			return &l->runs[i];
	return NULL;
}

int launcher_release(struct launcher *l, struct error *e)
{
	struct launch_failed failed = { .run = l->request.release.run };
	struct launched *run = find(l, l->request.release.run);
	struct error why = { 0 };
	int ret;

	if (run == NULL)
		ret = FAIL(&why, ERROR_STATE, "there is no such run");
	else
		ret = launched_end(l, run, &why);
	if (ret < 0) {
		(void)steps_failed("release",
		    "look at the processes in the run's control group", &why,
		    &failed);
		l->reply.failed = failed;
		return launcher_reply(l, LAUNCH_FAILED, NULL, e);
	}
	l->park = l->ahead;
	l->reply.released.run = failed.run;
	return launcher_reply(l, LAUNCH_RELEASED, NULL, e);
}
