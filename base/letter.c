/*
 * base/letter.c - characters of JSON strings (RFC 8259, section 7).  Linked by
 * every program that reads JSON; its input is hostile.
 */
#include "base/letter.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Four hex digits at 'in', or false. */
static bool hex_unit(const char *in, size_t len, uint32_t *ret)
{
	uint32_t value = 0;

	if (len < 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		int digit = hex_digit(in[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	*ret = value;
	return true;
}

/*
 * The character of a \u escape whose digits are at 'in'; a high surrogate must
 * be followed by \u and a low one.  Returns the bytes used, 0 when wrong.
 */
static size_t unicode_escape(const char *in, size_t len, uint32_t *ret)
{
	uint32_t high;
	uint32_t low;

	if (!hex_unit(in, len, &high))
		return 0;
	if (high < 0xd800 || high > 0xdfff) {
		*ret = high;
		return 4;
	}
	if (high > 0xdbff || len < 10 || in[4] != '\\' || in[5] != 'u' ||
	    !hex_unit(in + 6, len - 6, &low) || low < 0xdc00 || low > 0xdfff)
		return 0;
	*ret = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return 10;
}

static void put_utf8(uint32_t point, struct letter *ret)
{
	if (point < 0x80) {
		ret->bytes[ret->n++] = (char)point;
		return;
	}
	if (point < 0x800) {
		ret->bytes[ret->n++] = (char)(0xc0 | point >> 6);
	} else if (point < 0x10000) {
		ret->bytes[ret->n++] = (char)(0xe0 | point >> 12);
		ret->bytes[ret->n++] = (char)(0x80 | (point >> 6 & 0x3f));
	} else {
		ret->bytes[ret->n++] = (char)(0xf0 | point >> 18);
		ret->bytes[ret->n++] = (char)(0x80 | (point >> 12 & 0x3f));
		ret->bytes[ret->n++] = (char)(0x80 | (point >> 6 & 0x3f));
	}
	ret->bytes[ret->n++] = (char)(0x80 | (point & 0x3f));
}

struct letter letter_at(struct letter_span in)
{
	static const char escapes[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	struct letter ret = { .used = 0 };
	const char *escape;
	uint32_t point;

	if (in.at[0] != '\\') {
		ret.used = text_utf8_length(in.at, in.len);
		if ((uint8_t)in.at[0] < 0x20)
			ret.used = 0;
		ret.n = ret.used;
		memcpy(ret.bytes, in.at, ret.used);
		return ret;
	}
	if (in.len < 2 || in.at[1] == '\0')
		return ret;
	if (in.at[1] == 'u') {
		ret.used = unicode_escape(in.at + 2, in.len - 2, &point);
		if (ret.used == 0)
			return ret;
		ret.used += 2;
		put_utf8(point, &ret);
		return ret;
	}
	escape = strchr(escapes, in.at[1]);
	if (escape == NULL)
		return ret;
	ret.used = 2;
	ret.n = 1;
	ret.bytes[0] = meanings[escape - escapes];
	return ret;
}

size_t letter_plain(struct letter_span in)
{
	size_t n = 0;

	while (n < in.len && (uint8_t)in.at[n] >= 0x20 &&
	       (uint8_t)in.at[n] < 0x80 && in.at[n] != '"' && in.at[n] != '\\')
		n++;
	return n;
}

size_t letter_lone(struct letter_span in)
{
	uint32_t unit;

	if (in.len < 6 || in.at[0] != '\\' || in.at[1] != 'u' ||
	    !hex_unit(in.at + 2, 4, &unit))
		return 0;
	return unit >= 0xd800 && unit <= 0xdfff ? 6 : 0;
}

int letter_decode(struct letter_span in, char *ret, size_t cap, size_t *ret_len)
{
	size_t len = 0;

	for (;;) {
		struct letter letter;
		size_t plain = letter_plain(in);

		if (cap - len <= plain)
			return -1;
		memcpy(ret + len, in.at, plain);
		len += plain;
		in.at += plain;
		in.len -= plain;
		if (in.len == 0)
			break;
		letter = letter_at(in);
		if (letter.used == 0 || cap - len <= letter.n)
			return -1;
		memcpy(ret + len, letter.bytes, letter.n);
		len += letter.n;
		in.at += letter.used;
		in.len -= letter.used;
	}
	ret[len] = '\0';
	*ret_len = len;
	return 0;
}
