/*
 * executor/trace/watcher_run.c - one run from WATCH to FINISHED.  Linked by
 * bailiff-tracer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/trace/watcher.h"

/* A flood of one run must not keep the others waiting. */
#define BUDGET 4096

struct watched *watcher_find(struct watcher *w, uint64_t run)
{
	for (uint32_t i = 0; i < w->kernel.size.slots; i++)
		if (w->watched[i].run == run)
			return &w->watched[i];
	return NULL;
}

struct watched *watcher_take(struct watcher *w)
{
	for (uint32_t i = 0; i < w->kernel.size.slots; i++) {
		struct watched *d = &w->watched[i];

		if (d->run != 0 || d->is_spent)
			continue;
		d->generation++;
		return d;
	}
	return NULL;
}

static uint64_t clock_ns(clockid_t which)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(which, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Both clocks, so that the lines' times can be told as times of day. */
static int put_head(struct watched *d, const char *name, struct error *e)
{
	struct text_out out = spool_room(&d->spool);

	if (text_printf(&out, e,
	        "{\"type\":\"header\",\"v\":1,\"run\":\"%s\",\"tier\":\"bpf\","
	        "\"arch\":\"%s\",\"kernel\":\"%s\",\"object\":\"%s\","
	        "\"at_ns\":%" PRIu64 ",\"time_ns\":%" PRIu64 "}\n",
	        name, d->w->machine, d->w->release, kernel_object(),
	        clock_ns(CLOCK_BOOTTIME), clock_ns(CLOCK_REALTIME)) < 0)
		return -1;
	spool_put(&d->spool, &out);
	return 0;
}

/* It goes into a line of ours as it stands. */
static int check_name(const char *name, struct error *e)
{
	if (name[strspn(name, "r_0123456789abcdef")] != '\0')
		return FAIL(e, ERROR_MALFORMED, "a run of no such name");
	return 0;
}

int watcher_begin(struct watcher *w, const struct tracer_watch *ask,
    int take_file_fd, struct error *e)
{
	struct watched *d;
	struct trace_run run;
	AUTO_FD fd = take_file_fd;

	if (ask->run == 0 || watcher_find(w, ask->run) != NULL)
		return FAIL(e, ERROR_STATE, "that run is watched");
	d = watcher_take(w);
	if (d == NULL)
		return FAIL(e, ERROR_LIMIT, "no slot is free");
	run = (struct trace_run){ d->slot, d->generation };
	if (check_name(ask->name, e) < 0 || kernel_attach(&w->kernel, e) < 0 ||
	    kernel_misses(&w->kernel, &d->misses, e) < 0)
		return -1;
	spool_open(&d->spool, take_fd(&fd), ask->packed != 0);
	if (put_head(d, ask->name, e) < 0 ||
	    kernel_watch(&w->kernel, &run, ask->group, e) < 0) {
		spool_close(&d->spool);
		return -1;
	}
	d->run = ask->run;
	d->group = ask->group;
	w->n_watched++;
	w->idle_since_us = 0;
	return 0;
}

void watcher_drain(struct watched *d, bool all)
{
	d->budget = all ? UINT32_MAX : BUDGET;
	kernel_drain(&d->w->kernel, d->slot);
}

void watcher_books(struct watched *d, struct books *ret)
{
	const struct kernel *k = &d->w->kernel;

	*ret = (struct books){
		.kernel = &k->books[d->slot],
		.counts = &k->counts[d->slot],
		.received = &d->spool.received,
		.todo = d->w->todo,
		.errors = &d->w->errors,
		.calls = &d->w->calls,
	};
}

static int close_books(
    struct watched *d, struct tracer_finished *ret, struct error *e)
{
	struct watcher *w = d->w;
	struct text_out out = spool_room(&d->spool);
	struct spool_ended ended;
	struct books b;
	uint64_t misses;

	watcher_books(d, &b);
	if (kernel_misses(&w->kernel, &misses, e) < 0 ||
	    kernel_take_errors(&w->kernel, d->slot, &w->errors, e) < 0)
		return -1;
	b.misses = misses - d->misses;
	ret->complete = books_balance(&b, ret->note);
	ret->events = d->spool.received.events;
	for (int type = 0; type < TRACE_TYPES; type++)
		ret->lost += b.kernel->lost[type];
	if (books_line(&b, ret->note, &out, e) < 0)
		return -1;
	spool_put(&d->spool, &out);
	if (spool_end(&d->spool, &ended, e) < 0)
		return -1;
	ret->bytes = ended.bytes;
	memcpy(ret->sha256, ended.sha256, sizeof(ret->sha256));
	ret->stored_bytes = ended.stored_bytes;
	memcpy(ret->stored_sha256, ended.stored_sha256,
	    sizeof(ret->stored_sha256));
	return 0;
}

int watcher_end(struct watched *d, bool undead, struct tracer_finished *ret,
    struct error *e)
{
	int failed;

	memset(ret, 0, sizeof(*ret));
	ret->run = d->run;
	kernel_forget(&d->w->kernel, d->group);
	watcher_drain(d, true);
	failed = close_books(d, ret, e);
	spool_close(&d->spool);
	d->run = 0;
	d->is_spent = undead;
	d->w->n_watched--;
	return failed;
}
