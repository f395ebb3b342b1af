/*
 * executor/launch_run.c - RUN from the launcher's side: a slot, its limits, what
 * only we may do to what came with the request, then the request itself.
 * Linked by bailiff-launch.  The other side is program.c.
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

static void drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* As it was made, or as it is wanted. */
static int fit_scratch(struct launched *run, struct error *e)
{
	if (run->wanted.bytes == run->scratch.bytes &&
	    run->wanted.inodes == run->scratch.inodes)
		return 0;
	if (scratch_resize(run->scratch_fd, &run->wanted, e) < 0)
		return -1;
	run->scratch = run->wanted;
	return 0;
}

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
	if (l->given.n != LAUNCH_FD_INPUTS + ask->inputs.n +
	                      ((ask->flags & LAUNCH_PRODUCT) != 0))
		return FAIL(
		    e, ERROR_MALFORMED, "%zu descriptors came", l->given.n);
	if (ask->open_files > CONFINE_OPEN_FILES)
		return FAIL(e, ERROR_LIMIT, "more than %d open files",
		    CONFINE_OPEN_FILES);
	for (size_t i = 0; i < LAUNCHER_SLOTS; i++)
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

/* One that was made ahead has the size that was asked for last; while it is
 * being made, this waits. */
static int act_scratch(void *context, struct error *e)
{
	struct start *s = context;
	struct launched *run = s->run;

	run->wanted = scratch_size_of(&s->l->request.run);
	/* To tmpfs, 0 means no bound. */
	if (run->wanted.bytes == 0 || run->wanted.inodes == 0)
		return FAIL(e, ERROR_MALFORMED, "a scratch of size 0");
	return run->scratch_fd >= 0 ? fit_scratch(run, e) : 0;
}

/*
 * Scripts write to /dev/stderr, which opens the pipe anew.  By the group, to
 * write only: not its owner, the program can neither read its output back nor
 * change that.
 */
static int act_streams(void *context, struct error *e)
{
	static const int streams[] = { LAUNCH_FD_STDOUT, LAUNCH_FD_STDERR };
	struct start *s = context;
	struct launcher *l = s->l;

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		int fd = l->given.fd[streams[i]];
		struct stat st;

		if (fstat(fd, &st) < 0)
			return FAIL_SYS(e, "look at a standard stream");
		if (!S_ISFIFO(st.st_mode))
			continue;
		/* With one id for all the program owns the pipe as we do. */
		if (l->rootless
		        ? fchmod(fd, S_IWUSR) < 0
		        : fchown(fd, geteuid(), s->run->program_id) < 0 ||
		              fchmod(fd, S_IWUSR | S_IRUSR | S_IWGRP) < 0)
			return FAIL_SYS(e, "let a standard stream be opened");
	}
	return 0;
}

/* It is taken when its taker has come that far, whether it waits or not. */
static int act_hand(void *context, struct error *e)
{
	struct start *s = context;
	struct launcher *l = s->l;
	const struct channel_send what = { .protocol = &launch_protocol,
		.verb = LAUNCH_RUN,
		.message = &l->request.run,
		.fds = &l->given };

	l->sync.fd = s->run->ask_fd;
	if (channel_send(&l->sync, &what, e) == 0 || e->kind == ERROR_CLOSED) {
		drop(&s->run->ask_fd);
		return 0; /* its last words, or its end, say why */
	}
	return -1;
}

static const struct stage requested[] = {
	{ "request", act_request, "report this" },
};

static const struct stage given[] = {
	{ "cgroup", act_limits,
	    "see that limits can be set in this host's control groups" },
	{ "scratch", act_scratch,
	    "raise the policy's scratch_bytes or scratch_inodes" },
	{ "streams", act_streams, "report this" },
	{ "hand", act_hand, "send less arguments" },
};

/* Answer FAILED; 'run' NULL if it has no slot. */
static int refuse(struct launcher *l, struct launched *run,
    const struct launch_failed *failed, struct error *e)
{
	if (run != NULL)
		launched_abandon(l, run);
	l->reply.failed = *failed;
	return launcher_reply(l, LAUNCH_FAILED, NULL, e);
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
    struct launcher *l, struct launched *run, struct error *e)
{
	struct fd_list fds = { .n = l->grouped ? LAUNCH_FD_STARTED_N
		                               : LAUNCH_FD_LONE_N };
	struct launch_started *out = &l->reply.started;

