/*
 * policy/degraded.h - the protections that a service without root lacks, by
 * the words that records, results and policies use for them.
 */
#ifndef POLICY_DEGRADED_H
#define POLICY_DEGRADED_H

#include <stdbool.h>
#include <stddef.h>

struct degraded {
	const char *word;
	const char *what; /* is missing, and what stands in for it */
	/* Only for an account that has supplementary groups. */
	bool by_groups;
};

#define DEGRADED_N 6
extern const struct degraded degraded_without_root[DEGRADED_N];

#endif
