/*
 * executor/trace/kernel.c - libbpf's part of bailiff-tracer.  Linked by it
 * alone.
 */
#include "executor/trace/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "base/sha256.h"
#include "executor/trace/calls.h"
#include "executor/trace/trace.skel.h"

/* Rare events have a small ring of their own: a flood cannot push them out. */
#define RARE_PART  4
#define RARE_MIN   4096
#define WAKE_PART  4
#define PAGE_BYTES 4096

/* libbpf talks to stderr, which nobody reads: errno and our words say it. */
static int say_nothing(
    enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

void kernel_digest(uint8_t ret[32])
{
	size_t len;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a function of the skeleton */
	const void *bytes = trace_bpf__elf_bytes(&len);

	sha256_of(bytes, len, ret);
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
	if (bpf_map__set_max_entries(k->object->maps.counts,
	        s->slots * TRACE_PLANES * TRACE_CALLS) != 0 ||
	    bpf_map__set_max_entries(k->object->maps.books, s->slots) != 0 ||
	    bpf_map__set_max_entries(
	        k->object->maps.errors, s->slots * TRACE_ERRORS_MAX) != 0)
		return FAIL_SYS(e, "size the maps of the tracer");
	return 0;
}

static int fill_todo(const struct kernel *k, struct error *e)
{
	uint32_t todo[TRACE_CALLS];

	calls_todo(todo);
	for (uint32_t nr = 0; nr < TRACE_CALLS; nr++)
		if (todo[nr] != 0 &&
		    bpf_map_update_elem(bpf_map__fd(k->object->maps.todo), &nr,
		        &todo[nr], BPF_ANY) != 0)
			return FAIL_SYS(
			    e, "tell the tracer which calls matter");
	return 0;
}

static int map_memory(const struct bpf_map *map, void **ret, struct error *e)
{
	size_t len =
	    (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	len = (len + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	*ret = mmap(
	    NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (*ret == MAP_FAILED)
		return FAIL_SYS(e, "map %s of the tracer", bpf_map__name(map));
	return 0;
}

static int make_ring(
    struct kernel *k, uint32_t slot, int which, struct error *e)
{
	uint32_t at = 2 * slot + (uint32_t)which;
	uint32_t rare = k->size.ring_bytes / RARE_PART;
	uint32_t bytes = which == 1        ? k->size.ring_bytes
	                 : rare > RARE_MIN ? rare
	                                   : RARE_MIN;
	int fd =
	    bpf_map_create(BPF_MAP_TYPE_RINGBUF, "events", 0, 0, bytes, NULL);

	k->ring_fd[slot][which] = fd;
	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(k->object->maps.rings),
	                  &at, &fd, BPF_ANY) != 0)
		return FAIL_SYS(e, "make a ring of %u bytes", bytes);
	return 0;
}

int kernel_load(
    const struct kernel_size *size, struct kernel *k, struct error *e)
{
	void *counts;
	void *books;

	(void)libbpf_set_print(say_nothing);
	k->size = *size;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): so is this */
	k->object = trace_bpf__open();
	if (k->object == NULL)
		return FAIL_SYS(e, "open the tracer's programs");
	(void)bpf_program__set_autoattach(k->object->progs.probe, false);
	if (set_sizes(k, e) < 0)
		return -1;
	if (trace_bpf__load(k->object) != 0)
		return FAIL_SYS(e,
		    "load the tracer's programs; the kernel needs BTF "
		    "(/sys/kernel/btf/vmlinux), tp_btf programs (5.15) and "
		    "root");
	if (fill_todo(k, e) < 0 ||
	    map_memory(k->object->maps.counts, &counts, e) < 0 ||
	    map_memory(k->object->maps.books, &books, e) < 0)
		return -1;
	k->counts = counts;
	k->books = books;
	for (uint32_t slot = 0; slot < size->slots; slot++)
		if (make_ring(k, slot, 0, e) < 0 ||
		    make_ring(k, slot, 1, e) < 0)
			return -1;
	return 0;
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

int kernel_attach(struct kernel *k, struct error *e)
{
	if (k->is_attached)
		return 0;
	if (trace_bpf__attach(k->object) != 0) {
		int why = errno;

		trace_bpf__detach(k->object);
		errno = why;
		return FAIL_SYS(e, "attach the tracer");
	}
	k->is_attached = true;
	return 0;
}

void kernel_detach(struct kernel *k)
{
	if (!k->is_attached || !k->can_detach)
		return;
	trace_bpf__detach(k->object);
	k->is_attached = false;
}

void kernel_probe(struct kernel *k)
{
	struct bpf_link *link = bpf_program__attach(k->object->progs.probe);

	k->can_detach = link != NULL;
	(void)bpf_link__destroy(link);
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
	if (bpf_map_update_elem(bpf_map__fd(k->object->maps.runs), &group, run,
	        BPF_NOEXIST) != 0)
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
	if (bpf_map_update_elem(bpf_map__fd(k->object->maps.tasks), &pid_fd,
	        &task, BPF_NOEXIST) != 0)
		return FAIL_SYS(e, "watch a process");
	return 0;
}

void kernel_forget(struct kernel *k, uint64_t group)
{
	(void)bpf_map_delete_elem(bpf_map__fd(k->object->maps.runs), &group);
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
	int fd = bpf_map__fd(k->object->maps.errors);
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
	struct bpf_program *p;
	uint64_t n = 0;

	bpf_object__for_each_program(p, k->object->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len) !=
		    0)
			return FAIL_SYS(e, "read the state of the tracer");
		n += info.recursion_misses;
	}
	*ret = n;
	return 0;
}
