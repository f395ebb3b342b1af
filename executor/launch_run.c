/*
 * executor/launch_run.c - RUN from the launcher's side: ids, control groups,
 * clone, id maps.  Linked by bailiff-launch.  The clone's side is sandbox.c.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/knob.h"
#include "executor/launcher.h"
#include "executor/omit.h"
#include "executor/steps.h"
#include "executor/uidpool.h"
#include "executor/uids.h"

/* One RUN in hand. */
struct start {
	struct launcher *l;
	struct launched *run;
	/* The clone's ends, closed here once it has them. */
	int sync_fd, status_fd, gate_fd;
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
	for (size_t i = 0; i < LAUNCH_RUNS_MAX; i++) {
		struct launched *r = &l->runs[i];

		if (r->state != RUN_FREE && r->id == ask->run)
			return FAIL(e, ERROR_STATE, "that run exists");
		if (r->state == RUN_FREE && s->run == NULL)
			s->run = r;
	}
	if (s->run == NULL)
		return FAIL(e, ERROR_LIMIT, "%d runs at once", LAUNCH_RUNS_MAX);
	*s->run = (struct launched){ .id = ask->run,
		.pid_fd = -1,
		.sync_fd = -1,
		.gate_fd = -1,
		.status_fd = -1,
		.uid_lock_fd = -1,
		.leaf.fd = { -1, -1, -1 } };
	return 0;
}

static int act_uids(void *context, struct error *e)
{
	struct start *s = context;
	uint32_t pair = 0;

	if (uidpool_take(s->l->uids_fd, &pair, &s->run->uid_lock_fd, e) < 0)
		return -1;
	s->run->init_id = UID_PAIR(pair);
	s->run->program_id = UID_PAIR(pair) + 1;
	return 0;
}

static int act_cgroup(void *context, struct error *e)
{
	struct start *s = context;
	const struct launch_run *ask = &s->l->request.run;
	/* Pid 1 is ours and does not count against the program. */
	const struct cgroup_limits limits = { .memory = ask->memory,
		.pids = ask->pids + 1 };

	return cgroup_leaf_make(
	    &s->l->cgroups, ask->run, &limits, &s->run->leaf, e);
}

static int act_channels(void *context, struct error *e)
{
	struct start *s = context;
	int sync[2];
	int status[2];
	int gate[2];

	if (channel_pair(sync, e) < 0)
		return -1;
	s->run->sync_fd = sync[0];
	s->sync_fd = sync[1];
	if (channel_pair(status, e) < 0)
		return -1;
	s->run->status_fd = status[0];
	s->status_fd = status[1];
	if (pipe2(gate, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make the gate");
	s->gate_fd = gate[0];
	s->run->gate_fd = gate[1];
	return 0;
}

static int act_clone(void *context, struct error *e)
{
	struct start *s = context;
	struct launcher *l = s->l;
	const struct sandbox_clone how = {
		.flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS |
		         omit_from("ipc-namespace", CLONE_NEWIPC) |
		         omit_from("net-namespace", CLONE_NEWNET),
		.cgroup_fd = s->run->leaf.fd[CGROUP_UNIFIED]
	};

	l->sandbox = (struct sandbox){ .ask = &l->request.run,
		.view = &l->view,
		.memory = &l->memory,
		.leaf = s->run->leaf,
		.given = &l->given,
		.init_id = s->run->init_id,
		.program_id = s->run->program_id,
		.landlock_abi = l->landlock_abi,
		.sync_fd = s->sync_fd,
		.status_fd = s->status_fd,
		.gate_fd = s->gate_fd,
		.liveness_fd = l->liveness_read_fd };
	s->run->pid = sandbox_fork(&how, &s->run->pid_fd, e);
	if (s->run->pid < 0)
		return -1;
	if (s->run->pid == 0)
		sandbox_main(&l->sandbox);
	s->run->state = RUN_BUILDING;
	return 0;
}

static const struct stage rows[] = {
	{ "request", act_request, "report this" },
	{ "uids", act_uids, "wait for other runs of this host to end" },
	{ "cgroup", act_cgroup,
	    "see that limits can be set in this host's control groups" },
	{ "channels", act_channels, "raise the limit of open files" },
	{ "clone", act_clone,
	    "see that the kernel has all namespaces and memory to spare" },
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
	struct start s = {
		.l = l, .sync_fd = -1, .status_fd = -1, .gate_fd = -1
	};
	struct launch_failed failed = { .run = l->request.run.run };
	int ret = steps_run(STAGES(rows), &s, &failed);

	drop(&s.sync_fd);
	drop(&s.status_fd);
	drop(&s.gate_fd);
	if (ret < 0)
		return refuse(l, s.run, &failed, e);
	return 0;
}

/* user_namespaces(7): one write each, from outside, setgroups denied first. */
static int write_maps(
    const struct launcher *l, const struct launched *run, struct error *e)
{
	char path[48];
	char map[96];

	(void)snprintf(map, sizeof(map), "%u %u 1\n%u %u 1\n",
	    UID_INSIDE_PROGRAM, run->program_id, UID_INSIDE_INIT, run->init_id);
	(void)snprintf(path, sizeof(path), "%d/setgroups", (int)run->pid);
	if (knob_write(l->proc_fd, path, "deny", e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%d/uid_map", (int)run->pid);
	if (knob_write(l->proc_fd, path, map, e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%d/gid_map", (int)run->pid);
	return knob_write(l->proc_fd, path, map, e);
}

static int tell_started(
    struct launcher *l, struct launched *run, int scratch_fd, struct error *e)
{
	struct fd_list fds = { .n = LAUNCH_FD_STARTED_N };
	struct launch_started *out = &l->reply.started;
	int ret;

	fds.fd[LAUNCH_FD_INIT] = run->pid_fd;
	fds.fd[LAUNCH_FD_GATE] = run->gate_fd;
	fds.fd[LAUNCH_FD_STATUS] = run->status_fd;
	fds.fd[LAUNCH_FD_SCRATCH] = scratch_fd;
	if (cgroup_leaf_files(
	        &l->cgroups, &run->leaf, &fds.fd[LAUNCH_FD_KILL], e) < 0)
		return -1;
	*out = (struct launch_started){ .run = run->id,
		.init_pid = (uint32_t)run->pid,
		.init_uid = run->init_id,
		.program_uid = run->program_id };
	(void)snprintf(out->cgroup, sizeof(out->cgroup), "bailiff/%s/%s",
	    l->cgroups.instance, run->leaf.name);
	ret = launcher_reply(l, LAUNCH_STARTED, &fds, e);
	for (size_t i = LAUNCH_FD_KILL; i < LAUNCH_FD_STARTED_N; i++)
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

	l->sync.fd = run->sync_fd;
	if (channel_receive(&l->sync, &what, &verb, &fds, &why) == 0 &&
	    verb == LAUNCH_STEP_FAILED)
		return refuse(l, run, &failed, e);
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
