/*
 * executor/run_trace.c - a run and its tracer: watched before its first
 * instruction, finished when its last process is dead.  Linked by the
 * supervisor.  What the tracer answers is about files that we made.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"

const char *run_trace_name(const struct run *r, enum run_making making)
{
	static const char *const names[MAKING_N][2] = {
		[MAKING_NOTHING] = { "trace.jsonl", "trace.jsonl.gz" },
		[MAKING_LIBRARIES] = { "trace.install.jsonl",
		    "trace.install.jsonl.gz" },
		[MAKING_PRODUCT] = { "trace.compile.jsonl",
		    "trace.compile.jsonl.gz" },
	};

	return names[making][r->s->policy->trace_packed];
}

static int say(struct run *r, uint16_t verb, const void *message,
    const struct fd_list *fds, struct error *e)
{
	const struct channel_send what = { &tracer_protocol, verb, message,
		fds };

	if (r->s->tracing.fd < 0)
		return FAIL(e, ERROR_CLOSED, "bailiff-tracer has ended");
	if (supervisor_send(r->s, r->s->tracing.fd, &what, e) < 0)
		return FAIL_IN(e, "bailiff-tracer");
	run_expect(r, DUE_TRACER, PATIENCE_TRACER);
	return 0;
}

/* Without it the record says "trace" among what the run lacked. */
static bool may_lack(const struct run *r)
{
	return r->s->policy->trace == TRACE_BEST_EFFORT;
}

bool run_is_seen(const struct run *r)
{
	return r->s->policy->trace == TRACE_OFF ||
	       r->trace == RUN_TRACE_WATCHED ||
	       (r->trace == RUN_TRACE_LOST && may_lack(r));
}

int run_trace_begin(struct run *r, uint64_t group, struct error *e)
{
	struct tracer_watch watch = { .run = r->number,
		.group = group,
		.packed = r->s->policy->trace_packed };
	const char *name = run_trace_name(r, r->making);
	struct fd_list file = { .n = 1 };
	AUTO_FD fd = -1;

	if (r->s->policy->trace == TRACE_OFF)
		return 0;
	if (r->s->tracing.fd < 0 && may_lack(r)) {
		r->trace = RUN_TRACE_LOST;
		return 0;
	}
	fd = openat(r->folder_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return FAIL_SYS(e, "make %s", name);
	memcpy(watch.name, r->id, sizeof(r->id));
	file.fd[0] = fd;
	/* Whose channel is closed is noticed by the loop. */
	r->trace = RUN_TRACE_ASKED;
	return say(r, TRACER_WATCH, &watch, &file, e);
}

int run_watched(struct run *r, const struct run_message *m, struct error *e)
{
	(void)m;
	(void)e;
	r->trace = RUN_TRACE_WATCHED;
	r->due[DUE_TRACER] = 0;
	if (r->stage == RUN_ENDING)
		run_end(r);
	else
		run_release(r);
	return 0;
}

/* What is in the file is not the whole, so there is none. */
static void give_up(struct run *r, const struct error *why)
{
	r->trace = RUN_TRACE_LOST;
	r->due[DUE_TRACER] = 0;
	run_trace_remove(r);
	/* Who is killed for it needs no other reason. */
	if (!may_lack(r) && r->kill != KILLER_TRACER)
		run_fail(r,
		    r->clock[CLOCK_RELEASED] == 0 ? PHASE_SETUP : PHASE_COLLECT,
		    "trace", why);
}

/* Whatever waited for an answer waits no more. */
static void carry_on(struct run *r)
{
	if (r->stage == RUN_TRACING)
		run_bury(r);
	else if (r->stage == RUN_ENDING || !may_lack(r))
		run_end(r);
	else
		run_release(r);
}

void run_trace_remove(const struct run *r)
{
	if (r->folder_fd >= 0)
		(void)unlinkat(r->folder_fd, run_trace_name(r, r->making), 0);
}

int run_unwatched(struct run *r, const struct run_message *m, struct error *e)
{
	error_fill(e, ERROR_UNAVAILABLE, 0, "%s", m->in->trace_failed.text);
	e->saved_errno = (int)m->in->trace_failed.saved_errno;
	give_up(r, e);
	carry_on(r);
	return 0;
}

int run_traced(struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	r->traced = m->in->traced;
	r->trace = RUN_TRACE_FINISHED;
	r->due[DUE_TRACER] = 0;
	run_bury(r);
	return 0;
}

bool run_trace_end(struct run *r)
{
	const struct tracer_finish finish = { .run = r->number,
		.undead = r->is_undead };
	struct error e;

	if (r->trace == RUN_TRACE_ASKED)
		return true; /* its answer comes first */
	if (r->trace != RUN_TRACE_WATCHED)
		return false;
	if (say(r, TRACER_FINISH, &finish, NULL, &e) < 0) {
		give_up(r, &e);
		return false;
	}
	/* Nobody waits for the trace of what has no record. */
	if (!r->is_unrecorded)
		r->stage = RUN_TRACING;
	return !r->is_unrecorded;
}

void run_trace_lost(struct run *r)
{
	struct error e;

	if (r->trace != RUN_TRACE_ASKED && r->trace != RUN_TRACE_WATCHED) {
		if (!may_lack(r))
			run_cancel(r, KILLER_TRACER);
		return;
	}
	error_fill(&e, ERROR_CLOSED, 0,
	    "bailiff-tracer has ended; look at dmesg, then try again");
	/* Killed for it; if it was over before, its record lacks the trace. */
	if (!may_lack(r) && r->stage < RUN_ENDING && r->kill == KILLER_NONE &&
	    !r->ended)
		r->kill = KILLER_TRACER;
	give_up(r, &e);
	carry_on(r);
}

void run_trace_late(struct run *r)
{
	supervisor_trace_kill(r->s);
}

void run_trace_record(const struct run *r, struct event_outcome *o)
{
	if (r->clock[CLOCK_RELEASED] == 0)
		return;
	if (r->trace == RUN_TRACE_LOST && may_lack(r))
		(void)snprintf(o->degraded.items[o->degraded.n++].text,
		    sizeof(o->degraded.items[0].text), "trace");
	if (r->trace != RUN_TRACE_FINISHED)
		return;
	o->has |= OUTCOME_HAS_TRACE;
	(void)snprintf(o->trace_tier, sizeof(o->trace_tier), "bpf");
	o->trace_complete = r->traced.complete;
	o->trace_events = r->traced.events;
	o->trace_bytes = r->traced.bytes;
	memcpy(o->trace_sha256, r->traced.sha256, sizeof(o->trace_sha256));
}
