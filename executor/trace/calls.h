/*
 * executor/trace/calls.h - system calls of this architecture: what is told of
 * each, by number, and what it is called.  Linked by bailiff-tracer.
 */
#ifndef EXECUTOR_TRACE_CALLS_H
#define EXECUTOR_TRACE_CALLS_H

#include <stdint.h>

#include "executor/trace/record.h"

/* TRACE_DO_*: what trace.bpf.c does about each number. */
void calls_todo(uint32_t ret[TRACE_CALLS]);

/*
 * Names, by libseccomp, copied once: a process in a jail can still use them.
 * An unknown number has "".
 */
#define CALL_NAME_MAX 32
struct calls {
	char names[TRACE_CALLS][CALL_NAME_MAX];
};
void calls_read(struct calls *ret);

/* "" if there is none: the number then stands for itself. */
const char *calls_name(const struct calls *c, int64_t nr);

#endif
