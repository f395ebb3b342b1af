/*
 * executor/sandbox.c - the clone's way from the launcher to pid 1.  Linked by
 * bailiff-launch; runs after clone3, alone, and allocates nothing.
 */
#include "executor/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/omit.h"
#include "executor/steps.h"
#include "executor/uids.h"

#define KEEP_MAX 9
#define NAME     "bailiff-init"

static int act_descriptors(void *context, struct error *e)
{
	struct sandbox *s = context;
	int keep[KEEP_MAX] = { s->sync_fd, s->ask_fd, s->status_fd, s->gate_fd,
		s->liveness_fd, s->host_ns_fd };
	size_t n = 6;

	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (s->leaf.fd[i] >= 0)
			keep[n++] = s->leaf.fd[i];
	return sandbox_keep_only(keep, n, e);
}

_Static_assert(6 + CGROUP_TREES <= KEEP_MAX, "all that is kept has room");

static int act_join(void *context, struct error *e)
{
	struct sandbox *s = context;

	if (omit_has("cgroup-join"))
		return 0;
	return cgroup_leaf_join(&s->leaf, e);
}

static int act_scratch(void *context, struct error *e)
{
	return sandbox_scratch(context, e);
}

static int act_stdin(void *context, struct error *e)
{
	return sandbox_stdin_ready(context, e);
}

/* They are the request's, and are mounted where it is still possible. */
static int act_directories(void *context, struct error *e)
{
	struct sandbox *s = context;

	if (s->has_directories && sandbox_take(s, e) < 0)
		return -1;
	if (sandbox_directories(s, e) < 0)
		return -1;
	return scratch_ready(s, e);
}

static int act_proc(void *context, struct error *e)
{
	return sandbox_proc(context, e);
}

static int act_host(void *context, struct error *e)
{
	(void)context;
	return sandbox_host(e);
}

static int act_loopback(void *context, struct error *e)
{
	return sandbox_loopback(context, e);
}

static int act_separate(void *context, struct error *e)
{
	return sandbox_separate(context, e);
}

static int act_seal(void *context, struct error *e)
{
	return sandbox_seal(context, e);
}

static int act_identity(void *context, struct error *e)
{
	const struct sandbox *s = context;
	const gid_t id = s->rootless ? UID_INSIDE_PROGRAM : UID_INSIDE_INIT;

	if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return FAIL_SYS(e, "take pid 1's ids");
	(void)prctl(PR_SET_NAME, NAME, 0, 0, 0);
	return 0;
}

/*
 * Rootless, files of a process in /proc are its uid's only while it may be
 * dumped; nobody hostile can see it before the program exists.
 */
static int act_open(void *context, struct error *e)
{
	(void)context;
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return FAIL_SYS(e, "allow dumps");
	return 0;
}

/* From here on the program's uid alone opens nothing of pid 1. */
static int act_close(void *context, struct error *e)
{
	(void)context;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "forbid dumps");
	return 0;
}

/* Out of the service's session; no member of a new pid namespace leads a
 * group, which is what setsid(2) refuses. */
static int act_session(void *context, struct error *e)
{
	sigset_t mask;

	(void)context;
	if (setsid() < 0)
		return FAIL_SYS(e, "start a session");
	/* Before the program exists, so that its end is never missed. */
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	if (pthread_sigmask(SIG_SETMASK, &mask, NULL) != 0)
		return FAIL(e, ERROR_SYSTEM, "block SIGCHLD");
	return 0;
}

/* Rootless only, each in front of the table that follows it in time. */
static const struct stage before_rootless[] = {
	{ "visible", act_open, "report this" },
};
static const struct stage after_rootless[] = {
	{ "hidden", act_close, "report this" },
};

/* In the launcher's user namespace. */
static const struct stage before[] = {
	{ "session", act_session, "report this" },
	{ "descriptors", act_descriptors, "report this" },
	/* First, so that the run's groups pay for all that follows. */
	{ "cgroup", act_join,
	    "see that the run's control groups take processes" },
	{ "proc", act_proc, "report this: proc needs Linux 5.8" },
	{ "host", act_host, "see that the kernel has uts and net namespaces" },
	{ "scratch", act_scratch,
	    "raise the policy's scratch_bytes or memory, or send less input" },
	{ "stdin", act_stdin, "report this" },
	{ "directories", act_directories,
	    "name a directory that nothing is mounted beneath, on a file "
	    "system that an overlay takes as a layer" },
	{ "loopback", act_loopback, "report this" },
	{ "namespaces", act_separate,
	    "raise /proc/sys/user/max_*_namespaces on this host" },
};

