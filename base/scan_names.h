/*
 * base/scan_names.h - members of an object by name.  Private to base/scan*.c.
 *
 * The members of an object are a digital search tree below the first: from
 * each, one bit of the hash says where to go on.  So a key among thousands
 * costs a dozen looks; only keys of the same 32 bits form a line.
 */
#ifndef BASE_SCAN_NAMES_H
#define BASE_SCAN_NAMES_H

#include "base/scan.h"

/* A decoded name, and its hash. */
struct scan_name {
	const char *text; /* borrowed */
	size_t len;
	uint32_t hash;
};

struct scan_name scan_name_of(const char *text, size_t len);

/* The member where a search ended, and which way it would have gone on. */
struct scan_slot {
	uint32_t last; /* SCAN_NONE: the object is empty */
	uint32_t bit;
};

/* The member, or SCAN_NONE; *ret is where whoever adds the name hangs it. */
uint32_t scan_find(const struct scan *s, uint32_t object,
    const struct scan_name *name, struct scan_slot *ret);

#endif
