/*
 * audit/runs.c - the run ids used lately.  Linked by the signer.  Ids are a
 * supervisor's choice and may collide in the table: that costs time, bounded by
 * its size, and nothing else.
 */
#include "audit/runs.h"

#include <string.h>

/* Where the id is, or the free slot where it would go. */
static size_t slot_of(
    const struct runs_half *half, const uint8_t id[EVENT_RUN_BYTES])
{
	uint64_t first;
	size_t at;

	memcpy(&first, id, sizeof(first));
	at = (size_t)first % RUNS_SLOTS;
	while (
	    half->used[at] && memcmp(half->ids[at], id, EVENT_RUN_BYTES) != 0)
		at = (at + 1) % RUNS_SLOTS;
	return at;
}

bool runs_has(const struct runs *r, const uint8_t id[EVENT_RUN_BYTES])
{
	for (size_t i = 0; i < 2; i++)
		if (r->halves[i].used[slot_of(&r->halves[i], id)])
			return true;
	return false;
}

void runs_add(struct runs *r, const uint8_t id[EVENT_RUN_BYTES])
{
	struct runs_half *half = &r->halves[r->current];
	size_t at;

	if (half->n == RUNS_KEPT) {
		r->current = 1 - r->current;
		half = &r->halves[r->current];
		memset(half, 0, sizeof(*half));
	}
	at = slot_of(half, id);
	if (half->used[at])
		return;
	memcpy(half->ids[at], id, EVENT_RUN_BYTES);
	half->used[at] = true;
	half->n++;
}