/* In the run's own, with the maps written. */
static const struct stage after[] = {
	{ "seal", act_seal, "report this" },
	{ "identity", act_identity, "report this" },
};

static _Noreturn void fail(
    struct sandbox *s, int fd, const struct launch_failed *failed)
{
	struct error e;

	/* Whoever listens also sees our end. */
	(void)!sandbox_say(s, fd, LAUNCH_STEP_FAILED, failed, &e);
	_exit(1);
}

int sandbox_take(struct sandbox *s, struct error *e)
{
	struct channel *c = &s->memory->channel;
	const struct channel_receive what = { .protocol = &launch_protocol,
		.max_fds = LAUNCH_FDS_MAX,
		.to = { s->ask, sizeof(*s->ask) } };
	uint16_t verb = 0;

	c->fd = s->ask_fd;
	if (channel_receive(c, &what, &verb, s->given, e) < 0)
		return FAIL_IN(e, "take the request");
	if (verb != LAUNCH_RUN || (s->ask->flags & LAUNCH_SHAPE) != s->flags)
		return FAIL(
		    e, ERROR_STATE, "this sandbox is not made for the request");
	return 0;
}

static int await_maps(int sync_fd, struct error *e)
{
	ssize_t got;
	char go;

	do
		got = read(sync_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return FAIL_SYS(e, "wait for the id maps");
	if (got == 0)
		return FAIL(e, ERROR_CLOSED, "the launcher let go of the run");
	return 0;
}

/* The rendezvous: give the scratch, get one byte when the maps are there. */
static void meet(struct sandbox *s, struct launch_failed *failed)
{
	struct channel *c = &s->memory->channel;
	const struct fd_list scratch = { 1, { s->scratch_fd } };
	const struct channel_send ready = { .protocol = &launch_status_protocol,
		.verb = LAUNCH_MAPS,
		.fds = &scratch };
	struct error e = { 0 };

	c->fd = s->sync_fd;
	if (channel_send(c, &ready, &e) < 0) {
		(void)steps_failed("maps", "report this", &e, failed);
		fail(s, s->sync_fd, failed);
	}
	if (await_maps(s->sync_fd, &e) < 0) {
		(void)steps_failed("maps", "report this", &e, failed);
		fail(s, s->status_fd, failed);
	}
	(void)close(s->scratch_fd);
	(void)close(s->sync_fd);
	s->scratch_fd = -1;
	s->sync_fd = -1;
}

static void fork_program(struct sandbox *s, struct launch_failed *failed)
{
	static const struct sandbox_clone plain = { .cgroup_fd = -1 };
	struct error e = { 0 };
	int report[2];
	int gate[2];

	if (channel_pair(report, &e) < 0 || channel_pair(gate, &e) < 0) {
		(void)steps_failed("fork", "report this", &e, failed);
		fail(s, s->status_fd, failed);
	}
	s->program = sandbox_fork(&plain, &s->program_pid_fd, &e);
	if (s->program < 0) {
		(void)steps_failed("fork",
		    "raise the policy's pids or memory limit", &e, failed);
		fail(s, s->status_fd, failed);
	}
	if (s->program == 0)
		sandbox_program(s, report[1], gate[1]);
	(void)close(report[1]);
	(void)close(gate[1]);
	s->report_fd = report[0];
	s->relay_fd = gate[0];
}

void sandbox_main(struct sandbox *s)
{
	struct launch_failed failed = { .run = 0 };

	(void)prctl(PR_SET_NAME, SANDBOX_PARKED, 0, 0, 0);
	if ((s->rootless &&
	        steps_run(STAGES(before_rootless), s, &failed) < 0) ||
	    steps_run(STAGES(before), s, &failed) < 0)
		fail(s, s->sync_fd, &failed);
	meet(s, &failed);
	if ((s->rootless &&
	        steps_run(STAGES(after_rootless), s, &failed) < 0) ||
	    steps_run(STAGES(after), s, &failed) < 0)
		fail(s, s->status_fd, &failed);
	fork_program(s, &failed);
	sandbox_wait(s);
}
