/*
 * executor/trace/canary.h - a child that makes known calls, so that a tracer
 * which does not see them is no tracer.  Linked by bailiff-tracer.
 *
 * It is made while we are still root, in a pid namespace of its own as every
 * run's; it gives its privileges up, loads a filter and waits.  What it does is
 * judged after the tracer has given up its own.
 */
#ifndef EXECUTOR_TRACE_CANARY_H
#define EXECUTOR_TRACE_CANARY_H

#include "executor/trace/watcher.h"

/* argv[0] of the program that it executes, which is ours, and ends. */
#define CANARY_NAME "bailiff-canary"

struct canary {
	int pid_fd;  /* owned */
	int gate_fd; /* owned; one byte lets it go */
};

int canary_make(struct canary *c, struct error *e) MUST_CHECK;
/* Let it sing; ERROR_UNAVAILABLE says what was not seen. */
int canary_judge(
    struct canary *c, struct watcher *w, struct error *e) MUST_CHECK;

#endif
