/*
 * mcp/page.h - a JSON text while it is written: it grows up to a bound, and the
 * first thing that fails is remembered, so that a writer checks once at the
 * end.
 */
#ifndef MCP_PAGE_H
#define MCP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The official clients close the connection at 10 MiB in one line. */
#define PAGE_LINE_MAX (8u << 20)

struct page {
	char *data; /* owned */
	size_t len, cap;
	size_t max;  /* bytes it may grow to */
	bool failed; /* something did not fit; what is there is cut */
};

void page_init(struct page *p, size_t max);
void page_free(struct page *p);
/* Empty again; a large block is given back. */
void page_clear(struct page *p);

void page_bytes(struct page *p, const void *data, size_t len);
void page_text(struct page *p, const char *text);
void page_format(struct page *p, const char *format, ...) PRINTF_LIKE(2, 3);
/* Lower-case hex digits. */
void page_hex(struct page *p, const uint8_t *data, size_t len);
void page_base64(struct page *p, const void *data, size_t len);

/*
 * A JSON string with its quotes.  Every byte that is not part of well-formed
 * UTF-8 becomes U+FFFD; returns how many did.  C0 controls and DEL are escaped.
 */
size_t page_string(struct page *p, const void *from, size_t len);
void page_word(struct page *p, const char *text); /* of a C string */

#endif
