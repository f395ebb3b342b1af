/*
 * executor/supervisor_trace.h - the supervisor's end of bailiff-tracer
 * (tracer.h).  Private to the supervisor.
 *
 * With a policy of trace "required" nothing runs unseen: the service does not
 * start without a tracer that has proven itself, a program waits at its gate
 * until its group is watched, and when the tracer ends what it watched is
 * killed and the service ends with it.
 */
#ifndef EXECUTOR_SUPERVISOR_TRACE_H
#define EXECUTOR_SUPERVISOR_TRACE_H

#include <stdbool.h>

#include "base/error.h"
#include "executor/loop.h"

struct run;
struct supervisor;

struct tracing {
	int fd;     /* owned; -1: no tracing, or not any more */
	int pid_fd; /* owned */
	struct watch watch;
};
/* As root, before any peer exists: start it, without waiting.  Nothing if the
 * policy does not ask for tracing. */
int supervisor_trace_start(struct supervisor *s, struct error *e) MUST_CHECK;
/* It is ready, or *e is its reason. */
int supervisor_trace_await(struct supervisor *s, struct error *e) MUST_CHECK;
int supervisor_trace_watch(struct supervisor *s, struct error *e) MUST_CHECK;

/* It does not answer: kill it; its end is then seen as any other. */
void supervisor_trace_kill(struct supervisor *s);

enum run_trace {
	RUN_TRACE_NONE,     /* not asked for, or not yet */
	RUN_TRACE_ASKED,    /* WATCH is on its way */
	RUN_TRACE_WATCHED,  /* it may go */
	RUN_TRACE_FINISHED, /* its file is whole */
	RUN_TRACE_LOST,     /* there will be none */
};

#endif
