/*
 * base/letter.h - the characters of a JSON string, one at a time.
 */
#ifndef BASE_LETTER_H
#define BASE_LETTER_H

#include <stddef.h>

#include "base/error.h"

/* The bytes of a string in a JSON text, without its quotes. */
struct letter_span {
	const char *at; /* borrowed */
	size_t len;
};

/* One character of a string, decoded. */
struct letter {
	size_t used; /* bytes of the text; 0: not well-formed */
	size_t n;    /* bytes decoded, never more than 'used' */
	char bytes[4];
};

/* The first character of 'in', which is not empty. */
struct letter letter_at(struct letter_span in);

/* How many bytes in front stand for themselves: ASCII that is no control
 * character, no quote and no backslash. */
size_t letter_plain(struct letter_span in);

/* 6 when 'in' begins with \u and half of a surrogate pair, else 0. */
size_t letter_lone(struct letter_span in);

/* All of 'in', with a NUL behind; -1 when it is malformed or does not fit. */
int letter_decode(
    struct letter_span in, char *ret, size_t cap, size_t *ret_len) MUST_CHECK;

#endif
