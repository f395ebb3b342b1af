/*
 * policy/callset.h - sets of system calls by name: what a policy's
 * "syscalls": {"only": [...]} holds.  Pure.
 *
 * A set can only take away from what the capabilities give.  Its members are
 * the calls that some row or group of syscalls.h may allow, by names, so that
 * one policy means the same on every architecture.
 */
#ifndef POLICY_CALLSET_H
#define POLICY_CALLSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLSET_MAX 512 /* names that the tables may allow, repeats counted */

/* Values of one meaning are equal: callset_equal. */
struct callset {
	bool given; /* false: all that the capabilities give */
	uint64_t bits[CALLSET_MAX / 64];
};

/* A number for the call of that name, less than CALLSET_MAX, or CALLSET_MAX when no
 * policy can allow it. */
size_t callset_find(const char *name);

/* Every call that there is, each once. */
void callset_fill(struct callset *ret);
void callset_add(struct callset *c, size_t call);
/* Whether the call may still be made: it is in the set, it is one that no set
 * takes away, or there is no set. */
bool callset_allow(const struct callset *c, const char *name);
bool callset_equal(const struct callset *a, const struct callset *b);

/*
 * No set takes these away: what our own code does between its filter and the
 * program, and how the kernel has a thread return or end.
 */
bool callset_is_kept(const char *name);

/* The members by name, sorted; how many.  'ret' has CALLSET_MAX places and points
 * into the tables. */
size_t callset_names(const struct callset *c, const char **ret);

#endif
