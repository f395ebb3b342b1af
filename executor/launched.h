/*
 * executor/launched.h - the slots of bailiff-launch: sandboxes made ahead of a
 * request, or for one; each serves one run and is never used again.
 */
#ifndef EXECUTOR_LAUNCHED_H
#define EXECUTOR_LAUNCHED_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "executor/cgroup_leaf.h"
#include "executor/launch.h"
#include "executor/scratch.h"

struct launcher;

/* Sandboxes made ahead, one for each shape that was asked for last. */
#define LAUNCHER_PARKED_MAX 2
#define LAUNCHER_SLOTS      (LAUNCH_RUNS_MAX + LAUNCHER_PARKED_MAX)

enum launched_state {
	RUN_FREE,
	RUN_PARKED,   /* made ahead, or being made; no run has it yet */
	RUN_BUILDING, /* a run's, being made */
	RUN_GOING,    /* STARTED was sent */
	RUN_ENDING,   /* nobody's; it would not end */
};

/* One run; descriptors are owned, -1 when closed. */
struct launched {
	enum launched_state state;
	uint64_t id;
	uint64_t number; /* of the slot: 1 is the first ever made */
	pid_t pid;       /* pid 1 of the run, our child */
	uint32_t flags;  /* LAUNCH_SHAPE of what it is for */
	struct scratch_size scratch, wanted; /* as it is; by its run */
	int pid_fd;
	int sync_fd;    /* to the clone, until its maps are written */
	int ask_fd;     /* to who takes the request, until it is handed over */
	int gate_fd;    /* the supervisor's, until STARTED */
	int status_fd;  /* the supervisor's, until STARTED */
	int scratch_fd; /* the supervisor's, from the maps until STARTED */
	int uid_lock_fd;
	uint32_t init_id, program_id;
	struct cgroup_leaf leaf;
};

/* launch_slot.c: a parked slot that fits the request in hand, or a new one;
 * PARKED still. */
int launcher_slot(struct launcher *l, struct launched **ret,
    struct launch_failed *failed) MUST_CHECK;
/* Have one parked, if it can be. */
void launcher_park(struct launcher *l);
/* What a slot that is no run's yet can be read from, -1: none. */
int launched_watch_fd(const struct launched *run);
/* That can be read: write its maps or tell its failure. */
int launcher_sync(
    struct launcher *l, struct launched *run, struct error *e) MUST_CHECK;
/*
 * launch_end.c: kill what is left of a run and give back all it holds, within
 * seconds.  On failure it keeps its slot, its groups and its ids, so that
 * nobody else gets them.
 */
int launched_end(
    struct launcher *l, struct launched *run, struct error *e) MUST_CHECK;
/* End what no run has, or has any more.  If that fails it is nobody's from now
 * on, RUN_ENDING, and not heard again: its words answer no other run. */
void launched_abandon(struct launcher *l, struct launched *run);
/* Try again, without waiting, to end what is RUN_ENDING. */
void launched_retry(struct launcher *l);

#endif
