/*
 * tests/escape/driver_run.c - one run: asked for, stopped, let go, ended,
 * released.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static void put_words(char **from, uint8_t *to, uint64_t *len)
{
	*len = 0;
	for (; *from != NULL; from++) {
		size_t n = strlen(*from) + 1;

		memcpy(to + *len, *from, n);
		*len += n;
	}
}

void run_ask(struct driver *d, struct one *one)
{
	char path_env[] = "PATH=/usr/bin:/bin";
	char *env[] = { path_env, NULL };
	struct launch_run *r = &d->run;
	struct fd_list fds = { .n = LAUNCH_FD_INPUTS };
	int out[2];
	int err[2];

	*r = d->o.limits;
	r->run = ++d->next;
	r->flags = driver_flags(&d->o);
	(void)snprintf(r->program, sizeof(r->program), "%s", d->o.program[0]);
	(void)snprintf(r->source, sizeof(r->source), "main");
	put_words(d->o.program, r->argv.data, &r->argv.len);
	put_words(env, r->env.data, &r->env.len);
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		driver_die("pipe", NULL);
	/* A standard stream belongs to who asks for the run. */
	if (fchown(out[1], d->o.uid, d->o.uid) < 0 ||
	    fchown(err[1], d->o.uid, d->o.uid) < 0)
		driver_die("own a pipe", NULL);
	fds.fd[LAUNCH_FD_CODE] = d->code_fd;
	fds.fd[LAUNCH_FD_STDIN] = d->stdin_fd;
	fds.fd[LAUNCH_FD_STDOUT] = out[1];
	fds.fd[LAUNCH_FD_STDERR] = err[1];
	fds.fd[LAUNCH_FD_FILTER] = d->filter_fd;
	if (d->o.input != NULL) {
		(void)snprintf(r->inputs.items[0].name,
		    sizeof(r->inputs.items[0].name), "%s", d->o.input);
		r->inputs.n = 1;
		fds.fd[fds.n++] = d->input_fd;
	}
	driver_tell(d, LAUNCH_RUN, r, &fds);
	(void)close(out[1]);
	(void)close(err[1]);
	one->out_fd = out[0];
	one->err_fd = err[0];
}

/* False if the run was refused. */
bool run_started(struct driver *d)
{
	struct fd_list fds;
	struct one *one;
	uint16_t verb =
	    driver_hear(d, &d->channel, &launch_reply_protocol, &fds);

	if (verb == LAUNCH_FAILED) {
		show_failed("failed", &d->in.failed);
		return false;
	}
	if (verb != LAUNCH_STARTED ||
	    fds.n != (d->o.uid != 0 ? LAUNCH_FD_LONE_N : LAUNCH_FD_STARTED_N)) {
		printf("not-started %u\n", verb);
		exit(1);
	}
	one = &d->ones[d->in.started.run % RUNS_MAX];
	one->started = d->in.started;
	for (size_t i = 0; i < LAUNCH_FD_STARTED_N; i++)
		one->fd[i] = i < fds.n ? fds.fd[i] : -1;
	return true;
}

/* True at the stop, false if a step failed. */
bool run_stopped(struct driver *d, struct one *one)
{
	struct fd_list fds;
	uint16_t verb;

	d->status.fd = one->fd[LAUNCH_FD_STATUS];
	verb = driver_hear(d, &d->status, &launch_status_protocol, &fds);
	if (verb == LAUNCH_STEP_FAILED)
		show_failed("step-failed", &d->in.failed);
	else if (verb != LAUNCH_STOPPED || fds.n != 1)
		printf("not-stopped %u\n", verb);
	if (verb != LAUNCH_STOPPED || fds.n != 1)
		return false;
	one->program_fd = fds.fd[0];
	printf("stopped steps=%u landlock=%u\n", d->in.stopped.steps,
	    d->in.stopped.landlock_abi);
	return true;
}

static void run_abuse(struct driver *d, struct one *one)
{
	if (strcmp(d->o.abuse, "kill-launch") == 0)
		(void)kill(d->launch, SIGKILL);
	if (strcmp(d->o.abuse, "drop-channel") == 0)
		(void)close(d->channel.fd);
	if (strcmp(d->o.abuse, "close-gate") == 0)
		(void)close(one->fd[LAUNCH_FD_GATE]);
}

void run_go(struct driver *d, struct one *one)
{
	if (d->o.abuse != NULL && strcmp(d->o.abuse, "close-gate") == 0) {
		run_abuse(d, one);
		return;
	}
	if (write(one->fd[LAUNCH_FD_GATE], "g", 1) != 1 && !d->o.faults)
		driver_die("gate", NULL);
	if (d->o.abuse != NULL)
		run_abuse(d, one);
}

void run_ended(struct driver *d, struct one *one)
{
	struct fd_list fds;
	struct pollfd dead = { one->fd[LAUNCH_FD_INIT], POLLIN, 0 };
	uint16_t verb;

	d->status.fd = one->fd[LAUNCH_FD_STATUS];
	verb = driver_hear(d, &d->status, &launch_status_protocol, &fds);
	printf("ms-to-end %.3f\n", driver_now_ms() - d->t0);
	if (verb == LAUNCH_ENDED)
		printf("ended kind=%u value=%u wall=%u\n",
		    d->in.ended.exit_kind, d->in.ended.exit_value,
		    d->in.ended.wall);
	else if (verb == LAUNCH_STEP_FAILED)
		show_failed("step-failed", &d->in.failed);
	else
		printf("ended-silent %u\n", verb);
	if (poll(&dead, 1, 20000) != 1)
		driver_die("pid 1 does not die", NULL);
}

/* False if the launcher is gone. */
bool run_release(struct driver *d, struct one *one)
{
	struct launch_release out = { one->started.run };
	struct fd_list fds;
	uint16_t verb;

	driver_tell(d, LAUNCH_RELEASE, &out, NULL);
	verb = driver_hear(d, &d->channel, &launch_reply_protocol, &fds);
	if (verb == LAUNCH_FAILED)
		show_failed("release-failed", &d->in.failed);
	else
		printf("released %s\n",
		    verb == LAUNCH_RELEASED && d->in.released.run == out.run
		        ? "yes"
		        : "no");
	for (size_t i = 0; i < LAUNCH_FD_STARTED_N; i++)
		(void)close(one->fd[i]);
	(void)close(one->program_fd);
	(void)close(one->out_fd);
	(void)close(one->err_fd);
	return verb != 0;
}
