/*
 * executor/account.h - the account that a service belongs to, and what follows
 * from it.  Root's service gives each of its programs and each run ids of
 * their own; that of an ordinary account has the one id of its caller.
 *
 * Everything here asks the effective uid, so it is for the time before
 * privileges are given up.
 */
#ifndef EXECUTOR_ACCOUNT_H
#define EXECUTOR_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "policy/degraded.h"

/* Whom a supervisor belongs to, kept from its start. */
struct account {
	uint32_t uid;
	bool rootless;     /* one uid for everything */
	bool lone;         /* no control group holds a run: only without root */
	size_t n_degraded; /* and the words for what that lacks */
	const char *degraded[DEGRADED_N];
};

static inline bool account_is_root(void)
{
	return geteuid() == 0;
}

/* Who owns what 'role' (uids.h) works on. */
static inline uint32_t account_uid(uint32_t role)
{
	return account_is_root() ? role : geteuid();
}

static inline uint32_t account_gid(uint32_t role)
{
	return account_is_root() ? role : getegid();
}

/* For struct spawn: the id to take, or 0 to stay as we are. */
static inline uint32_t account_spawn(uint32_t role)
{
	return account_is_root() ? role : 0;
}

#endif
