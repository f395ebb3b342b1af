/*
 * executor/run_posture.h - the posture of one run, between run_start.c and the
 * check itself.  Private to the supervisor.
 */
#ifndef EXECUTOR_RUN_POSTURE_H
#define EXECUTOR_RUN_POSTURE_H

#include "executor/run.h"

/*
 * Fill r->posture; ERROR_STATE naming the first difference to what the policy
 * and the request's directories come to.  'pid_fd' is the stopped program's.
 */
int run_posture(struct run *r, const struct launch_stopped *stopped, int pid_fd,
    struct error *e) MUST_CHECK;

/* run_directories.c: those that the launcher cannot judge by itself; before it
 * gets the run. */
int run_check_directories(const struct run *r, struct error *e) MUST_CHECK;

#endif
