/*
 * executor/trace/watcher.h - the state of bailiff-tracer: one block that main
 * owns.
 */
#ifndef EXECUTOR_TRACE_WATCHER_H
#define EXECUTOR_TRACE_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/channel.h"
#include "executor/trace/calls.h"
#include "executor/trace/kernel.h"
#include "executor/trace/spool.h"
#include "executor/tracer.h"

#define WATCHER_RELEASE_MAX 65

struct watcher;

/* One run, or none. */
struct watched {
	struct watcher *w; /* borrowed */
	uint64_t run;      /* 0: free */
	uint64_t group;
	uint32_t slot, generation;
	bool is_spent;   /* something of an earlier run may live: never again */
	uint64_t misses; /* of all programs, when it began */
	uint32_t budget; /* events that may still be read in this round */
	struct spool spool;
};

struct watcher {
	struct channel channel; /* to the supervisor */
	int epoll_fd;           /* owned */
	struct kernel kernel;
	struct calls calls;
	uint32_t todo[TRACE_CALLS];
	char release[WATCHER_RELEASE_MAX], machine[WATCHER_RELEASE_MAX];
	size_t n_watched;
	uint64_t idle_since_us; /* nothing is watched since; 0: something is */
	struct kernel_errors errors;
	struct watched watched[TRACE_SLOTS_MAX];
};

/* watcher.c: names, numbers, rings; once, after kernel_load. */
int watcher_open(struct watcher *w, struct error *e) MUST_CHECK;
/* Answer until the channel closes (0) or breaks (-1). */
int watcher_serve(struct watcher *w, struct error *e) MUST_CHECK;

/* watcher_run.c: the life of one run here. */
int watcher_begin(struct watcher *w, const struct tracer_watch *ask,
    int take_file_fd, struct error *e) MUST_CHECK;
/* Read what has arrived; 'all': to the end, since nothing more can come. */
void watcher_drain(struct watched *d, bool all);
int watcher_end(struct watched *d, bool undead, struct tracer_finished *ret,
    struct error *e) MUST_CHECK;
struct watched *watcher_find(struct watcher *w, uint64_t run);
/* A free slot of its own, emptied; NULL if there is none. */
struct watched *watcher_take(struct watcher *w);
/* The books of a slot, as they are now. */
void watcher_books(struct watched *d, struct books *ret);

#endif
