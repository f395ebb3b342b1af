/*
 * audit/json.h - writing JSON of profile c1: keys sorted by byte and unique, no
 * white space, strings of 0x20..0x7E without quote and backslash (no escape
 * exists), numbers 0 to 2^53-1, depth at most 8.  One value has one text, so
 * what is hashed needs no canonicalisation by anybody.
 *
 * A value or a key that the profile cannot hold makes the writer bad, and every
 * later call does nothing: a caller checks once, with json_done.
 */
#ifndef AUDIT_JSON_H
#define AUDIT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define JSON_DEPTH_MAX  8
#define JSON_NUMBER_MAX 9007199254740991u /* 2^53 - 1 */

struct json_level {
	const char
	    *key; /* the last one, inside 'data'; NULL before the first */
	size_t key_len;
	size_t n_items;
	char closer;
};

struct json {
	char *data; /* borrowed */
	size_t cap;
	size_t len;
	bool after_key;
	const char *why; /* NULL while all is well */
	enum error_kind kind;
	unsigned depth;
	struct json_level levels[JSON_DEPTH_MAX + 1];
};

/* Write into 'data' from its start; 'depth' levels are open around it. */
void json_init(struct json *j, char *data, size_t cap, unsigned depth);

void json_object(struct json *j);
void json_array(struct json *j);
void json_end(struct json *j); /* of whichever is open */

void json_key(struct json *j, const char *name);
void json_string(struct json *j, const char *text);
void json_number(struct json *j, uint64_t value);
void json_truth(struct json *j, bool value);
void json_hex(struct json *j, const uint8_t *from, size_t len);
void json_base64(struct json *j, const uint8_t *from, size_t len);

/* "prefix" and the bytes in hex, as one string. */
struct json_bytes {
	const uint8_t *from;
	size_t len;
};
void json_prefixed(struct json *j, const char *prefix, struct json_bytes hex);

/* Refuse on behalf of the caller; 'why' must outlive the writer. */
void json_refuse(struct json *j, enum error_kind kind, const char *why);

/* Every object and array must be closed. */
int json_done(const struct json *j, struct error *e) MUST_CHECK;

#endif
