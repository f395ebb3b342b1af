/*
 * audit/idmap.c - open addressing with linear probing.  Linked by the audit
 * reader; the ids are hostile, the hash is keyed.
 */
#include "audit/idmap.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

static uint8_t *slot(const struct idmap *m, size_t i)
{
	return m->slots + i * m->slot_bytes;
}

static size_t home(const struct idmap *m, const uint8_t *id)
{
	uint64_t hash;

	(void)crypto_shorthash((uint8_t *)&hash, id, IDMAP_ID, m->key);
	return (size_t)hash & (m->n_slots - 1);
}

/* The slot of 'id', or the free one where it belongs. */
static size_t find(const struct idmap *m, const uint8_t *id)
{
	size_t i = home(m, id);

	while (slot(m, i)[0] != 0 && memcmp(slot(m, i) + 1, id, IDMAP_ID) != 0)
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

int idmap_init(struct idmap *m, size_t value_bytes, struct error *e)
{
	memset(m, 0, sizeof(*m));
	randombytes_buf(m->key, sizeof(m->key));
	m->slot_bytes = 1 + IDMAP_ID + value_bytes;
	m->n_slots = FIRST_SLOTS;
	m->slots = calloc(m->n_slots, m->slot_bytes);
	if (m->slots == NULL)
		return FAIL_SYS(e, "allocate a table of ids");
	return 0;
}

void idmap_done(struct idmap *m)
{
	free(m->slots);
	memset(m, 0, sizeof(*m));
}

void *idmap_get(const struct idmap *m, const uint8_t id[IDMAP_ID])
{
	uint8_t *at = slot(m, find(m, id));

	return at[0] != 0 ? at + 1 + IDMAP_ID : NULL;
}

static int grow(struct idmap *m, struct error *e)
{
	struct idmap old = *m;
	uint8_t *slots = calloc(old.n_slots * 2, old.slot_bytes);

	if (slots == NULL)
		return FAIL_SYS(e, "allocate a table of ids");
	m->slots = slots;
	m->n_slots = old.n_slots * 2;
	for (size_t i = 0; i < old.n_slots; i++)
		if (slot(&old, i)[0] != 0)
			memcpy(slot(m, find(m, slot(&old, i) + 1)),
			    slot(&old, i), old.slot_bytes);
	free(old.slots);
	return 0;
}

int idmap_put(struct idmap *m, const uint8_t id[IDMAP_ID], const void *value,
    struct error *e)
{
	uint8_t *at;

	if (m->n_used >= m->n_slots / 4 * 3 && grow(m, e) < 0)
		return -1;
	at = slot(m, find(m, id));
	m->n_used += at[0] == 0;
	at[0] = 1;
	memcpy(at + 1, id, IDMAP_ID);
	if (value != NULL)
		memcpy(at + 1 + IDMAP_ID, value, m->slot_bytes - 1 - IDMAP_ID);
	return 0;
}

/* What follows in the same run of slots moves up, so no marker is needed. */
bool idmap_drop(struct idmap *m, const uint8_t id[IDMAP_ID])
{
	size_t hole = find(m, id);
	size_t mask = m->n_slots - 1;

	if (slot(m, hole)[0] == 0)
		return false;
	for (size_t i = (hole + 1) & mask; slot(m, i)[0] != 0;
	     i = (i + 1) & mask) {
		size_t from_home = (i - home(m, slot(m, i) + 1)) & mask;

		if (from_home < ((i - hole) & mask))
			continue;
		memcpy(slot(m, hole), slot(m, i), m->slot_bytes);
		hole = i;
	}
	slot(m, hole)[0] = 0;
	m->n_used--;
	return true;
}

const uint8_t *idmap_next(const struct idmap *m, size_t *at)
{
	while (*at < m->n_slots) {
		const uint8_t *s = slot(m, (*at)++);

		if (s[0] != 0)
			return s + 1;
	}
	return NULL;
}
