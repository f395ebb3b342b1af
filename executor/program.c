/*
 * executor/program.c - the program's process, from fork to its first
 * instruction: what needs no request, the request, the rest.  Linked by
 * bailiff-launch; allocates nothing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memfd.h"
#include "executor/sandbox.h"
#include "executor/steps.h"

#define NAME "bailiff-start"

static int act_filter(void *context, struct error *e)
{
	struct sandbox *s = context;

	return confine_filter_read(
	    s->given->fd[LAUNCH_FD_FILTER], s->memory->filter, &s->filter, e);
}

static int act_fill(void *context, struct error *e)
{
	return scratch_fill(context, e);
}

/*
 * A sealed file came open for writing and with a position that others share:
 * open it anew.  What is no memory file (null, a pipe) goes as it is.
 */
static int act_stdin(void *context, struct error *e)
{
	struct sandbox *s = context;
	int given_fd = s->given->fd[LAUNCH_FD_STDIN];
	char path[32];

	s->std_in_fd = given_fd;
	if (fcntl(given_fd, F_GET_SEALS) < 0)
		return 0;
	if (sandbox_stdin_copy(s, &given_fd, e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", given_fd);
	s->std_in_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->std_in_fd < 0)
		return FAIL_SYS(e, "open standard input for reading");
	return 0;
}

/* What the compiler made: the very bytes that were sealed. */
static int take_product(struct sandbox *s, struct error *e)
{
	uint64_t size;

	s->program_fd = s->given->fd[s->given->n - 1];
	if (memfd_check(s->program_fd, UINT64_MAX, &size, e) < 0)
		return FAIL_IN(e, "the compiled program");
	return 0;
}

static int act_program(void *context, struct error *e)
{
	struct sandbox *s = context;
	const char *path = s->ask->program;
	struct stat st;

	if ((s->ask->flags & LAUNCH_PRODUCT) != 0)
		return take_product(s, e);
	if (path[0] != '/')
		return FAIL(
		    e, ERROR_MALFORMED, "'%s' is no absolute path", path);
	s->program_fd = open(path, O_PATH | O_CLOEXEC);
	if (s->program_fd < 0 || fstat(s->program_fd, &st) < 0)
		return FAIL_SYS(e, "open %s in the view", path);
	if (!S_ISREG(st.st_mode) || (st.st_mode & S_IXOTH) == 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "%s is no program that everybody may execute", path);
	return 0;
}

/* Split NUL-ended strings into a NULL-ended list; the last must end too. */
static int split(
    uint8_t *data, uint64_t len, char **ret, const char *what, struct error *e)
{
	size_t n = 0;

	if (len > 0 && data[len - 1] != '\0')
		return FAIL(e, ERROR_MALFORMED, "%s lack a NUL", what);
	for (uint64_t at = 0; at < len; n++) {
		ret[n] = (char *)data + at;
		at += strlen(ret[n]) + 1;
	}
	ret[n] = NULL;
	return 0;
}

static int act_words(void *context, struct error *e)
{
	struct sandbox *s = context;
	struct launch_run *ask = s->ask;

	if (ask->argv.len == 0)
		return FAIL(e, ERROR_MALFORMED, "no argv[0]");
	if (split(ask->argv.data, ask->argv.len, s->memory->argv, "arguments",
	        e) < 0)
		return -1;
	return split(ask->env.data, ask->env.len, s->memory->env,
	    "environment variables", e);
}

/* With the request, and pid 1's uid still. */
static const struct stage asked[] = {
	{ "filter", act_filter, "report this: the filter comes from bailiff" },
	{ "scratch", act_fill,
	    "raise the policy's scratch_bytes or memory, or send less input" },
	{ "stdin", act_stdin, "report this" },
	{ "program", act_program,
	    "install the language's toolchain; bailiff doctor names it" },
	{ "words", act_words, "report this" },
};

static _Noreturn void fail(
    struct sandbox *s, int report_fd, const struct launch_failed *failed)
{
	struct error e;

	(void)!sandbox_say(s, report_fd, LAUNCH_STEP_FAILED, failed, &e);
	_exit(1);
}

/* Pid 1 gets the listener, and nobody else keeps it. */
static int tell(struct sandbox *s, const struct confine *c, struct error *e)
{
	struct launch_stands stands = { .run = s->ask->run,
		.wall_ms = s->ask->wall_ms,
		.landlock_abi = s->landlock_abi,
		.steps = c->n_steps };
	const struct fd_list listener = { 1, { c->listener_fd } };
	const struct channel_send what = { .protocol = &launch_status_protocol,
		.verb = LAUNCH_STANDS,
		.message = &stands,
		.fds = c->listener_fd >= 0 ? &listener : NULL };

	memcpy(stands.program, s->ask->program, sizeof(stands.program));
	s->memory->channel.fd = c->report_fd;
	if (channel_send(&s->memory->channel, &what, e) < 0)
		return -1;
	if (c->listener_fd >= 0)
		(void)close(c->listener_fd);
	(void)close(c->report_fd);
	return 0;
}

/*
 * The stop: no report any more, only the gate.  End of file means that nobody
 * will let this program go.
 */
static _Noreturn void stop_and_go(struct sandbox *s)
{
	uint32_t why;
	ssize_t got;
	char go;

	do
		got = read(CONFINE_GATE_FD, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		_exit(1);
	if (got == 1)
		(void)syscall(SYS_execveat, FILTER_PROGRAM_FD, "",
		    s->memory->argv, s->memory->env, AT_EMPTY_PATH);
	/* Still us: tell pid 1 through the gate, which exec would have closed. */
	why = (uint32_t)errno;
	(void)!write(CONFINE_GATE_FD, &why, sizeof(why));
	_exit(1);
}

/* What pid 1 has is closed while nobody waits for it. */
static int keep_own(
    const struct sandbox *s, const struct confine *c, struct error *e)
{
	int keep[] = { s->ask_fd, s->stdin_copy_fd, c->report_fd, c->gate_fd,
		CONFINE_RULESET_FD };

	return sandbox_keep_only(keep, sizeof(keep) / sizeof(keep[0]), e);
}

/* Until there is a request.  No launcher, no run. */
static void wait_for_request(struct sandbox *s, const struct confine *c)
{
	struct launch_failed failed = { .run = 0 };
	struct error e = { 0 };

	sandbox_touch(s->memory);
	if (keep_own(s, c, &e) == 0 && sandbox_take(s, &e) == 0)
		return;
	(void)steps_failed("request", "report this", &e, &failed);
	fail(s, c->report_fd, &failed);
}

void sandbox_program(struct sandbox *s, int report_fd, int gate_fd)
{
	struct confine c = { .ask = s->ask,
		.view = s->view,
		.flags = s->flags,
		.report_fd = report_fd,
		.gate_fd = gate_fd,
		.landlock_abi = s->landlock_abi,
		.n_groups = s->rootless ? getgroups(0, NULL) : 0,
		.listener_fd = -1 };
	struct launch_failed failed = { .run = 0 };
	struct error e = { 0 };

	(void)prctl(PR_SET_NAME, SANDBOX_PARKED, 0, 0, 0);
	if (confine_ahead(&c, &failed) < 0)
		fail(s, report_fd, &failed);
	if (!s->has_directories)
		wait_for_request(s, &c);
	failed.run = s->ask->run;
	(void)prctl(PR_SET_NAME, NAME, 0, 0, 0);
	if (steps_run(STAGES(asked), s, &failed) < 0)
		fail(s, report_fd, &failed);
	c.filter = s->filter;
	c.program_fd = s->program_fd;
	c.std_fd[0] = s->std_in_fd;
	c.std_fd[1] = s->given->fd[LAUNCH_FD_STDOUT];
	c.std_fd[2] = s->given->fd[LAUNCH_FD_STDERR];
	/* 'c' knows by then where the report went. */
	if (confine_program(&c, &failed) < 0)
		fail(s, c.report_fd, &failed);
	if (tell(s, &c, &e) < 0)
		_exit(1);
	stop_and_go(s);
}
