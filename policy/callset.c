/*
 * policy/callset.c - sets of calls by name.  Linked by bailiff-policy and the
 * supervisor; pure.
 *
 * The number of a name is where the tables of syscalls.h have it first.
 */
#include "policy/callset.h"

#include <stdlib.h>
#include <string.h>

#include "policy/syscalls.h"

#define BITS_A_WORD 64

/* clang-format off */
/* executor/seccomp.c and program.c: the proof of the filter, report, stop, and
 * end where one of them fails; a signal's way back, and a call that goes on
 * behind it.  The exec is a row of its own, WHEN_ONCE. */
static const char *const kept[] = {
	"close", "exit", "exit_group", "prctl", "read", "restart_syscall",
	"rt_sigreturn", "sendmsg", "write",
};
/* clang-format on */

/* The name at that place of the tables, or NULL behind the last; "" where it
 * is one that is never allowed. */
static const char *name_at(size_t at)
{
	for (size_t i = 0; i < syscall_n_groups; i++) {
		const struct syscall_group *g = &syscall_groups[i];
		size_t n = 0;

		while (g->calls[n] != NULL && n < at)
			n++;
		if (g->calls[n] != NULL)
			return g->when != WHEN_NEVER ? g->calls[n] : "";
		at -= n;
	}
	return at < syscall_n_rows ? syscall_rows[at].call : NULL;
}

size_t callset_find(const char *name)
{
	const char *known;

	for (size_t at = 0; (known = name_at(at)) != NULL; at++)
		if (strcmp(known, name) == 0 && name[0] != '\0')
			return at < CALLSET_MAX ? at : CALLSET_MAX;
	return CALLSET_MAX;
}

void callset_add(struct callset *c, size_t call)
{
	c->given = true;
	if (call < CALLSET_MAX)
		c->bits[call / BITS_A_WORD] |= UINT64_C(1)
		                               << call % BITS_A_WORD;
}

void callset_fill(struct callset *ret)
{
	const char *name;

	*ret = (struct callset){ .given = true };
	for (size_t at = 0; (name = name_at(at)) != NULL; at++)
		if (name[0] != '\0')
			callset_add(ret, callset_find(name));
}

static bool has(const struct callset *c, size_t call)
{
	return call < CALLSET_MAX &&
	       (c->bits[call / BITS_A_WORD] >> call % BITS_A_WORD & 1) != 0;
}

bool callset_is_kept(const char *name)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (strcmp(kept[i], name) == 0)
			return true;
	return false;
}

bool callset_allow(const struct callset *c, const char *name)
{
	return !c->given || callset_is_kept(name) || has(c, callset_find(name));
}

bool callset_equal(const struct callset *a, const struct callset *b)
{
	return a->given == b->given &&
	       memcmp(a->bits, b->bits, sizeof(a->bits)) == 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t callset_names(const struct callset *c, const char **ret)
{
	size_t n = 0;

	for (size_t at = 0; at < CALLSET_MAX; at++)
		if (has(c, at))
			ret[n++] = name_at(at);
	qsort(ret, n, sizeof(ret[0]), compare);
	return n;
}
