/*
 * executor/helper.h - how a supervisor gets an opener, a collector or a screen.
 * Private to the supervisor.
 */
#ifndef EXECUTOR_HELPER_H
#define EXECUTOR_HELPER_H

#include "base/error.h"
#include "executor/launch.h"

struct supervisor;

/*
 * Ask the launcher for one, or without root start it: its channel is 'its_end',
 * which stays the caller's.  A failure of the helper's shows as its channel
 * closing.  Without root *ret_pid_fd, if asked for, is a pidfd that the caller
 * owns; with root it is -1, for only the launcher knows the process.
 */
int helper_start(struct supervisor *s, enum launch_helper_kind kind,
    int its_end, int *ret_pid_fd, struct error *e) MUST_CHECK;

#endif
