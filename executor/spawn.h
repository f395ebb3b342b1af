/*
 * executor/spawn.h - start a resident program of ours at service start.  Runs
 * are started by the launcher alone, and so are per-run helpers as root; without
 * root they come from here.
 */
#ifndef EXECUTOR_SPAWN_H
#define EXECUTOR_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SPAWN_FDS_MAX 16
#define SPAWN_FIRST   3

struct spawn {
	const char *path;        /* absolute; borrowed */
	const char *const *argv; /* NULL-ended; borrowed */
	uint32_t uid; /* uid and gid to take before exec; 0: stay as we are */
	/* With a session of its own and /dev/null as 0, 1 and 2, so that it
	 * holds no pipe or terminal of whoever asked for it. */
	bool alone;
	size_t n_fds;
	int fds
	    [SPAWN_FDS_MAX]; /* what becomes 3, 4, ...; -1: that one closed */
};

/*
 * Fork and execve with an empty environment, default signals, and no other
 * descriptor above 2.  A program that cannot be executed ends with 127; its
 * starter sees its channel close.  *ret_pid_fd, if asked for, is a pidfd that
 * the caller owns.
 */
int spawn(
    const struct spawn *what, int *ret_pid_fd, struct error *e) MUST_CHECK;

/* Every signal as a process is born with it, none blocked. */
bool spawn_reset_signals(void) MUST_CHECK;

#endif
