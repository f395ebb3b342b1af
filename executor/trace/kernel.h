/*
 * executor/trace/kernel.h - the programs in the kernel, from this side: load,
 * attach, the slots of runs, what is in their rings.  Linked by bailiff-tracer.
 *
 * Loading takes CAP_BPF and CAP_PERFMON (Linux 5.8); everything after that
 * works on open descriptors without any capability (tried on 6.1 and 6.18),
 * attaching anew on 6.18 alone: kernel_probe.
 */
#ifndef EXECUTOR_TRACE_KERNEL_H
#define EXECUTOR_TRACE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/trace/record.h"

#define KERNEL_PROGRAMS 6

struct ring_buffer;
struct trace_bpf;

struct kernel_size {
	uint32_t slots;      /* 1 to TRACE_SLOTS_MAX */
	uint32_t ring_bytes; /* of each slot; a power of two, 4096 or more */
};

struct kernel {
	struct kernel_size size;
	struct trace_bpf *object;    /* owned, for life */
	struct trace_books *books;   /* mapped; one for each slot */
	struct trace_counts *counts; /* mapped; one for each slot */
	struct ring_buffer *rings[TRACE_SLOTS_MAX][2];
	int ring_fd[TRACE_SLOTS_MAX][2]; /* owned */
	int program_fd[KERNEL_PROGRAMS]; /* of the object */
	int link_fd[KERNEL_PROGRAMS];    /* owned; -1 */
	bool is_attached;
	bool can_detach; /* since attaching anew would work */
};

/* Called for each event; a negative answer ends this round of draining. */
typedef int (*kernel_event)(void *context, void *data, size_t len);

/*
 * By a light skeleton: a program of bpftool's that loads the others relocates
 * them to this kernel's BTF in the kernel itself (Linux 5.17).  libbpf would
 * first read and index all of /sys/kernel/btf/vmlinux, half of the time and
 * twenty times the memory.
 */
int kernel_load(const struct kernel_size *size, struct kernel *k,
    struct error *e) MUST_CHECK;
/* 'contexts' has one for each slot. */
int kernel_listen(struct kernel *k, kernel_event hear, void *const *contexts,
    struct error *e) MUST_CHECK;
/* SHA-256 of the object in hex, for the head of a file. */
const char *kernel_object(void);

int kernel_attach(struct kernel *k, struct error *e) MUST_CHECK;
/* Nothing if it could not be attached again: Linux 6.1 wants CAP_PERFMON. */
void kernel_detach(struct kernel *k);
/* As we are now, without privileges: can we attach? */
void kernel_probe(struct kernel *k);

/* Empty the slot and have it see the tasks of a control group. */
int kernel_watch(struct kernel *k, const struct trace_run *run, uint64_t group,
    struct error *e) MUST_CHECK;
/* The same for one task, stopped in a call, and its children. */
int kernel_watch_task(struct kernel *k, const struct trace_run *run, int pid_fd,
    struct error *e) MUST_CHECK;
void kernel_forget(struct kernel *k, uint64_t group);

/* Everything that is there now, unless 'hear' ends it. */
void kernel_drain(const struct kernel *k, uint32_t slot);

struct kernel_error {
	struct trace_error what;
	uint64_t n;
};
struct kernel_errors {
	size_t n;
	struct kernel_error items[TRACE_ERRORS_MAX];
};
/* Take the errors of a slot out of the kernel, sorted. */
int kernel_take_errors(const struct kernel *k, uint32_t slot,
    struct kernel_errors *ret, struct error *e) MUST_CHECK;

/* How often a program of ours was not run since it was running already. */
int kernel_misses(
    const struct kernel *k, uint64_t *ret, struct error *e) MUST_CHECK;

#endif
