/*
 * base/text.h - foreign bytes made harmless before a person, a log or a JSON
 * reader sees them.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>

#include "base/error.h"

/*
 * Percent-encode 'len' bytes: A-Z a-z 0-9 - . _ ~ / stay, every other byte
 * becomes %XX with upper-case digits (RFC 3986, section 2.1).  The result
 * needs at most 3 * len + 1 bytes; ERROR_LIMIT if 'cap' is less than it takes.
 */
int text_percent_encode(const void *from, size_t len, char *ret, size_t cap,
    struct error *e) MUST_CHECK;

/*
 * The reverse, strict: only what text_percent_encode can produce is accepted.
 * *ret_len does not count the NUL that is put behind.
 */
int text_percent_decode(const char *from, char *ret, size_t cap,
    size_t *ret_len, struct error *e) MUST_CHECK;

enum text_keep {
	TEXT_KEEP_NONE,
	TEXT_KEEP_LINES
};

struct text_out {
	char *data; /* borrowed */
	size_t cap;
	size_t len;
};

/*
 * Append a copy for a terminal or a log line to 'out': printable ASCII (but
 * the backslash) and well-formed UTF-8 beyond the C1 controls stay, except
 * invisible and bidirectional controls (U+200B-200F, U+2028-202E, U+2060-206F,
 * U+FEFF and their like); newline, tab and backslash stay with TEXT_KEEP_LINES; every other
 * byte becomes \xHH.  Stops when 'out' is full,
 * never in mid escape.  Returns the number of input bytes consumed.
 */
size_t text_escape(
    const void *from, size_t len, enum text_keep keep, struct text_out *out);

/*
 * Append 'from' as a JSON string with its quotes (RFC 8259).  Bytes that are
 * not well-formed UTF-8 are ERROR_MALFORMED: the caller then chooses another
 * spelling (base64).  ERROR_LIMIT when 'out' is full; 'out' is then as before.
 */
int text_json_string(const void *from, size_t len, struct text_out *out,
    struct error *e) MUST_CHECK;

/* Append base64 with padding (RFC 4648, section 4).  ERROR_LIMIT when full. */
int text_base64(const void *from, size_t len, struct text_out *out,
    struct error *e) MUST_CHECK;

/*
 * Decode exactly 'len' characters of canonical base64 (padding required, spare
 * bits zero) and append the bytes to 'out'.
 */
int text_base64_decode(const char *from, size_t len, struct text_out *out,
    struct error *e) MUST_CHECK;

/*
 * The length (1 to 4) of the well-formed UTF-8 sequence at 'from', 0 if there
 * is none (Unicode 15, table 3-7: no overlong form, no surrogate).
 */
size_t text_utf8_length(const void *from, size_t len);

/* Append formatted text; ERROR_LIMIT when it does not fit, 'out' unchanged. */
int text_printf(struct text_out *out, struct error *e, const char *format, ...)
    PRINTF_LIKE(3, 4) MUST_CHECK;

#endif
