/*
 * executor/trace/kernel.c - libbpf's part of bailiff-tracer.  Linked by it
 * alone.
 */
#include "executor/trace/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/trace/calls.h"
#include "executor/trace/trace.digest.h"
#include "executor/trace/trace.skel.h"

/* Rare events have a small ring of their own: a flood cannot push them out. */
#define RARE_PART  4
#define RARE_MIN   4096
#define WAKE_PART  4
#define PAGE_BYTES 4096

const char *kernel_object(void)
{
	return TRACE_OBJECT_SHA256;
}

/* The depth of our own pid namespace: "NSpid" has a number for each level. */
static int host_level(uint32_t *ret, struct error *e)
{
	char text[4096];
	FILE *f = fopen("/proc/self/status", "re");
	uint32_t n = 0;

	if (f == NULL)
		return FAIL_SYS(e, "read /proc/self/status");
	while (fgets(text, sizeof(text), f) != NULL) {
		if (strncmp(text, "NSpid:", 6) != 0)
			continue;
		for (const char *at = text; *at != '\0'; at++)
			n += *at == '\t';
	}
	(void)fclose(f);
	if (n == 0)
		return FAIL(e, ERROR_UNAVAILABLE, "/proc says no NSpid");
	*ret = n - 1;
	return 0;
}

static int set_sizes(struct kernel *k, struct error *e)
{
	const struct kernel_size *s = &k->size;

	if (s->slots == 0 || s->slots > TRACE_SLOTS_MAX ||
	    s->ring_bytes < PAGE_BYTES ||
	    (s->ring_bytes & (s->ring_bytes - 1)) != 0)
		return FAIL(e, ERROR_USAGE,
		    "%u slots of %u bytes: at most %d, of a power of two",
		    s->slots, s->ring_bytes, TRACE_SLOTS_MAX);
	k->object->rodata->wake_bytes = s->ring_bytes / WAKE_PART;
	if (host_level(&k->object->rodata->host_level, e) < 0)
		return -1;
	k->object->maps.counts.max_entries =
	    s->slots * TRACE_PLANES * TRACE_CALLS;
	k->object->maps.books.max_entries = s->slots;
	k->object->maps.errors.max_entries = s->slots * TRACE_ERRORS_MAX;
	return 0;
}

static int fill_todo(const struct kernel *k, struct error *e)
{
	uint32_t todo[TRACE_CALLS];
	uint32_t numbers[TRACE_CALLS];
	uint32_t n = TRACE_CALLS;

	calls_todo(todo);
	for (uint32_t nr = 0; nr < TRACE_CALLS; nr++)
		numbers[nr] = nr;
	if (bpf_map_update_batch(
	        k->object->maps.todo.map_fd, numbers, todo, &n, NULL) != 0)
		return FAIL_SYS(e, "tell the tracer which calls matter");
	return 0;
}

static int map_memory(int fd, size_t len, void **ret, struct error *e)
{
	len = (len + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	/* Whole, so that no run is the first to touch a page of its slot. */
	*ret = mmap(NULL, len, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_POPULATE, fd, 0);
	if (*ret == MAP_FAILED)
		return FAIL_SYS(e, "map the counters of the tracer");
	return 0;
}

static int map_counters(struct kernel *k, struct error *e)
{
	void *counts;
	void *books;

	if (map_memory(k->object->maps.counts.map_fd,
	        k->size.slots * sizeof(*k->counts), &counts, e) < 0 ||
	    map_memory(k->object->maps.books.map_fd,
	        k->size.slots * sizeof(*k->books), &books, e) < 0)
		return -1;
	k->counts = counts;
	k->books = books;
	return 0;
}

/*
 * All rings in one call: the kernel waits for a grace period of RCU after each
 * change of a map of maps (8 to 16 ms), and once for a whole batch.
 */
static int make_rings(struct kernel *k, struct error *e)
{
	uint32_t rare = k->size.ring_bytes / RARE_PART;
	uint32_t places[TRACE_SLOTS_MAX * 2];
	uint32_t n = k->size.slots * 2;
	int *fds = &k->ring_fd[0][0];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t bytes = i % 2 == 1        ? k->size.ring_bytes
		                 : rare > RARE_MIN ? rare
		                                   : RARE_MIN;

		places[i] = i;
		fds[i] = bpf_map_create(
		    BPF_MAP_TYPE_RINGBUF, "events", 0, 0, bytes, NULL);
		if (fds[i] < 0)
			return FAIL_SYS(e, "make a ring of %u bytes", bytes);
	}
	if (bpf_map_update_batch(
	        k->object->maps.rings.map_fd, places, fds, &n, NULL) != 0)
		return FAIL_SYS(e, "give %u rings to the tracer", n);
	return 0;
}

static void list_programs(struct kernel *k)
{
	const int fds[KERNEL_PROGRAMS] = {
		k->object->progs.on_enter.prog_fd,
		k->object->progs.on_exit.prog_fd,
		k->object->progs.on_fork.prog_fd,
		k->object->progs.on_exec.prog_fd,
		k->object->progs.on_end.prog_fd,
		k->object->progs.on_signal.prog_fd,
	};

	memcpy(k->program_fd, fds, sizeof(fds));
	for (size_t i = 0; i < KERNEL_PROGRAMS; i++)
		k->link_fd[i] = -1;
}

int kernel_load(
    const struct kernel_size *size, struct kernel *k, struct error *e)
{
	k->size = *size;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a function of the skeleton */
	k->object = trace_bpf__open();
	if (k->object == NULL)
		return FAIL_SYS(e, "open the tracer's programs");
	if (set_sizes(k, e) < 0)
		return -1;
	if (trace_bpf__load(k->object) != 0)
		return FAIL_SYS(e,
		    "load the tracer's programs; the kernel needs BTF "
		    "(CONFIG_DEBUG_INFO_BTF), tp_btf programs and bpf_loop "
		    "(5.17), and we CAP_BPF and CAP_PERFMON");
	list_programs(k);
	return fill_todo(k, e) < 0 || map_counters(k, e) < 0 ? -1
	                                                     : make_rings(k, e);
}

