/*
 * audit/runs.h - which run ids were used lately, in fixed memory.
 *
 * A run id is used once per log; ids are 128 random bits, so this guards
 * against a supervisor gone wrong, not against chance.  Remembered are the ids
 * of at least the last RUNS_KEPT runs that this signer wrote or read.
 */
#ifndef AUDIT_RUNS_H
#define AUDIT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/event.h"

#define RUNS_KEPT  10000
#define RUNS_SLOTS 16384 /* a power of two above RUNS_KEPT */

struct runs_half {
	size_t n;
	bool used[RUNS_SLOTS];
	uint8_t ids[RUNS_SLOTS][EVENT_RUN_BYTES];
};

/* Two halves: when one is full, the older one is emptied and filled. */
struct runs {
	unsigned current;
	struct runs_half halves[2];
};

bool runs_has(const struct runs *r, const uint8_t id[EVENT_RUN_BYTES]);
void runs_add(struct runs *r, const uint8_t id[EVENT_RUN_BYTES]);

#endif
