/*
 * executor/launch_run.c - RUN from the launcher's side: a slot, its limits,
 * id maps.  Linked by bailiff-launch.  The clone's side is sandbox.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/knob.h"
#include "executor/launcher.h"
#include "executor/steps.h"
#include "executor/uids.h"

/* One RUN in hand. */
struct start {
	struct launcher *l;
	struct launched *run;
};

static int act_request(void *context, struct error *e)
{
	struct start *s = context;
	struct launcher *l = s->l;
	const struct launch_run *ask = &l->request.run;

	if (!l->built)
		return FAIL(e, ERROR_STATE, "no view is built");
	if (ask->run == 0)
		return FAIL(e, ERROR_MALFORMED, "run 0");
	if (l->given.n != LAUNCH_FD_INPUTS + ask->inputs.n)
		return FAIL(
		    e, ERROR_MALFORMED, "%zu descriptors came", l->given.n);
	if (ask->open_files > CONFINE_OPEN_FILES)
		return FAIL(e, ERROR_LIMIT, "more than %d open files",
		    CONFINE_OPEN_FILES);
	for (size_t i = 0; i < LAUNCH_RUNS_MAX; i++)
		if (l->runs[i].state != RUN_FREE && l->runs[i].id == ask->run)
			return FAIL(e, ERROR_STATE, "that run exists");
	return 0;
}

static int act_limits(void *context, struct error *e)
{
	struct start *s = context;
	const struct launch_run *ask = &s->l->request.run;
	/* Pid 1 is ours and does not count against the program. */
	const struct cgroup_limits limits = { .memory = ask->memory,
		.pids = ask->pids + 1 };

	s->run->id = ask->run;
	s->run->state = RUN_BUILDING;
	if (!s->l->grouped)
		return 0; /* limits.c is all there is */
	return cgroup_leaf_limit(&s->l->cgroups, &s->run->leaf, &limits, e);
}

/* The clone takes it when it has come that far, whether it waits or not. */
static int act_hand(void *context, struct error *e)
{
	struct start *s = context;
	struct launcher *l = s->l;
	const struct channel_send what = { .protocol = &launch_protocol,
		.verb = LAUNCH_RUN,
		.message = &l->request.run,
		.fds = &l->given };

	l->sync.fd = s->run->sync_fd;
	if (channel_send(&l->sync, &what, e) == 0 || e->kind == ERROR_CLOSED)
		return 0; /* its last words, or its end, say why */
	return -1;
}

static const struct stage requested[] = {
	{ "request", act_request, "report this" },
};

static const struct stage given[] = {
	{ "cgroup", act_limits,
	    "see that limits can be set in this host's control groups" },
	{ "hand", act_hand, "send less arguments" },
};

static void drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* Answer FAILED; 'run' NULL if it has no slot. */
static int refuse(struct launcher *l, struct launched *run,
    const struct launch_failed *failed, struct error *e)
{
	struct error ignored;

	/* What will not die keeps its slot; the reply says what failed. */
	if (run != NULL)
		(void)!launched_end(l, run, &ignored);
	l->reply.failed = *failed;
	return launcher_reply(l, LAUNCH_FAILED, NULL, e);
}

int launcher_run(struct launcher *l, struct error *e)
{
	struct start s = { .l = l };
	struct launch_failed failed = { .run = l->request.run.run };

	if (steps_run(STAGES(requested), &s, &failed) < 0 ||
	    launcher_slot(l, &s.run, &failed) < 0 ||
	    steps_run(STAGES(given), &s, &failed) < 0)
		return refuse(l, s.run, &failed, e);
	return 0;
}

/* One id of ours, or two. */
static void put_map(const struct launcher *l, const struct launched *run,
    uint32_t own_id, char ret[96])
{
	if (l->rootless)
		(void)snprintf(
		    ret, 96, "%u %u 1\n", UID_INSIDE_PROGRAM, own_id);
	else
		(void)snprintf(ret, 96, "%u %u 1\n%u %u 1\n",
		    UID_INSIDE_PROGRAM, run->program_id, UID_INSIDE_INIT,
		    run->init_id);
}

