/*
 * tests/escape/driver_talk.c - the channel to the launcher: started, told,
 * heard.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

_Noreturn void driver_die(const char *what, const struct error *e)
{
	(void)fflush(stdout);
	(void)fprintf(stderr, "driver: %s: %s\n", what,
	    e != NULL ? e->text : strerror(errno));
	exit(1);
}

double driver_now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void driver_tell(struct driver *d, uint16_t verb, const void *message,
    const struct fd_list *fds)
{
	const struct channel_send what = { &launch_protocol, verb, message,
		fds };
	struct error e;

	if (channel_send(&d->channel, &what, &e) < 0 &&
	    !(d->o.faults && e.kind == ERROR_CLOSED))
		driver_die("send", &e);
}

uint16_t driver_hear(struct driver *d, struct channel *c,
    const struct wire_protocol *protocol, struct fd_list *fds)
{
	const struct channel_receive what = { protocol, LAUNCH_FD_STARTED_N,
		{ &d->in, sizeof(d->in) } };
	struct error e;
	uint16_t verb = 0;

	fds->n = 0;
	if (channel_receive(c, &what, &verb, fds, &e) < 0) {
		if (d->o.faults && e.kind == ERROR_SYSTEM)
			return 0;
		if (e.kind == ERROR_CLOSED)
			return 0;
		driver_die("receive", &e);
	}
	return verb;
}

uint32_t driver_flags(const struct options *o)
{
	return (o->loopback ? LAUNCH_LOOPBACK : LAUNCH_LANDLOCK_NET) |
	       (o->no_exec ? LAUNCH_NOEXEC : 0);
}

/* An account that is not root, as test_rootless.py makes one. */
static bool become(uid_t id)
{
	return id == 0 ||
	       (setgroups(0, NULL) == 0 && setresgid(id, id, id) == 0 &&
	           setresuid(id, id, id) == 0);
}

void driver_start(struct driver *d)
{
	struct error e;
	int ends[2];

	int traced[2];

	if (channel_pair(ends, &e) < 0 || channel_pair(traced, &e) < 0)
		driver_die("channel", &e);
	d->launch = fork();
	if (d->launch < 0)
		driver_die("fork", NULL);
	if (d->launch == 0) {
		char name[] = "bailiff-launch";
		char *argv[] = { name, NULL };
		char *env[] = { NULL };
		char go;

		(void)close(traced[0]);
		if (read(traced[1], &go, 1) < 0)
			_exit(1);

		if (!become(d->o.uid) || dup2(ends[1], 3) < 0 ||
		    fcntl(3, F_SETFD, 0) < 0)
			_exit(1);
		(void)execve(d->o.launch, argv, env);
		_exit(127);
	}
	(void)close(ends[1]);
	d->channel.fd = ends[0];
	if (d->o.faults &&
	    fault_trace(d->launch, 3,
	        d->o.start.when == FAULT_START ? &d->o.start : NULL) < 0)
		driver_die("trace", NULL);
	(void)close(traced[0]);
	(void)close(traced[1]);
}
