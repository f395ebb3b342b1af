/*
 * audit/c1.h - the strict reader of profile c1, the one spelling of JSON that
 * the log uses (docs/audit-log.md).
 *
 * Pure; allocates nothing and copies nothing: a value points into the text it
 * was read from, which must outlive it.  The reader never re-serialises: what
 * it accepts is already canonical, byte for byte.
 *
 *   object  keys [A-Za-z_][A-Za-z0-9_]*, sorted by byte, each once
 *   string  bytes 0x20 to 0x7E without '"' and '\'; no escape exists
 *   number  0 or [1-9][0-9]*, at most 2^53 - 1
 *   other   array, true, false; no null, no white space; depth at most 8
 */
#ifndef AUDIT_C1_H
#define AUDIT_C1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define C1_DEPTH_MAX  8
#define C1_LINE_MAX   65535
#define C1_NUMBER_MAX (((uint64_t)1 << 53) - 1)

enum c1_kind {
	C1_ABSENT, /* no such member */
	C1_OBJECT,
	C1_ARRAY,
	C1_STRING,
	C1_NUMBER,
	C1_TRUE,
	C1_FALSE,
};

/* Objects and arrays with their brackets, strings without their quotes. */
struct c1_value {
	enum c1_kind kind;
	const char *at; /* borrowed */
	size_t len;
};

/*
 * Demand that 'text' is exactly one object of the profile, nothing before or
 * behind it, and make *ret that object.  ERROR_MALFORMED names the fault and
 * its byte: "duplicate key at byte 812".
 */
int c1_check(const char *text, size_t len, struct c1_value *ret,
    struct error *e) MUST_CHECK;

/*
 * Walk the members of an object or array out of c1_check.  Anything else has
 * no members.
 */
struct c1_walk {
	const char *at, *end;
	bool named; /* an object */
};

struct c1_member {
	const char *key; /* not terminated; of an array: empty */
	size_t key_len;
	struct c1_value value;
};

void c1_walk(const struct c1_value *from, struct c1_walk *ret);
bool c1_next(struct c1_walk *walk, struct c1_member *ret);

/* The member of that name; kind C1_ABSENT if there is none. */
struct c1_value c1_member(const struct c1_value *object, const char *key);

/* Is it a string with exactly this text? */
bool c1_is(const struct c1_value *v, const char *text);

/* Each false, *ret unspecified, unless the value has that form. */
bool c1_number(const struct c1_value *v, uint64_t *ret);
/* A string of 2 * n lower-case hex digits. */
bool c1_hex(const struct c1_value *v, uint8_t *ret, size_t n);
/* A string of canonical base64 that decodes to n bytes, n at most 64. */
bool c1_base64(const struct c1_value *v, uint8_t *ret, size_t n);

#endif
