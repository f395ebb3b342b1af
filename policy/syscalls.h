/*
 * policy/syscalls.h - which calls a program may make, as tables.
 *
 * A call that is in no table is answered ENOSYS; one that is in a table, but
 * whose rows do not match, EPERM.  See policy/filter.h.
 */
#ifndef POLICY_SYSCALLS_H
#define POLICY_SYSCALLS_H

#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* When a row is in force. */
enum syscall_when {
	WHEN_ALWAYS,
	/* Pid 1 of the run is asked, and says yes once: FILTER_PROGRAM_FD. */
	WHEN_ONCE,
	WHEN_SUBPROCESS,
	WHEN_THREADS,
	WHEN_LOOPBACK,
	WHEN_EXEC_MEMORY,
	WHEN_NO_EXEC_MEMORY,
	WHEN_IPC,
	WHEN_NEVER, /* known and dangerous: EPERM rather than ENOSYS */
	WHEN_N,
};

/* Calls allowed whatever their arguments; a list that ends with NULL. */
struct syscall_group {
	const char *name;
	enum syscall_when when;
	const char *const *calls;
};

#define SYSCALL_CONDITIONS_MAX 3

/* One call, allowed when all conditions hold; several rows are alternatives. */
struct syscall_row {
	const char *call;
	enum syscall_when when;
	uint32_t n;
	struct scmp_arg_cmp conditions[SYSCALL_CONDITIONS_MAX];
};

extern const struct syscall_group syscall_groups[];
extern const size_t syscall_n_groups;
extern const struct syscall_row syscall_rows[];
extern const size_t syscall_n_rows;
/* Of pid 1: */
extern const struct syscall_group syscall_init_group;
extern const struct syscall_row syscall_init_rows[];
extern const size_t syscall_n_init_rows;

#endif
