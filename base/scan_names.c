/*
 * base/scan_names.c - members by name.  Linked by every program that reads
 * JSON; names and texts are hostile.
 */
#include "base/scan_names.h"

#include <string.h>

#include "base/letter.h"

#define HASH_START 2166136261u /* FNV-1a */
#define HASH_PRIME 16777619u

static uint32_t hash_of(const char *text, size_t len)
{
	uint32_t hash = HASH_START;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * HASH_PRIME;
	return hash;
}

struct scan_name scan_name_of(const char *text, size_t len)
{
	return (struct scan_name){ text, len, hash_of(text, len) };
}

static bool has_name(const struct scan *s, const struct scan_node *node,
    const struct scan_name *name)
{
	/* Without its quotes. */
	struct letter_span in = { s->text + node->key_at + 1,
		node->key_len - 2 };
	char key[SCAN_KEY_MAX + 1];
	size_t len;

	return node->key_hash == name->hash &&
	       letter_decode(in, key, sizeof(key), &len) == 0 &&
	       len == name->len && memcmp(key, name->text, len) == 0;
}

uint32_t scan_find(const struct scan *s, uint32_t object,
    const struct scan_name *name, struct scan_slot *ret)
{
	uint32_t bits = name->hash;

	*ret = (struct scan_slot){ SCAN_NONE, 0 };
	for (uint32_t i = scan_first(s, object); i != SCAN_NONE;
	     i = s->nodes[i].deeper[ret->bit]) {
		if (has_name(s, &s->nodes[i], name))
			return i;
		ret->last = i;
		ret->bit = bits & 1;
		bits >>= 1;
	}
	return SCAN_NONE;
}

uint32_t scan_member(const struct scan *s, uint32_t object, const char *name)
{
	struct scan_name wanted = scan_name_of(name, strlen(name));
	struct scan_slot slot;

	if (s->nodes[object].kind != SCAN_OBJECT)
		return SCAN_NONE;
	return scan_find(s, object, &wanted, &slot);
}
