/*
 * tests/escape/fault.h - lets one system call of a launcher, of pid 1 of its
 * run or of the program's process fail, and lists all they make.
 *
 * By ptrace(2): a seccomp listener above the processes would make the one that
 * a program's own filter asks for impossible (the kernel allows one per tree),
 * and a preloaded library does not see what a static function or clone does.
 * A call that is to fail becomes getpid, which every filter of ours allows,
 * and its result the error; close happens all the same, since the kernel's
 * gives the descriptor up whatever it returns.
 *
 * One tracer per process; its thread is the tracer of all that it sees.
 */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAULT_CALLS_MAX 4096

/* 'L' the launcher from receiving RUN on, 'I' pid 1, 'P' the program's process
 * up to its exec, after which nobody is traced for this run. */
struct fault {
	char role; /* 0: record only */
	long number;
	unsigned int occurrence; /* from 1, of that role and call */
	int error;
	bool at_start; /* of the launcher from its exec to its first message */
};

struct fault_call {
	char role;
	long number;
	unsigned int occurrence;
	long result;
	uint64_t args[2];
};

struct fault_report {
	bool hit;
	size_t n;
	struct fault_call calls[FAULT_CALLS_MAX];
};

/* Whether this machine's registers are known here. */
bool fault_possible(void);

/* Trace a launcher from now on; 0 or -1.  'channel_fd' is where it hears RUN;
 * 'start', which may be NULL, is armed at once. */
int fault_trace(pid_t launch, int channel_fd, const struct fault *start);

/* Before RUN is sent. */
void fault_arm(const struct fault *fault);

/* After the run; what was seen since. */
void fault_disarm(struct fault_report *ret);

#endif
