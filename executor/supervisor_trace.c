/*
 * executor/supervisor_trace.c - bailiff-tracer from the supervisor's side.
 * Linked by the supervisor.
 */
#include "executor/supervisor_trace.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/peers.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"
#include "executor/spawn.h"
#include "executor/supervisor.h"
#include "policy/tracing.h"

/* The kernel sends what it sees there; half a megabyte is a thousand opens. */
#define RING_BYTES "524288"

static void drop(struct supervisor *s)
{
	own_close(&s->tracing.fd);
	s->tracing.fd = -1;
}

static int start(struct supervisor *s, struct error *e)
{
	char slots[16];
	const char *const argv[] = { "bailiff-tracer", slots, RING_BYTES,
		NULL };
	char path[SERVICE_PATH_MAX];
	struct spawn what = { .path = path, .argv = argv, .n_fds = 1 };
	int ends[2];
	int failed;

	(void)snprintf(slots, sizeof(slots), "%zu", s->slots_max);
	if (service_program_path(argv[0], path, e) < 0 ||
	    channel_pair(ends, e) < 0)
		return -1;
	s->tracing.fd = ends[0];
	what.fds[0] = ends[1];
	failed = spawn(&what, &s->tracing.pid_fd, e);
	(void)close(ends[1]);
	return failed;
}

int supervisor_trace_start(struct supervisor *s, struct error *e)
{
	if (s->policy->trace == TRACE_OFF)
		return 0;
	if (!s->owner.rootless)
		return start(s, e);
	if (s->policy->trace == TRACE_BEST_EFFORT)
		return 0;
	return FAIL(e, ERROR_UNAVAILABLE,
	    "policy '%s' requires tracing, which takes root; run as root, use "
	    "the system service, or write \"trace\": \"off\"",
	    s->policy->name);
}

static int await_ready(struct supervisor *s, struct error *e)
{
	struct pollfd answer = { .fd = s->tracing.fd, .events = POLLIN };
	struct supervisor_heard heard;
	int n;

	do
		n = poll(&answer, 1, (int)(PATIENCE_BUILD / 1000));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "bailiff-tracer is not ready after a minute "
		    "(tracer.timeout); look at its state and at dmesg");
	if (supervisor_receive(
	        s, s->tracing.fd, &tracer_reply_protocol, &heard, e) < 0)
		return FAIL_IN(e, "bailiff-tracer");
	if (heard.verb == TRACER_FAILED)
		return FAIL(e, ERROR_UNAVAILABLE, "this host cannot: %.200s",
		    s->in->trace_failed.text);
	if (heard.verb != TRACER_READY)
		return FAIL(e, ERROR_STATE, "bailiff-tracer said %s, not ready",
		    wire_verb_name(&tracer_reply_protocol, heard.verb));
	if (fcntl(s->tracing.fd, F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up the tracer's channel");
	return 0;
}

int supervisor_trace_await(struct supervisor *s, struct error *e)
{
	struct error why;

	if (s->tracing.fd < 0 || await_ready(s, &why) == 0)
		return 0;
	supervisor_trace_kill(s);
	drop(s);
	/* Each record says that it is missing. */
	if (s->policy->trace == TRACE_BEST_EFFORT)
		return 0;
	return FAIL(e, ERROR_UNAVAILABLE,
	    "policy '%s' requires tracing (%s): %.240s; write \"trace\": "
	    "\"off\" to run without it",
	    s->policy->name, tracing_why(s->policy), why.text);
}

void supervisor_trace_kill(struct supervisor *s)
{
	launcher_kill(s->tracing.pid_fd);
}

/* Nothing goes on unseen, and the next service has a tracer of its own. */
static void lose(struct supervisor *s)
{
	if (s->tracing.fd < 0)
		return;
	loop_remove(&s->loop, &s->tracing.watch);
	drop(s);
	if (s->policy->trace == TRACE_REQUIRED)
		s->stopping = true;
	for (struct run *r = s->runs; r != NULL; r = r->next)
		run_trace_lost(r);
}

/* The number of the run is the first member of every answer. */
static void trace_ready(void *owner, uint32_t events)
{
	struct supervisor *s = owner;
	struct supervisor_heard heard;
	struct run_message m = { ROLE_TRACER, 0, s->in, &heard.fds };
	struct error e;
	struct run *r;

	(void)events;
	if (supervisor_receive(
	        s, s->tracing.fd, &tracer_reply_protocol, &heard, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			lose(s);
		return;
	}
	fd_list_close(&heard.fds);
	m.verb = heard.verb;
	r = run_of_number(s, m.verb == TRACER_WATCHING ? s->in->watching.run
	                     : m.verb == TRACER_FINISHED
	                         ? s->in->traced.run
	                         : s->in->trace_failed.run);
	/* One that left no record may be gone already. */
	if (r != NULL && run_handle(r, &m, &e) < 0)
		lose(s);
}

int supervisor_trace_watch(struct supervisor *s, struct error *e)
{
	s->tracing.watch = (struct watch){ -1, 0, trace_ready, s };
	if (s->tracing.fd < 0)
		return 0;
	return loop_add(&s->loop, &s->tracing.watch, s->tracing.fd, EPOLLIN, e);
}
