/*
 * executor/collect_jail.h - the jail of bailiff-collect.  Private to it.
 */
#ifndef EXECUTOR_COLLECT_JAIL_H
#define EXECUTOR_COLLECT_JAIL_H

#include "base/error.h"

#define COLLECT_CHANNEL_FD 3 /* to the supervisor */

/* From here on: reading beneath 'scratch_fd', the channel, what is sent over
 * it, and no more.  All memory has been taken before. */
int collect_enter_jail(int scratch_fd, struct error *e) MUST_CHECK;

#endif
