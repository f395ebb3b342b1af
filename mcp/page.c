/*
 * mcp/page.c - JSON texts.  Linked by bailiff-mcp.  What goes through
 * page_string may be any bytes; the rest is our own words.
 */
#include "mcp/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define PAGE_FIRST 4096
#define PAGE_KEPT  262144 /* a larger block is not worth keeping */

void page_init(struct page *p, size_t max)
{
	*p = (struct page){ .max = max };
}

void page_free(struct page *p)
{
	free(p->data);
	*p = (struct page){ .max = p->max };
}

void page_clear(struct page *p)
{
	if (p->cap > PAGE_KEPT)
		page_free(p);
	p->len = 0;
	p->failed = false;
}

/* Room for 'more' bytes and a NUL. */
static bool page_grow(struct page *p, size_t more)
{
	size_t cap = p->cap > 0 ? p->cap : PAGE_FIRST;
	char *data;

	if (p->failed || more > p->max || p->len > p->max - more) {
		p->failed = true;
		return false;
	}
	if (p->cap > p->len + more)
		return true;
	while (cap <= p->len + more)
		cap *= 2;
	data = realloc(p->data, cap);
	if (data == NULL) {
		p->failed = true;
		return false;
	}
	p->data = data;
	p->cap = cap;
	return true;
}

void page_bytes(struct page *p, const void *data, size_t len)
{
	if (len == 0 || !page_grow(p, len))
		return;
	memcpy(p->data + p->len, data, len);
	p->len += len;
}

void page_text(struct page *p, const char *text)
{
	page_bytes(p, text, strlen(text));
}

void page_format(struct page *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || !page_grow(p, (size_t)n))
		return;
	va_start(args, format);
	n = vsnprintf(p->data + p->len, p->cap - p->len, format, args);
	va_end(args);
	p->len += n > 0 ? (size_t)n : 0;
}

void page_hex(struct page *p, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		page_format(p, "%02x", data[i]);
}

void page_base64(struct page *p, const void *data, size_t len)
{
	size_t need = (len + 2) / 3 * 4;
	struct text_out out;
	struct error e;

	if (!page_grow(p, need))
		return;
	out = (struct text_out){ p->data, p->cap, p->len };
	if (text_base64(data, len, &out, &e) < 0)
		p->failed = true;
	else
		p->len = out.len;
}

static void put_control(struct page *p, uint8_t c)
{
	static const char named[] = "\b\f\n\r\t\"\\";
	static const char letters[] = "bfnrt\"\\";
	const char *at = c != '\0' ? strchr(named, c) : NULL;

	if (at != NULL)
		page_format(p, "\\%c", letters[at - named]);
	else
		page_format(p, "\\u%04x", c);
}

/* How many bytes from the front need no escape. */
static size_t plain_run(const uint8_t *from, size_t len)
{
	size_t n = 0;

	while (n < len && from[n] >= 0x20 && from[n] < 0x7f && from[n] != '"' &&
	       from[n] != '\\')
		n++;
	return n;
}

size_t page_string(struct page *p, const void *from, size_t len)
{
	const uint8_t *at = from;
	size_t n_bad = 0;

	page_text(p, "\"");
	while (len > 0 && !p->failed) {
		size_t n = plain_run(at, len);

		if (n == 0)
			n = *at >= 0x80 ? text_utf8_length(at, len) : 0;
		page_bytes(p, at, n);
		if (n == 0 && *at >= 0x80) {
			page_text(p, "\xef\xbf\xbd");
			n_bad++;
		} else if (n == 0) {
			put_control(p, *at);
		}
		n = n > 0 ? n : 1;
		at += n;
		len -= n;
	}
	page_text(p, "\"");
	return n_bad;
}

void page_word(struct page *p, const char *text)
{
	(void)page_string(p, text, strlen(text));
}
