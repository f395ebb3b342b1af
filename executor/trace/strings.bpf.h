/*
 * executor/trace/strings.bpf.h - what the program passed, and what the kernel
 * made of it.  Part of trace.bpf.c.
 */
#ifndef EXECUTOR_TRACE_STRINGS_BPF_H
#define EXECUTOR_TRACE_STRINGS_BPF_H

#ifdef __bpf__

#include "executor/trace/tell.bpf.h"

#define ADDRESS_MAX 128

static __always_inline void read_given(struct trace_task *t, u32 what)
{
	u32 path = what & TRACE_DO_PATH;
	u64 address = t->args[1];
	u64 size = t->args[2];
	long n;

	if (path != 0) {
		address = path == 1   ? t->args[0]
		          : path == 2 ? t->args[1]
		          : path == 3 ? t->args[2]
		                      : t->args[3];
		n = bpf_probe_read_user_str(
		    t->given, sizeof(t->given), (void *)address);
		t->given_len = n > 0 ? n : 0;
		return;
	}
	if ((what & TRACE_DO_ADDRESS) == 0)
		return;
	if ((what & TRACE_DO_TO) != 0) {
		address = t->args[4];
		size = t->args[5];
	}
	if (size > ADDRESS_MAX)
		size = ADDRESS_MAX;
	if (size > 0 &&
	    bpf_probe_read_user(t->given, size & 255, (void *)address) == 0)
		t->given_len = size;
}

/* What the program passed; a page that was not there yet is tried again. */
static __always_inline void put_given(struct event *e, struct trace_task *t)
{
	u32 path = t->todo & TRACE_DO_PATH;
	long n = t->given_len;

	if (n == 0 && path != 0) {
		u64 address = path == 1   ? t->args[0]
		              : path == 2 ? t->args[1]
		              : path == 3 ? t->args[2]
		                          : t->args[3];

		n = bpf_probe_read_user_str(
		    e->data, TRACE_GIVEN_MAX, (void *)address);
		e->head.flags |= n > 0 ? TRACE_LATE_STRING : TRACE_NO_STRING;
		if (n < 0)
			n = 0;
	} else if (n > 0) {
		bpf_probe_read_kernel(e->data, TRACE_GIVEN_MAX, t->given);
	}
	if (path != 0 && n == TRACE_GIVEN_MAX)
		e->head.flags |= TRACE_CUT_GIVEN;
	if ((t->todo & TRACE_DO_ADDRESS) != 0)
		e->head.flags |= TRACE_IS_ADDRESS;
	e->head.given_len = n;
}

#endif

#endif
