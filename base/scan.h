/*
 * base/scan.h - a strict, read-only scanner of JSON (RFC 8259).
 *
 * It runs first on every JSON text of foreign origin.  It builds no values and
 * allocates nothing: it fills an array of nodes that the caller gives, each
 * with its place in the text, so that later faults can say line and column and
 * a number or an id can be handed back byte by byte.
 *
 * Refused: depth, nodes, key and number lengths beyond the bounds; bytes that
 * are not well-formed UTF-8 (a byte order mark too); unpaired surrogates;
 * duplicate keys in one object, whatever their spelling; NUL in a key; anything
 * behind the value.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SCAN_KEY_MAX    256 /* bytes of a key in the text, without quotes */
#define SCAN_NUMBER_MAX 64  /* bytes of a number */
#define SCAN_TEXT_MAX   UINT32_MAX
#define SCAN_NONE       UINT32_MAX /* no node */

enum scan_kind {
	SCAN_OBJECT,
	SCAN_ARRAY,
	SCAN_STRING,
	SCAN_NUMBER,
	SCAN_TRUE,
	SCAN_FALSE,
	SCAN_NULL,
};

struct scan_node {
	uint32_t at, len;         /* the value's bytes; a string with quotes */
	uint32_t key_at, key_len; /* with quotes; key_len is 0 without a key */
	uint32_t key_hash;
	uint32_t parent; /* SCAN_NONE for the root, which is node 0 */
	uint32_t next;   /* sibling, or SCAN_NONE */
	uint32_t last;   /* child, or SCAN_NONE; the first child is this + 1 */
	uint32_t n;      /* members or elements */
	uint32_t deeper[2]; /* among members: by the next bit of the hash */
	enum scan_kind kind;
};

struct scan {
	const char *text; /* borrowed */
	size_t len;
	struct scan_node *nodes; /* borrowed */
	uint32_t cap;            /* nodes there is room for */
	uint32_t max_depth;      /* of nested objects and arrays; 0: scalars */
	/* Strings may hold unpaired surrogates: scan_string refuses each that
	 * does, but the text around it can be read. */
	bool lone_surrogates;
	uint32_t n;        /* out: nodes filled */
	uint32_t fault_at; /* out, on failure: offset of what is wrong */
};

/*
 * Scan s->text as one JSON value.  ERROR_MALFORMED, or ERROR_LIMIT for a bound
 * of the caller's; *e holds only what is wrong, the place is s->fault_at.
 */
int scan_parse(struct scan *s, struct error *e) MUST_CHECK;

/* Line and column from 1; a column is a character, a tab is one. */
void scan_place(const struct scan *s, uint32_t at, uint32_t *ret_line,
    uint32_t *ret_column);

/* First child of an object or array, or SCAN_NONE. */
uint32_t scan_first(const struct scan *s, uint32_t node);

/* The member of that name (plain bytes), or SCAN_NONE. */
uint32_t scan_member(const struct scan *s, uint32_t object, const char *name);

/*
 * Decode the string of a node, or its key, into 'ret' with a NUL behind that
 * *ret_len does not count.  -1 when 'cap' is too small, when the node is no
 * string, or when it holds an unpaired surrogate.  A value may
 * hold NUL characters (\u0000), so compare *ret_len with strlen if it matters.
 */
int scan_string(const struct scan *s, uint32_t node, char *ret, size_t cap,
    size_t *ret_len) MUST_CHECK;
int scan_key(
    const struct scan *s, uint32_t node, char *ret, size_t cap) MUST_CHECK;

/* A number of digits only that fits; false for a sign, fraction, exponent. */
bool scan_u64(const struct scan *s, uint32_t node, uint64_t *ret);

#endif
