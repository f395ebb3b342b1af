/*
 * executor/loop.h - the supervisor's one loop: epoll, one thread.
 *
 * A watch lives inside its owner.  An owner that goes away removes its watches
 * at once and is freed only between turns, since the kernel may have handed
 * out its pointer already.
 */
#ifndef EXECUTOR_LOOP_H
#define EXECUTOR_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#include "base/error.h"

struct watch {
	int fd;          /* borrowed; -1 when not watched */
	uint32_t events; /* EPOLL* */
	void (*ready)(void *owner, uint32_t events);
	void *owner; /* borrowed */
};

struct loop {
	int epoll_fd; /* owned */
};

int loop_open(struct loop *l, struct error *e) MUST_CHECK;

/* Watch 'fd' for 'events'; w->ready and w->owner are set already. */
int loop_add(struct loop *l, struct watch *w, int fd, uint32_t events,
    struct error *e) MUST_CHECK;

/* Change what is waited for; no call when it is so already. */
void loop_change(struct loop *l, struct watch *w, uint32_t events);

/* Stop watching; the descriptor stays open.  Nothing if it is not watched. */
void loop_remove(struct loop *l, struct watch *w);

/* Wait at most 'timeout_ms' (-1: for ever), then serve what is ready. */
int loop_turn(struct loop *l, int timeout_ms, struct error *e) MUST_CHECK;

/* CLOCK_MONOTONIC, microseconds. */
uint64_t loop_now_us(void);

#endif
