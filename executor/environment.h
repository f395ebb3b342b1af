/*
 * executor/environment.h - what a supervisor inherits and what it gives up.
 */
#ifndef EXECUTOR_ENVIRONMENT_H
#define EXECUTOR_ENVIRONMENT_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Refuse a foreign no_new_privs, seccomp filter or low hard limit, which would
 * reach into every run: ERROR_UNAVAILABLE.  With 'allow_nested' they are
 * accepted and *ret_nested is true if there was one; the run's record says so.
 */
int environment_check(
    bool allow_nested, bool *ret_nested, struct error *e) MUST_CHECK;

/*
 * Own session, stdio on /dev/null, cwd /, umask 077, default signals, empty
 * environment, every descriptor from 'first_fd' on closed, the soft limit of
 * descriptors raised to the hard one.
 */
int environment_clean(int first_fd, struct error *e) MUST_CHECK;

/*
 * Become UID_SUPERVISOR for good: no groups, CAP_SYS_PTRACE alone (the
 * read-back of a stopped program needs it), empty bounding and ambient sets
 * apart from it, no new privileges, not dumpable.  Read back and proven.
 */
int environment_drop(struct error *e) MUST_CHECK;

/* The same for an account that had no privileges to begin with. */
int environment_drop_own(struct error *e) MUST_CHECK;

/* Children are nobody's to wait for: helpers, where we start them ourselves. */
int environment_no_zombies(struct error *e) MUST_CHECK;

#endif
