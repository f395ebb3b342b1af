/*
 * executor/supervisor_sync.h - results reach the disk within a second, and
 * nobody waits for it.  Private to the supervisor; the other end is syncer.h.
 */
#ifndef EXECUTOR_SUPERVISOR_SYNC_H
#define EXECUTOR_SUPERVISOR_SYNC_H

#include <stdint.h>

#include "base/error.h"
#include "executor/loop.h"

struct supervisor;

/* bailiff-syncer, and how far it is; numbers count published results. */
struct syncing {
	int fd; /* owned; -1 before it starts and once it failed */
	struct watch watch;
	uint64_t published, asked, synced;
	uint64_t asked_us;
	uint64_t hold_us; /* since when our end waits for it; 0: it does not */
};

/* As root, before any peer exists: start the program. */
int supervisor_sync_start(struct supervisor *s, struct error *e) MUST_CHECK;
/* Watch it in the loop. */
int supervisor_sync_watch(struct supervisor *s, struct error *e) MUST_CHECK;

/* A result folder has been moved into place. */
void supervisor_sync_published(struct supervisor *s);

/* Between turns; returns when to call again, UINT64_MAX for never. */
uint64_t supervisor_sync_tend(struct supervisor *s, uint64_t now_us);

/* 'end_us' of the service, put off while results are not on disk. */
uint64_t supervisor_sync_hold(
    struct supervisor *s, uint64_t end_us, uint64_t now_us);

#endif
