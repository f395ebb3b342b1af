/*
 * executor/trace/tell.bpf.h - counting, and events into their rings.  Part of
 * trace.bpf.c.
 */
#ifndef EXECUTOR_TRACE_TELL_BPF_H
#define EXECUTOR_TRACE_TELL_BPF_H

#ifdef __bpf__

#include "executor/trace/state.bpf.h"

static __always_inline u32 plane_of(const struct trace_task *t)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	if (THREAD_FOREIGN(task))
		return TRACE_FOREIGN;
	return t->plane;
}

static __always_inline u32 bucket(s32 nr)
{
	return (u32)nr < TRACE_CALLS - 1 ? (u32)nr : TRACE_CALLS - 1;
}

static __always_inline struct trace_count *count_of(u32 slot, u32 plane, s32 nr)
{
	u32 at = (slot * TRACE_PLANES + plane) * TRACE_CALLS + bucket(nr);

	return bpf_map_lookup_elem(&counts, &at);
}

/* Into its ring, or into the count of what was lost. */
static __always_inline void tell(
    struct trace_books *b, u32 slot, struct trace_record *r, u32 data_len)
{
	u64 ids = bpf_get_current_pid_tgid();
	u32 type = r->type;
	u32 at = 2 * slot + (type == TRACE_CALL);
	u64 flags = BPF_RB_NO_WAKEUP;
	long failed = -1;
	void *ring;

	if (type >= TRACE_TYPES || data_len > TRACE_DATA_MAX)
		return;
	if (b->seq >= TRACE_EVENTS_MAX && type == TRACE_CALL) {
		ADD(b->capped, 1);
		return;
	}
	r->pid = ids >> 32;
	r->tid = (u32)ids;
	r->at_ns = bpf_ktime_get_boot_ns();
	r->seq = ADD(b->seq, 1);
	r->len = sizeof(*r) + ((data_len + 7) & ~7u);
	ring = bpf_map_lookup_elem(&rings, &at);
	if (ring != NULL) {
		if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > wake_bytes)
			flags = BPF_RB_FORCE_WAKEUP;
		failed = bpf_ringbuf_output(
		    ring, r, sizeof(*r) + ((data_len + 7) & ~7u & 8191), flags);
	}
	if (failed)
		ADD(b->lost[type], 1);
	else
		ADD(b->emitted[type], 1);
}

static __always_inline void count_error(
    struct trace_books *b, u32 slot, u32 plane, s32 nr, u32 number)
{
	struct trace_error key = { (u16)slot, (u16)plane, (u16)bucket(nr),
		(u16)number };
	u64 *n = bpf_map_lookup_elem(&errors, &key);
	u64 one = 1;

	if (n != NULL) {
		ADD(*n, 1);
		return;
	}
	/* Each run has its share of the map, and no more. */
	if (ADD(b->errors, 1) < TRACE_ERRORS_MAX &&
	    bpf_map_update_elem(&errors, &key, &one, BPF_NOEXIST) == 0)
		return;
	/* Another task of the run may have been first. */
	n = bpf_map_lookup_elem(&errors, &key);
	if (n != NULL)
		ADD(*n, 1);
	else
		ADD(b->unkept, 1);
}

static __always_inline struct event *new_event(u32 type, s32 nr, s64 ret)
{
	u32 zero = 0;
	struct event *e = bpf_map_lookup_elem(&scratch, &zero);

	if (e == NULL)
		return NULL;
	__builtin_memset(&e->head, 0, sizeof(e->head));
	e->head.type = type;
	e->head.nr = nr;
	e->head.ret = ret;
	return e;
}

#endif

#endif
