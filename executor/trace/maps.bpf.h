/*
 * executor/trace/maps.bpf.h - what the programs in the kernel share with
 * bailiff-tracer and with each other.  Part of trace.bpf.c.
 */
#ifndef EXECUTOR_TRACE_MAPS_BPF_H
#define EXECUTOR_TRACE_MAPS_BPF_H

#ifdef __bpf__

#include "executor/trace/mini_vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "executor/trace/record.h"

/* Set before loading.  Tasks at this depth of pid namespaces are the host's. */
const volatile __u32 host_level = 0;
const volatile __u64 wake_bytes = 0; /* wake the reader when so much waits */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACE_SLOTS_MAX);
	__type(key, u64); /* id of a control group */
	__type(value, struct trace_run);
} runs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* slots * TRACE_PLANES * TRACE_CALLS */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct trace_count);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* slots */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct trace_books);
} books SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* slots * TRACE_ERRORS_MAX */
	__type(key, struct trace_error);
	__type(value, u64);
} errors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_CALLS);
	__type(key, u32);
	__type(value, u32); /* TRACE_DO_* */
} todo SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct trace_task);
} tasks SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* Two rings of each slot: what is rare and matters (2n), the rest (2n + 1). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2 * TRACE_SLOTS_MAX);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct event {
	struct trace_record head;
	u8 data[TRACE_DATA_MAX + 8]; /* lengths are rounded up */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct event);
} scratch SEC(".maps");

#define ADD(where, n) __sync_fetch_and_add(&(where), n)

#endif

#endif