int kernel_listen(
    struct kernel *k, kernel_event hear, void *const *contexts, struct error *e)
{
	for (uint32_t slot = 0; slot < k->size.slots; slot++)
		for (int which = 0; which < 2; which++) {
			k->rings[slot][which] =
			    ring_buffer__new(k->ring_fd[slot][which], hear,
			        contexts[slot], NULL);
			if (k->rings[slot][which] == NULL)
				return FAIL_SYS(e, "read a ring");
		}
	return 0;
}

static void close_links(struct kernel *k)
{
	for (size_t i = 0; i < KERNEL_PROGRAMS; i++) {
		own_close(&k->link_fd[i]);
		k->link_fd[i] = -1;
	}
}

int kernel_attach(struct kernel *k, struct error *e)
{
	if (k->is_attached)
		return 0;
	for (size_t i = 0; i < KERNEL_PROGRAMS; i++) {
		k->link_fd[i] = bpf_raw_tracepoint_open(NULL, k->program_fd[i]);
		if (k->link_fd[i] < 0) {
			(void)FAIL_SYS(e, "attach the tracer");
			close_links(k);
			return -1;
		}
	}
	k->is_attached = true;
	return 0;
}

void kernel_detach(struct kernel *k)
{
	if (!k->is_attached || !k->can_detach)
		return;
	close_links(k);
	k->is_attached = false;
}

void kernel_probe(struct kernel *k)
{
	AUTO_FD link_fd =
	    bpf_raw_tracepoint_open(NULL, k->object->progs.probe.prog_fd);

	k->can_detach = link_fd >= 0;
}

/* Nothing of an earlier run is left, and nothing of it can come any more. */
static void empty(struct kernel *k, const struct trace_run *run)
{
	memset(&k->counts[run->slot], 0, sizeof(k->counts[0]));
	memset(&k->books[run->slot], 0, sizeof(k->books[0]));
	__atomic_store_n(&k->books[run->slot].generation,
	    (uint64_t)run->generation, __ATOMIC_SEQ_CST);
}

int kernel_watch(struct kernel *k, const struct trace_run *run, uint64_t group,
    struct error *e)
{
	empty(k, run);
	if (bpf_map_update_elem(
	        k->object->maps.runs.map_fd, &group, run, BPF_NOEXIST) != 0)
		return FAIL_SYS(e, "watch a control group");
	return 0;
}

int kernel_watch_task(
    struct kernel *k, const struct trace_run *run, int pid_fd, struct error *e)
{
	const struct trace_task task = { .slot = run->slot,
		.generation = run->generation,
		.plane = TRACE_PROGRAM,
		.in = TRACE_TASK_JOINED };

	empty(k, run);
	if (bpf_map_update_elem(
	        k->object->maps.tasks.map_fd, &pid_fd, &task, BPF_NOEXIST) != 0)
		return FAIL_SYS(e, "watch a process");
	return 0;
}

void kernel_forget(struct kernel *k, uint64_t group)
{
	(void)bpf_map_delete_elem(k->object->maps.runs.map_fd, &group);
}

void kernel_drain(const struct kernel *k, uint32_t slot)
{
	/* 'hear' ended it, or it is empty: nothing else can happen. */
	(void)ring_buffer__consume(k->rings[slot][0]);
	(void)ring_buffer__consume(k->rings[slot][1]);
}

static bool is_before(const struct trace_error *x, const struct trace_error *y)
{
	if (x->plane != y->plane)
		return x->plane < y->plane;
	return x->nr != y->nr ? x->nr < y->nr : x->number < y->number;
}

/* By insertion: qsort(3) may ask for the size of memory, which the jail kills
 * for. */
static void sort(struct kernel_errors *errors)
{
	for (size_t i = 1; i < errors->n; i++) {
		struct kernel_error item = errors->items[i];
		size_t at = i;

		while (at > 0 &&
		       is_before(&item.what, &errors->items[at - 1].what)) {
			errors->items[at] = errors->items[at - 1];
			at--;
		}
		errors->items[at] = item;
	}
}

int kernel_take_errors(const struct kernel *k, uint32_t slot,
    struct kernel_errors *ret, struct error *e)
{
	int fd = k->object->maps.errors.map_fd;
	struct trace_error key;
	const struct trace_error *last = NULL;

	ret->n = 0;
	while (ret->n < TRACE_ERRORS_MAX &&
	       bpf_map_get_next_key(fd, last, &key) == 0) {
		struct kernel_error *item = &ret->items[ret->n];

		last = &key;
		if (key.slot != slot)
			continue;
		item->what = key;
		if (bpf_map_lookup_elem(fd, &key, &item->n) != 0)
			return FAIL_SYS(e, "read the errors of a run");
		ret->n++;
	}
	for (size_t i = 0; i < ret->n; i++)
		(void)bpf_map_delete_elem(fd, &ret->items[i].what);
	sort(ret);
	return 0;
}

int kernel_misses(const struct kernel *k, uint64_t *ret, struct error *e)
{
	uint64_t n = 0;

	for (size_t i = 0; i < KERNEL_PROGRAMS; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (bpf_obj_get_info_by_fd(k->program_fd[i], &info, &len) != 0)
			return FAIL_SYS(e, "read the state of the tracer");
		n += info.recursion_misses;
	}
	*ret = n;
	return 0;
}