	fds.fd[LAUNCH_FD_INIT] = run->pid_fd;
	fds.fd[LAUNCH_FD_GATE] = run->gate_fd;
	fds.fd[LAUNCH_FD_STATUS] = run->status_fd;
	fds.fd[LAUNCH_FD_SCRATCH] = run->scratch_fd;
	memcpy(&fds.fd[LAUNCH_FD_KILL], run->leaf.file_fd,
	    sizeof(run->leaf.file_fd));
	*out = (struct launch_started){ .run = run->id,
		.init_pid = (uint32_t)run->pid,
		.init_uid = run->init_id,
		.program_uid = run->program_id };
	if (l->grouped)
		(void)snprintf(out->cgroup, sizeof(out->cgroup),
		    "bailiff/%s/%s", l->cgroups.instance, run->leaf.name);
	if (put_group(l, run, out, e) < 0 ||
	    launcher_reply(l, LAUNCH_STARTED, &fds, e) < 0)
		return -1;
	run->state = RUN_GOING;
	cgroup_leaf_going(&run->leaf);
	drop(&run->gate_fd);
	drop(&run->status_fd);
	drop(&run->scratch_fd);
	return 0;
}

_Static_assert(LAUNCH_FD_STARTED_N - LAUNCH_FD_KILL == CGROUP_FILES,
    "the files of a leaf are the rest of STARTED");

static int start(struct launcher *l, struct launched *run, struct error *e)
{
	struct launch_failed failed = { .run = run->id };
	struct error why = { 0 };

	if (tell_started(l, run, &why) == 0)
		return 0;
	if (why.kind == ERROR_CLOSED) {
		*e = why;
		return -1;
	}
	(void)steps_failed("started", "report this", &why, &failed);
	return refuse(l, run, &failed, e);
}

/* The clone waits with all mounts made; it may go on. */
static int let_on(struct launcher *l, struct launched *run, struct error *e)
{
	ssize_t sent;

	if (run->state == RUN_BUILDING && fit_scratch(run, e) < 0)
		return FAIL_IN(e, "fit the scratch");
	if (write_maps(l, run, e) < 0)
		return -1;
	/* If it died meanwhile, its status channel says so; and if it gets no
	 * byte, it says so itself there. */
	do
		sent = send(run->sync_fd, "g", 1, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	drop(&run->sync_fd);
	return 0;
}

/* What a clone says before it has its maps: it wants them, or cannot go on. */
static int hear_clone(struct launcher *l, struct launched *run,
    struct launch_failed *ret_failed, struct error *e)
{
	const struct channel_receive what = { .protocol =
		                                  &launch_status_protocol,
		.max_fds = 1,
		.to = { ret_failed, sizeof(*ret_failed) } };
	struct fd_list fds = { .n = 0 };
	uint16_t verb = 0;

	l->sync.fd = run->sync_fd;
	if (channel_receive(&l->sync, &what, &verb, &fds, e) < 0)
		return -1;
	if (verb == LAUNCH_MAPS && fds.n == 1) {
		run->scratch_fd = fds.fd[0];
		return let_on(l, run, e);
	}
	fd_list_close(&fds);
	if (verb != LAUNCH_STEP_FAILED)
		return FAIL(e, ERROR_STATE, "the clone spoke out of turn");
	return 1;
}

int launcher_sync(struct launcher *l, struct launched *run, struct error *e)
{
	struct launch_failed failed = { .run = 0 };
	struct error why = { 0 };
	int heard;

	/* Nobody waits for one that is made ahead; the next run makes its own.
	 */
	if (run->sync_fd < 0) {
		launched_abandon(l, run);
		return 0;
	}
	heard = hear_clone(l, run, &failed, &why);
	if (heard == 0 && run->state == RUN_BUILDING)
		return start(l, run, e);
	if (heard == 0)
		return 0;
	if (run->state == RUN_PARKED) {
		launched_abandon(l, run);
		return 0;
	}
	if (heard < 0)
		(void)steps_failed("build",
		    "raise the policy's memory limit if the kernel killed it",
		    &why, &failed);
	failed.run = run->id;
	return refuse(l, run, &failed, e);
}

int launcher_run(struct launcher *l, struct error *e)
{
	struct start s = { .l = l };
	struct launch_failed failed = { .run = l->request.run.run };

	if (steps_run(STAGES(requested), &s, &failed) < 0 ||
	    launcher_slot(l, &s.run, &failed) < 0 ||
	    steps_run(STAGES(given), &s, &failed) < 0)
		return refuse(l, s.run, &failed, e);
	/* Otherwise when it stands as far. */
	if (s.run->scratch_fd >= 0)
		return start(l, s.run, e);
	return 0;
}
