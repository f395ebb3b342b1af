/*
 * policy/advice.h - what of a sound policy can never take effect, or not on this
 * host: warnings of `bailiff policy check`.  Pure: the caller looks at the host.
 */
#ifndef POLICY_ADVICE_H
#define POLICY_ADVICE_H

#include <stdint.h>

#include "policy/policy.h"

struct advice_host {
	uint64_t memory; /* bytes; 0: not known */
	uint32_t processors;
};

struct advice_sink {
	/* 'what' is a place of the policy, 'why' a clause. */
	void (*take)(void *context, const char *what, const char *why);
	void *context;
};

/* Tell all of it, in the order of the policy's keys. */
void advice_find(const struct policy *p, const struct advice_host *host,
    const struct advice_sink *sink);

#endif
