/*
 * executor/program.c - the program's process, from fork to its first
 * instruction.  Linked by bailiff-launch; allocates nothing.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/sandbox.h"
#include "executor/steps.h"

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

static int words(struct sandbox *s, struct error *e)
{
	struct launch_run *ask = s->ask;

	if (ask->argv.len == 0)
		return FAIL(e, ERROR_MALFORMED, "no argv[0]");
	if (split(ask->argv.data, ask->argv.len, s->memory->argv, "arguments",
	        e) < 0)
		return -1;
	return split(ask->env.data, ask->env.len, s->memory->env,
	    "environment variables", e);
}

static _Noreturn void fail(
    struct sandbox *s, int report_fd, const struct launch_failed *failed)
{
	struct error e;

	(void)!sandbox_say(s, report_fd, LAUNCH_STEP_FAILED, failed, &e);
	_exit(1);
}

/* Pid 1 gets the listener, and nobody else keeps it. */
static int tell(struct sandbox *s, const struct confine *c,
    const struct launch_stopped *stopped, struct error *e)
{
	const struct fd_list listener = { 1, { c->listener_fd } };
	const struct channel_send what = { .protocol = &launch_status_protocol,
		.verb = LAUNCH_STOPPED,
		.message = stopped,
		.fds = c->listener_fd >= 0 ? &listener : NULL };

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

void sandbox_program(struct sandbox *s, int report_fd, int gate_fd)
{
	const int *given = s->given->fd;
	struct confine c = { .ask = s->ask,
		.view = s->view,
		.filter = s->filter,
		.std_fd = { s->std_in_fd, given[LAUNCH_FD_STDOUT],
		    given[LAUNCH_FD_STDERR] },
		.report_fd = report_fd,
		.gate_fd = gate_fd,
		.program_fd = s->program_fd,
		.landlock_abi = s->landlock_abi,
		.n_groups = s->rootless ? getgroups(0, NULL) : 0,
		.listener_fd = -1 };
	struct launch_failed failed = { .run = s->ask->run };
	struct launch_stopped stopped = { .landlock_abi = s->landlock_abi };
	struct error e = { 0 };

	if (words(s, &e) < 0) {
		(void)steps_failed("words", "report this", &e, &failed);
		fail(s, report_fd, &failed);
	}
	/* 'c' knows by then where the report went. */
	if (confine_program(&c, &failed) < 0)
		fail(s, c.report_fd, &failed);
	stopped.steps = c.n_steps;
	if (tell(s, &c, &stopped, &e) < 0)
		_exit(1);
	stop_and_go(s);
}
