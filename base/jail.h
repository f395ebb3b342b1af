/*
 * base/jail.h - how a helper of ours gives up what it does not need, before it
 * reads the first hostile byte.  What cannot be given up is an error: the
 * caller then ends.  Each loss is proven before the next.
 *
 * In order: core dumps and ptrace by equals off (PR_SET_DUMPABLE), no new
 * privileges, Landlock (Linux 5.13: only reading, only beneath one directory,
 * no network, no signals to others where the kernel has these rights),
 * capabilities, then a seccomp allow-list: any other call kills the process.
 */
#ifndef BASE_JAIL_H
#define BASE_JAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define JAIL_CALLS_MAX 64
#define JAIL_ANY       (-1)

/* One row of the allow-list. */
struct jail_call {
	int number;     /* __NR_x of this architecture */
	int argument;   /* JAIL_ANY, or which one (0 to 5) must equal 'value' */
	uint32_t value; /* all 64 bits are compared */
};

/* What may be read beneath 'read_fd'. */
enum jail_read {
	JAIL_READ_FILES,
	JAIL_READ_FILES_AND_DIRECTORIES
};

struct jail {
	uint64_t capabilities; /* kept, a set of 1 << CAP_x; must be held */
	int read_fd; /* borrowed; what may be read lies beneath it; -1: nothing */
	enum jail_read read;
	size_t n_calls;
	const struct jail_call *calls;
	size_t n_more;       /* further directories like read_fd */
	const int *more_fds; /* borrowed; -1 among them: none */
};

int jail_enter(const struct jail *j, struct error *e) MUST_CHECK;

#endif
