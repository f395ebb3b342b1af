/*
 * executor/run_trace.h - a run and its tracer, between the files run*.c.
 * Nothing runs unseen, if the policy says so.
 */
#ifndef EXECUTOR_RUN_TRACE_H
#define EXECUTOR_RUN_TRACE_H

#include "executor/run.h"

/* STARTED: have control group 'group' watched, into a file of the folder. */
int run_trace_begin(struct run *r, uint64_t group, struct error *e) MUST_CHECK;
/* As far as its tracer goes it may be released. */
bool run_is_seen(const struct run *r);
/* It is dead; true: wait for the tracer's last word. */
bool run_trace_end(struct run *r);
/* The tracer has ended, or does not answer. */
void run_trace_lost(struct run *r);
void run_trace_late(struct run *r);

/* What it answers. */
int run_watched(struct run *r, const struct run_message *m, struct error *e);
int run_unwatched(struct run *r, const struct run_message *m, struct error *e);
int run_traced(struct run *r, const struct run_message *m, struct error *e);

/* The compiler has a file of its own. */
const char *run_trace_name(const struct run *r, enum run_making making);
void run_trace_remove(const struct run *r); /* the file */
void run_trace_record(const struct run *r, struct event_outcome *o);

/* run_start.c: let the program go, if all conditions are met. */
void run_release(struct run *r);
/* run_watch.c: nothing of it is alive or awaited; what is left is its record. */
void run_bury(struct run *r);

#endif
