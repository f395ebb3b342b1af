/*
 * policy/degraded.h - the protections that a service without root lacks, by
 * the words that records, results and policies use for them.
 */
#ifndef POLICY_DEGRADED_H
#define POLICY_DEGRADED_H

#include <stddef.h>

enum degraded_when {
	DEGRADED_ALWAYS,
	DEGRADED_WITH_GROUPS, /* only for an account with supplementary groups */
	/* Unless memory and pids controllers are delegated to the account. */
	DEGRADED_LONE,
};

struct degraded {
	const char *word;
	const char *what; /* is missing, and what stands in for it */
	enum degraded_when when;
};

#define DEGRADED_N 6
extern const struct degraded degraded_without_root[DEGRADED_N];

#endif
