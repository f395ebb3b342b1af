/*
 * executor/run_lone.h - a run without control groups, by /proc and pidfds.
 */
#ifndef EXECUTOR_RUN_LONE_H
#define EXECUTOR_RUN_LONE_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/run.h"

/* Open what tells the cpu time of a process; the descriptor is the caller's. */
int run_watch_cpu(
    struct run *r, int pid_fd, int *ret_fd, struct error *e) MUST_CHECK;

/* Kill pid 1, and with it all of the run. */
void run_lone_kill(struct run *r);
bool run_lone_is_dead(const struct run *r);

/* Microseconds of the program and of what it and pid 1 have waited for. */
uint64_t run_lone_cpu_us(const struct run *r);

/* run_counters.c: look again at all that is counted, in either way. */
void run_read_counters(struct run *r);

#endif
