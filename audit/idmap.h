/*
 * audit/idmap.h - a hash map from 16-byte ids (runs, boots, keys) to small
 * values.  The hash is keyed at random, so a log made to collide gains nothing.
 * Only the audit reader links this.
 */
#ifndef AUDIT_IDMAP_H
#define AUDIT_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define IDMAP_ID 16

struct idmap {
	uint8_t key[16]; /* of the hash */
	uint8_t *slots;  /* owned; each: one byte used, the id, the value */
	size_t slot_bytes;
	size_t n_slots; /* a power of two */
	size_t n_used;
};

/* Values have 'value_bytes' bytes each, 0 for a mere set. */
int idmap_init(struct idmap *m, size_t value_bytes, struct error *e) MUST_CHECK;
void idmap_done(struct idmap *m); /* zeroed or initialised */

/* The value of 'id' (valid until the next put or drop), or NULL.  In a set the
 * pointer says only that the id is there. */
void *idmap_get(const struct idmap *m, const uint8_t id[IDMAP_ID]);

/* Add or replace; a value of NULL is for sets. */
int idmap_put(struct idmap *m, const uint8_t id[IDMAP_ID], const void *value,
    struct error *e) MUST_CHECK;

/* Remove 'id'; false if it was not there. */
bool idmap_drop(struct idmap *m, const uint8_t id[IDMAP_ID]);

/* Go through all, in no order: start with *at 0, ends with NULL. */
const uint8_t *idmap_next(const struct idmap *m, size_t *at);

#endif