/* user_namespaces(7): one write each, from outside, setgroups denied first. */
static int write_maps(
    const struct launcher *l, const struct launched *run, struct error *e)
{
	char path[48];
	char map[96];

	put_map(l, run, geteuid(), map);
	(void)snprintf(path, sizeof(path), "%d/setgroups", (int)run->pid);
	if (knob_write(l->proc_fd, path, "deny", e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%d/uid_map", (int)run->pid);
	if (knob_write(l->proc_fd, path, map, e) < 0)
		return -1;
	put_map(l, run, getegid(), map);
	(void)snprintf(path, sizeof(path), "%d/gid_map", (int)run->pid);
	return knob_write(l->proc_fd, path, map, e);
}

/* The number of its directory is what the kernel calls the group by. */
static int put_group(const struct launcher *l, const struct launched *run,
    struct launch_started *out, struct error *e)
{
	struct stat st;

	if (l->rootless)
		return 0;
	if (fstat(run->leaf.fd[CGROUP_UNIFIED], &st) < 0)
		return FAIL_SYS(e, "look at the control group of a run");
	out->group = st.st_ino;
	return 0;
}

static int tell_started(
    struct launcher *l, struct launched *run, int scratch_fd, struct error *e)
{
	struct fd_list fds = { .n = l->grouped ? LAUNCH_FD_STARTED_N
		                               : LAUNCH_FD_LONE_N };
	struct launch_started *out = &l->reply.started;
	int ret;

	fds.fd[LAUNCH_FD_INIT] = run->pid_fd;
	fds.fd[LAUNCH_FD_GATE] = run->gate_fd;
	fds.fd[LAUNCH_FD_STATUS] = run->status_fd;
	fds.fd[LAUNCH_FD_SCRATCH] = scratch_fd;
	if (l->grouped && cgroup_leaf_files(&l->cgroups, &run->leaf,
	                      &fds.fd[LAUNCH_FD_KILL], e) < 0)
		return -1;
	*out = (struct launch_started){ .run = run->id,
		.init_pid = (uint32_t)run->pid,
		.init_uid = run->init_id,
		.program_uid = run->program_id };
	if (l->grouped)
		(void)snprintf(out->cgroup, sizeof(out->cgroup),
		    "bailiff/%s/%s", l->cgroups.instance, run->leaf.name);
	ret = put_group(l, run, out, e);
	if (ret == 0)
		ret = launcher_reply(l, LAUNCH_STARTED, &fds, e);
	for (size_t i = LAUNCH_FD_KILL; i < fds.n; i++)
		(void)close(fds.fd[i]);
	return ret;
}

_Static_assert(LAUNCH_FD_STARTED_N - LAUNCH_FD_KILL == CGROUP_FILES,
    "cgroup_leaf_files fills the rest of STARTED");

/* The clone waits with all mounts made; STARTED first, then it may go on. */
static int let_on(
    struct launcher *l, struct launched *run, int scratch_fd, struct error *e)
{
	ssize_t sent;

	if (write_maps(l, run, e) < 0 ||
	    tell_started(l, run, scratch_fd, e) < 0)
		return -1;
	run->state = RUN_GOING;
	drop(&run->gate_fd);
	drop(&run->status_fd);
	/* If it died meanwhile, its status channel says so; and if it gets no
	 * byte, it says so itself there. */
	do
		sent = send(run->sync_fd, "g", 1, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	drop(&run->sync_fd);
	return 0;
}

/* It failed while nobody waited for it; the next run makes its own. */
static void lose_parked(struct launcher *l, struct launched *run)
{
	struct error ignored;

	if (launched_end(l, run, &ignored) == 0)
		return;
	/* It will not die: kept as what no run can have, until the end. */
	run->state = RUN_GOING;
	drop(&run->sync_fd);
}

int launcher_sync(struct launcher *l, struct launched *run, struct error *e)
{
	struct launch_failed failed = { .run = run->id };
	const struct channel_receive what = { .protocol =
		                                  &launch_status_protocol,
		.max_fds = 1,
		.to = { &failed, sizeof(failed) } };
	struct error why = { 0 };
	struct fd_list fds = { .n = 0 };
	uint16_t verb = 0;
	int ret = -1;

	if (run->state == RUN_PARKED) {
		lose_parked(l, run);
		return 0;
	}
	l->sync.fd = run->sync_fd;
	if (channel_receive(&l->sync, &what, &verb, &fds, &why) == 0 &&
	    verb == LAUNCH_STEP_FAILED) {
		failed.run = run->id;
		return refuse(l, run, &failed, e);
	}
	if (verb == LAUNCH_MAPS && fds.n == 1)
		ret = let_on(l, run, fds.fd[0], &why);
	else if (verb != 0)
		(void)FAIL(&why, ERROR_STATE, "the clone spoke out of turn");
	fd_list_close(&fds);
	if (ret == 0)
		return 0;
	if (why.kind == ERROR_CLOSED && verb == LAUNCH_MAPS) {
		*e = why;
		return -1;
	}
	(void)steps_failed("build",
	    "raise the policy's memory limit if the kernel killed it", &why,
	    &failed);
	failed.run = run->id;
	return refuse(l, run, &failed, e);
}
