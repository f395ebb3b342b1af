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

/*
 * 'L' the launcher, 'I' pid 1, 'P' the program's process up to its exec, after
 * which nobody is watched for this run.
 */
enum fault_when {
	FAULT_RUN,   /* from the launcher's receiving RUN to its next message */
	FAULT_START, /* from its exec on */
	/* From its answer to RELEASE to its next message: it makes a sandbox
	 * ahead.  With 'again' to the message after that one, which is RUN. */
	FAULT_PARK
};

struct fault {
	char role; /* 0: record only */
	long number;
	unsigned int occurrence; /* from 1, of that process and call */
	int error;
	enum fault_when when;
	bool again; /* whenever that call comes from then on */
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

/*
 * Wait until the launcher has nothing to do: it waits for a message, and what
 * it made ahead waits for a request.  False if it is gone or is busy after
 * 'patience_ms'.
 */
bool fault_await_rest(int patience_ms);

#endif
