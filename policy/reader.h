/*
 * policy/reader.h - reading one strict JSON text by tables of keys, collecting
 * every fault with its place.  Private to policy/.
 */
#ifndef POLICY_READER_H
#define POLICY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/number.h"
#include "base/scan.h"
#include "policy/policy.h"

#define READER_DEPTH_MAX 16
#define READER_NODES_MAX 16384
#define READER_KEYS_MAX  32 /* of one table */

struct shape;

struct reader {
	struct scan scan;
	const char *name; /* borrowed: of the text, for faults */
	struct policy_faults *faults;
	struct scan_node nodes[READER_NODES_MAX];
};

/* What to do with the value of a key; faults go to 'r'. */
typedef void reader_take(struct reader *r, uint32_t node, void *to);

struct reader_key {
	const char *name;
	reader_take *take;
	size_t offset; /* of what 'take' fills, inside the object's struct */
	bool required;
	/* What the value may be; NULL in tables that are in no schema. */
	const struct shape *shape;
};

/* The keys that an object may have, taken in this order. */
struct reader_keys {
	const char *what; /* "a policy", for messages */
	size_t n;
	const struct reader_key *keys;
};

/* Scan 'text'; a syntax fault is recorded and -1 returned. */
int reader_open(struct reader *r, const struct policy_text *text) MUST_CHECK;

/* Record a fault at a node's value (SCAN_NONE: about no place). */
void reader_fault(struct reader *r, uint32_t node, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Unknown keys are faults that name the nearest right one. */
void reader_object(
    struct reader *r, uint32_t node, const struct reader_keys *keys, void *to);

/* At the key: "unknown WHAT; ..." with the nearest of 'known', or all. */
struct reader_names {
	size_t n;
	const char *items[READER_KEYS_MAX];
};
void reader_unknown_key(struct reader *r, uint32_t node, const char *what,
    const struct reader_names *known);

/* Each of these faults and returns false when the value is something else. */
bool reader_is(struct reader *r, uint32_t node, enum scan_kind kind);
/* Not empty, plain (no controls, nothing invisible), fits with its NUL. */
bool reader_text(struct reader *r, uint32_t node, char *ret, size_t cap);
/* [a-z0-9][a-z0-9._-]*, fits with its NUL. */
bool reader_name(struct reader *r, uint32_t node, char *ret, size_t cap);
bool reader_number(
    struct reader *r, uint32_t node, struct number_range range, uint64_t *ret);
bool reader_bool(struct reader *r, uint32_t node, bool *ret);
/* One of 'words'; *ret is its index. */
bool reader_word(struct reader *r, uint32_t node,
    const struct reader_names *words, size_t *ret);

/* Whether 'text' has only characters that are what they look like. */
bool reader_plain(const char *text);

#endif
