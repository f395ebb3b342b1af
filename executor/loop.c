/*
 * executor/loop.c - epoll.  Linked by the supervisor.
 */
#include "executor/loop.h"

#include <assert.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32

int loop_open(struct loop *l, struct error *e)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return FAIL_SYS(e, "make an epoll descriptor");
	l->epoll_fd = fd;
	return 0;
}

int loop_add(
    struct loop *l, struct watch *w, int fd, uint32_t events, struct error *e)
{
	struct epoll_event event = { .events = events, .data.ptr = w };

	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return FAIL_SYS(e, "watch a descriptor");
	w->fd = fd;
	w->events = events;
	return 0;
}

void loop_change(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = w };
	int changed;

	if (w->fd < 0 || w->events == events)
		return;
	/* It can fail only for a descriptor that is not there: a bug. */
	changed = epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, w->fd, &event);
	assert(changed == 0);
	w->events = events;
}

void loop_remove(struct loop *l, struct watch *w)
{
	int removed;

	if (w->fd < 0)
		return;
	removed = epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	assert(removed == 0);
	w->fd = -1;
}

int loop_turn(struct loop *l, int timeout_ms, struct error *e)
{
	struct epoll_event events[BATCH];
	int n = epoll_wait(l->epoll_fd, events, BATCH, timeout_ms);

	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return FAIL_SYS(e, "wait for events");
	for (int i = 0; i < n; i++) {
		struct watch *w = events[i].data.ptr;

		/* An earlier event of this batch may have removed it. */
		if (w->fd >= 0)
			w->ready(w->owner, events[i].events);
	}
	return 0;
}

uint64_t loop_now_us(void)
{
	struct timespec now = { 0, 0 };
	int told = clock_gettime(CLOCK_MONOTONIC, &now);

	assert(told == 0);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
