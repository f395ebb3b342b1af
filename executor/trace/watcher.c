/*
 * executor/trace/watcher.c - what bailiff-tracer does all day: answer its
 * supervisor, empty the rings.  Linked by it alone.
 *
 * The programs in the kernel wake nobody for an event, which would cost more
 * than the event; a ring that fills up does.  Otherwise the rings are looked at
 * a few dozen times a second, and when a run is over.
 */
#include "executor/trace/watcher.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define LOOK_MS     25
#define DETACH_US   UINT64_C(10000000)
#define TURN_EVENTS 16
#define ON_CHANNEL  UINT32_MAX

union asked {
	struct tracer_watch watch;
	struct tracer_finish finish;
};

static int hear(void *context, void *data, size_t len)
{
	struct watched *d = context;

	if (d->run != 0)
		spool_event(&d->spool, &d->w->calls, data, len);
	/* The ring has let go of it already: nothing is lost by stopping. */
	return --d->budget == 0 ? -EAGAIN : 0;
}

static int watch_fd(
    const struct watcher *w, int fd, uint32_t events, uint32_t which)
{
	struct epoll_event what = { .events = events, .data.u32 = which };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &what);
}

int watcher_open(struct watcher *w, struct error *e)
{
	void *contexts[TRACE_SLOTS_MAX];
	struct utsname host;

	calls_read(&w->calls);
	calls_todo(w->todo);
	if (uname(&host) < 0)
		return FAIL_SYS(e, "ask for the kernel's name");
	(void)snprintf(w->release, sizeof(w->release), "%.64s", host.release);
	(void)snprintf(w->machine, sizeof(w->machine), "%.64s", host.machine);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0 ||
	    watch_fd(w, w->channel.fd, EPOLLIN, ON_CHANNEL) < 0)
		return FAIL_SYS(e, "watch the channel");
	for (uint32_t i = 0; i < w->kernel.size.slots; i++) {
		w->watched[i].w = w;
		w->watched[i].slot = i;
		w->watched[i].spool.fd = -1;
		contexts[i] = &w->watched[i];
		/* Edges are wake-ups; that a ring holds something is no news. */
		if (watch_fd(w, w->kernel.ring_fd[i][0], EPOLLIN | EPOLLET, i) <
		        0 ||
		    watch_fd(w, w->kernel.ring_fd[i][1], EPOLLIN | EPOLLET, i) <
		        0)
			return FAIL_SYS(e, "watch a ring");
	}
	return kernel_listen(&w->kernel, hear, contexts, e);
}

static uint64_t now_us(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int answer(
    struct watcher *w, uint16_t verb, const void *message, struct error *e)
{
	const struct channel_send what = { &tracer_reply_protocol, verb,
		message, NULL };

	return channel_send(&w->channel, &what, e);
}

static int refuse(
    struct watcher *w, uint64_t run, const struct error *why, struct error *e)
{
	struct tracer_failed failed = { .run = run,
		.saved_errno = (uint32_t)why->saved_errno };

	(void)snprintf(failed.text, sizeof(failed.text), "%.*s",
	    (int)sizeof(failed.text) - 1, why->text);
	return answer(w, TRACER_FAILED, &failed, e);
}

static int on_watch(struct watcher *w, const struct tracer_watch *ask,
    struct fd_list *fds, struct error *e)
{
	const struct tracer_watching watching = { ask->run };
	struct error why;

	if (fds->n != 1)
		return FAIL(e, ERROR_MALFORMED, "WATCH without a file");
	fds->n = 0;
	if (watcher_begin(w, ask, fds->fd[0], &why) < 0)
		return refuse(w, ask->run, &why, e);
	return answer(w, TRACER_WATCHING, &watching, e);
}

static int on_finish(
    struct watcher *w, const struct tracer_finish *ask, struct error *e)
{
	struct watched *d = ask->run != 0 ? watcher_find(w, ask->run) : NULL;
	struct tracer_finished finished;
	struct error why;

	if (d == NULL)
		return FAIL(e, ERROR_STATE, "FINISH of a run that is none");
	if (watcher_end(d, ask->undead != 0, &finished, &why) < 0)
		return refuse(w, ask->run, &why, e);
	return answer(w, TRACER_FINISHED, &finished, e);
}

static int on_channel(struct watcher *w, struct error *e)
{
	union asked in;
	const struct channel_receive what = { &tracer_protocol, 1,
		{ &in, sizeof(in) } };
	struct fd_list fds = { .n = 0 };
	uint16_t verb;
	int failed;

	if (channel_receive(&w->channel, &what, &verb, &fds, e) < 0)
		return -1;
	failed = verb == TRACER_WATCH ? on_watch(w, &in.watch, &fds, e)
	                              : on_finish(w, &in.finish, e);
	fd_list_close(&fds);
	return failed;
}

/* Whoever has no run does not pay for us. */
static int tend(struct watcher *w)
{
	if (w->n_watched > 0)
		return LOOK_MS;
	if (!w->kernel.is_attached || !w->kernel.can_detach)
		return -1;
	if (w->idle_since_us == 0)
		w->idle_since_us = now_us();
	if (now_us() - w->idle_since_us >= DETACH_US) {
		kernel_detach(&w->kernel);
		return -1;
	}
	return (int)(DETACH_US / 1000) + 1;
}

static void look(struct watcher *w)
{
	for (uint32_t i = 0; i < w->kernel.size.slots; i++) {
		if (w->watched[i].run == 0)
			continue;
		watcher_drain(&w->watched[i], false);
		spool_flush(&w->watched[i].spool);
	}
}

int watcher_serve(struct watcher *w, struct error *e)
{
	struct epoll_event events[TURN_EVENTS];

	for (;;) {
		int n = epoll_wait(w->epoll_fd, events, TURN_EVENTS, tend(w));
		bool asked = false;

		if (n < 0 && errno != EINTR)
			return FAIL_SYS(e, "wait");
		for (int i = 0; i < n; i++)
			asked |= events[i].data.u32 == ON_CHANNEL;
		if (asked && on_channel(w, e) < 0)
			return e->kind == ERROR_CLOSED ? 0 : -1;
		/* FINISH has read what it needed; the rest can wait. */
		if (!asked)
			look(w);
	}
}
