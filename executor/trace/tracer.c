/*
 * executor/trace/tracer.c - main of bailiff-tracer: every system call of a run,
 * seen in the kernel, written beside its results.
 *
 * Started by bailiff-supervisor as root with a channel as descriptor 3
 * (executor/tracer.h).  It makes its canary, becomes a uid of its own with
 * CAP_BPF and CAP_PERFMON, loads, gives these up too, enters its jail and only
 * then reads the first event.  It holds no path and starts no program; what it
 * reads are records of our own programs in the kernel, whose strings are
 * hostile.  It trusts its supervisor for what to watch, and decides nothing.
 */
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/number.h"
#include "base/own.h"
#include "executor/trace/canary.h"
#include "executor/uids.h"

static int set_capabilities(uint64_t kept, struct error *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32),
		    .permitted = (uint32_t)(kept >> 32) },
	};

	if (syscall(SYS_capset, &head, sets) < 0)
		return FAIL_SYS(e, "keep CAP_BPF and CAP_PERFMON");
	return 0;
}

static int become_tracer(struct error *e)
{
	const uint64_t kept = UINT64_C(1) << CAP_BPF | UINT64_C(1)
	                                                   << CAP_PERFMON;

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(UID_TRACER, UID_TRACER, UID_TRACER) < 0 ||
	    setresuid(UID_TRACER, UID_TRACER, UID_TRACER) < 0)
		return FAIL_SYS(e, "become the tracer's own user");
	if (set_capabilities(kept, e) < 0)
		return -1;
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "close the way back");
	return 0;
}

/* Maps, links and what its loop takes; no program and no map can be made. */
static int enter_jail(struct error *e)
{
	static const struct jail_call calls[] = {
		{ __NR_bpf, 0, BPF_MAP_LOOKUP_ELEM },
		{ __NR_bpf, 0, BPF_MAP_UPDATE_ELEM },
		{ __NR_bpf, 0, BPF_MAP_DELETE_ELEM },
		{ __NR_bpf, 0, BPF_MAP_GET_NEXT_KEY },
		{ __NR_bpf, 0, BPF_OBJ_GET_INFO_BY_FD },
		{ __NR_bpf, 0, BPF_RAW_TRACEPOINT_OPEN },
		{ __NR_bpf, 0, BPF_LINK_CREATE },
		{ __NR_recvmsg, 0, TRACER_CHANNEL_FD },
		{ __NR_sendmsg, 0, TRACER_CHANNEL_FD },
		{ __NR_epoll_wait, JAIL_ANY, 0 },
		{ __NR_epoll_pwait, JAIL_ANY, 0 },
		{ __NR_poll, JAIL_ANY, 0 },
		{ __NR_write, JAIL_ANY, 0 },
		{ __NR_pread64, JAIL_ANY, 0 },
		{ __NR_memfd_create, JAIL_ANY, 0 },
		{ __NR_waitid, JAIL_ANY, 0 },
		{ __NR_close, JAIL_ANY, 0 },
		{ __NR_brk, JAIL_ANY, 0 },
		{ __NR_mmap, 2, PROT_READ | PROT_WRITE },
		{ __NR_munmap, JAIL_ANY, 0 },
		{ __NR_clock_gettime, JAIL_ANY, 0 },
		{ __NR_restart_syscall, JAIL_ANY, 0 },
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	const struct jail jail = {
		.read_fd = -1,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
	};

	return jail_enter(&jail, e);
}

static uint64_t now_us(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int prepare(struct watcher *w, const struct kernel_size *size,
    struct tracer_ready *ret, struct error *e)
{
	struct canary canary = { -1, -1 };
	uint64_t before;

	if (canary_make(&canary, e) < 0 || become_tracer(e) < 0)
		return -1;
	before = now_us();
	if (kernel_load(size, &w->kernel, e) < 0)
		return -1;
	ret->load_us = now_us() - before;
	if (kernel_attach(&w->kernel, e) < 0 || watcher_open(w, e) < 0 ||
	    enter_jail(e) < 0)
		return -1;
	kernel_probe(&w->kernel);
	return canary_judge(&canary, w, e);
}

static int parse_size(char **argv, struct kernel_size *ret, struct error *e)
{
	const struct number_range slots = { 1, TRACE_SLOTS_MAX };
	const struct number_range bytes = { 4096, 1u << 26 };
	uint64_t value;

	if (argv[1] == NULL || argv[2] == NULL || argv[3] != NULL)
		return FAIL(
		    e, ERROR_USAGE, "usage: bailiff-tracer SLOTS BYTES");
	if (number_parse(argv[1], "SLOTS", slots, &value, e) < 0)
		return -1;
	ret->slots = (uint32_t)value;
	if (number_parse(argv[2], "BYTES", bytes, &value, e) < 0)
		return -1;
	ret->ring_bytes = (uint32_t)value;
	return 0;
}

static int say(
    struct watcher *w, uint16_t verb, const void *message, struct error *e)
{
	const struct channel_send what = { &tracer_reply_protocol, verb,
		message, NULL };

	return channel_send(&w->channel, &what, e);
}

static int serve(struct watcher *w, char **argv, struct error *e)
{
	struct tracer_ready ready = { 0 };
	struct tracer_failed failed = { .run = 0 };
	struct kernel_size size;
	struct error unheard;

	if (parse_size(argv, &size, e) == 0 &&
	    prepare(w, &size, &ready, e) == 0)
		return say(w, TRACER_READY, &ready, e) < 0
		           ? -1
		           : watcher_serve(w, e);
	failed.saved_errno = (uint32_t)e->saved_errno;
	(void)snprintf(failed.text, sizeof(failed.text), "%.*s",
	    (int)sizeof(failed.text) - 1, e->text);
	(void)!say(w, TRACER_FAILED, &failed, &unheard);
	return -1;
}

/* It has no standard streams: its end shows as a channel that closes. */
int main(int argc, char **argv)
{
	struct watcher *w;
	struct error e = { 0 };
	int failed;

	if (argc == 1 && strcmp(argv[0], CANARY_NAME) == 0)
		_exit(EXIT_SUCCESS);
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return EXIT_FAILURE;
	w->channel.fd = TRACER_CHANNEL_FD;
	failed = serve(w, argv, &e);
	_exit(failed < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
