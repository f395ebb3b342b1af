/*
 * base/scan_read.c - places and values of scanned nodes.  Linked by every
 * program that reads JSON; the text is hostile, but has been scanned.
 */
#include "base/letter.h"
#include "base/scan.h"

/* The string at a token, without its quotes. */
static struct letter_span inside(
    const struct scan *s, uint32_t at, uint32_t len)
{
	return (struct letter_span){ s->text + at + 1, len - 2 };
}

void scan_place(
    const struct scan *s, uint32_t at, uint32_t *ret_line, uint32_t *ret_column)
{
	uint32_t line = 1;
	uint32_t column = 1;

	for (size_t i = 0; i < at && i < s->len; i++) {
		/* Continuation bytes of UTF-8 belong to the column before. */
		if (((uint8_t)s->text[i] & 0xc0) != 0x80)
			column++;
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	*ret_line = line;
	*ret_column = column;
}

uint32_t scan_first(const struct scan *s, uint32_t node)
{
	return s->nodes[node].n > 0 ? node + 1 : SCAN_NONE;
}

int scan_string(
    const struct scan *s, uint32_t node, char *ret, size_t cap, size_t *ret_len)
{
	const struct scan_node *n = &s->nodes[node];

	if (n->kind != SCAN_STRING)
		return -1;
	return letter_decode(inside(s, n->at, n->len), ret, cap, ret_len);
}

int scan_key(const struct scan *s, uint32_t node, char *ret, size_t cap)
{
	const struct scan_node *n = &s->nodes[node];
	size_t len;

	if (n->key_len == 0)
		return -1;
	return letter_decode(inside(s, n->key_at, n->key_len), ret, cap, &len);
}

bool scan_u64(const struct scan *s, uint32_t node, uint64_t *ret)
{
	const struct scan_node *n = &s->nodes[node];
	uint64_t value = 0;

	if (n->kind != SCAN_NUMBER)
		return false;
	for (uint32_t i = 0; i < n->len; i++) {
		char c = s->text[n->at + i];
		uint64_t digit = (uint64_t)(c - '0');

		if (c < '0' || c > '9' || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}
