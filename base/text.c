/*
 * base/text.c - escapes and encodings.  Linked by every program.  Every input
 * is hostile.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char upper_hex[] = "0123456789ABCDEF";
static const char lower_hex[] = "0123456789abcdef";
static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static bool is_unreserved(uint8_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("-._~/", c) != NULL);
}

int text_percent_encode(
    const void *from, size_t len, char *ret, size_t cap, struct error *e)
{
	const uint8_t *in = from;
	size_t need = 1;
	size_t at = 0;

	for (size_t i = 0; i < len; i++)
		need += is_unreserved(in[i]) ? 1 : 3;
	if (need > cap)
		return FAIL(e, ERROR_LIMIT, "name too long to encode");
	for (size_t i = 0; i < len; i++) {
		if (is_unreserved(in[i])) {
			ret[at++] = (char)in[i];
			continue;
		}
		ret[at++] = '%';
		ret[at++] = upper_hex[in[i] >> 4];
		ret[at++] = upper_hex[in[i] & 15];
	}
	ret[at] = '\0';
	return 0;
}

static int hex_value(char c)
{
	const char *at = c != '\0' ? strchr(upper_hex, c) : NULL;

	return at != NULL ? (int)(at - upper_hex) : -1;
}

int text_percent_decode(
    const char *from, char *ret, size_t cap, size_t *ret_len, struct error *e)
{
	size_t at = 0;

	for (; *from != '\0'; from++) {
		uint8_t c = (uint8_t)*from;

		if (at + 1 >= cap)
			return FAIL(e, ERROR_LIMIT, "name too long to decode");
		if (c == '%') {
			int high = hex_value(from[1]);
			int low = high < 0 ? -1 : hex_value(from[2]);

			if (low < 0)
				return FAIL(
				    e, ERROR_MALFORMED, "bad percent escape");
			c = (uint8_t)(high << 4 | low);
			if (is_unreserved(c))
				return FAIL(e, ERROR_MALFORMED,
				    "needless percent escape");
			from += 2;
		} else if (!is_unreserved(c)) {
			return FAIL(
			    e, ERROR_MALFORMED, "byte that must be escaped");
		}
		ret[at++] = (char)c;
	}
	ret[at] = '\0';
	*ret_len = at;
	return 0;
}

/* Unicode 15, table 3-7: what the second byte may be after each lead byte. */
static const struct lead {
	uint8_t first, last; /* of the lead byte */
	uint8_t low, high;   /* of the second byte */
	uint8_t length;
} leads[] = {
	{ 0x00, 0x7f, 0x00, 0x00, 1 },
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

size_t text_utf8_length(const void *from, size_t len)
{
	const uint8_t *in = from;

	for (size_t i = 0; len > 0 && i < sizeof(leads) / sizeof(leads[0]);
	     i++) {
		const struct lead *l = &leads[i];

		if (in[0] < l->first || in[0] > l->last)
			continue;
		if (len < l->length ||
		    (l->length > 1 && (in[1] < l->low || in[1] > l->high)))
			return 0;
		for (size_t j = 2; j < l->length; j++)
			if ((in[j] & 0xc0) != 0x80)
				return 0;
		return l->length;
	}
	return 0;
}

/* Characters that move the cursor, hide something or reorder the line. */
static const struct range {
	uint32_t first, last;
} harmful[] = {
	{ 0x0000, 0x001f },   /* controls */
	{ 0x005c, 0x005c },   /* the backslash: our own escapes begin with it */
	{ 0x007f, 0x009f },   /* DEL, C1 controls */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x200b, 0x200f },   /* zero width, direction marks */
	{ 0x2028, 0x202e },   /* separators, embeddings and overrides */
	{ 0x2060, 0x206f },   /* joiners, isolates */
	{ 0xfeff, 0xfeff },   /* zero width no-break space */
	{ 0xe0000, 0xe0fff }, /* tags: text nobody sees */
};

static bool is_harmless(const uint8_t *in, size_t n)
{
	/* The bits of the lead byte that belong to the character. */
	static const uint8_t mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t point;

	if (n == 0)
		return false;
	point = in[0] & mask[n];
	for (size_t i = 1; i < n; i++)
		point = point << 6 | (in[i] & 63u);
	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (point >= harmful[i].first && point <= harmful[i].last)
			return false;
	return true;
}

size_t text_escape(
    const void *from, size_t len, enum text_keep keep, struct text_out *out)
{
	const uint8_t *in = from;
	size_t i = 0;

	while (i < len) {
		size_t n = text_utf8_length(in + i, len - i);
		bool kept = keep == TEXT_KEEP_LINES &&
		            (in[i] == '\n' || in[i] == '\t' || in[i] == '\\');

		if (kept || is_harmless(in + i, n)) {
			if (n > out->cap - out->len)
				break;
			memcpy(out->data + out->len, in + i, n);
			out->len += n;
			i += n;
			continue;
		}
		if (out->cap - out->len < 4)
			break;
		memcpy(out->data + out->len, "\\x", 2);
		out->data[out->len + 2] = lower_hex[in[i] >> 4];
		out->data[out->len + 3] = lower_hex[in[i] & 15];
		out->len += 4;
		i++;
	}
	return i;
}

int text_printf(struct text_out *out, struct error *e, const char *format, ...)
{
	va_list args;
	size_t room = out->cap - out->len;
	int n;

	va_start(args, format);
	n = vsnprintf(out->data + out->len, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		return FAIL(e, ERROR_LIMIT, "text does not fit");
	out->len += (size_t)n;
	return 0;
}

static bool put(struct text_out *out, const void *from, size_t len)
{
	if (len > out->cap - out->len)
		return false;
	memcpy(out->data + out->len, from, len);
	out->len += len;
	return true;
}

static bool put_json_byte(struct text_out *out, uint8_t c)
{
	static const char named[] = "\"\\\b\f\n\r\t";
	static const char letters[] = "\"\\bfnrt";
	const char *at = c != '\0' ? strchr(named, c) : NULL;
	char escape[] = { '\\', 'u', '0', '0', lower_hex[c >> 4],
		lower_hex[c & 15] };

	if (at == NULL)
		return put(out, escape, sizeof(escape));
	escape[1] = letters[at - named];
	return put(out, escape, 2);
}

int text_json_string(
    const void *from, size_t len, struct text_out *out, struct error *e)
{
	const uint8_t *in = from;
	size_t before = out->len;
	bool fits = put(out, "\"", 1);

	for (size_t i = 0; fits && i < len;) {
		size_t n = text_utf8_length(in + i, len - i);

		if (n == 0) {
			out->len = before;
			return FAIL(e, ERROR_MALFORMED, "bytes are not UTF-8");
		}
		if (in[i] < 0x20 || in[i] == '"' || in[i] == '\\' ||
		    in[i] == 0x7f)
			fits = put_json_byte(out, in[i]);
		else
			fits = put(out, in + i, n);
		i += n;
	}
	if (fits && put(out, "\"", 1))
		return 0;
	out->len = before;
	return FAIL(e, ERROR_LIMIT, "text does not fit");
}

int text_base64(
    const void *from, size_t len, struct text_out *out, struct error *e)
{
	const uint8_t *in = from;

	if ((len + 2) / 3 * 4 > out->cap - out->len)
		return FAIL(e, ERROR_LIMIT, "text does not fit");
	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)in[i] << 16;
		size_t have = len - i < 3 ? len - i : 3;

		if (have > 1)
			v |= (uint32_t)in[i + 1] << 8;
		if (have > 2)
			v |= in[i + 2];
		for (size_t j = 0; j < 4; j++) {
			char digit = base64_digits[v >> (18 - 6 * j) & 63];

			if (j > have)
				digit = '=';
			out->data[out->len++] = digit;
		}
	}
	return 0;
}

/* The value of one digit; false if it is none. */
static bool base64_value(char digit, uint32_t *ret)
{
	const char *at = digit != '\0' ? strchr(base64_digits, digit) : NULL;

	if (at == NULL)
		return false;
	*ret = (uint32_t)(at - base64_digits);
	return true;
}

/* How many bytes a group of four stands for: 3, or less before padding. */
static size_t group_bytes(const char *in, bool last)
{
	if (!last || in[3] != '=')
		return 3;
	return in[2] != '=' ? 2 : 1;
}

/* One group of four; false unless it is canonical. */
static bool decode_group(const char *in, bool last, struct text_out *out)
{
	size_t have = group_bytes(in, last);
	uint32_t v = 0;

	/* 'have' bytes take one digit more; padding stands for zeros. */
	for (size_t j = 0; j < 4; j++) {
		uint32_t digit = 0;

		if (j <= have && !base64_value(in[j], &digit))
			return false;
		v = v << 6 | digit;
	}
	/* Spare bits of the last digit must be zero: one text for one value. */
	if ((v & ((1U << (24 - 8 * have)) - 1)) != 0)
		return false;
	for (size_t j = 0; j < have; j++)
		out->data[out->len++] = (char)(uint8_t)(v >> (16 - 8 * j));
	return true;
}

int text_base64_decode(
    const char *from, size_t len, struct text_out *out, struct error *e)
{
	size_t before = out->len;

	if (len % 4 != 0)
		return FAIL(e, ERROR_MALFORMED, "base64 of odd length");
	if (len / 4 * 3 > out->cap - out->len)
		return FAIL(e, ERROR_LIMIT, "text does not fit");
	for (size_t i = 0; i < len; i += 4)
		if (!decode_group(from + i, i + 4 == len, out)) {
			out->len = before;
			return FAIL(
			    e, ERROR_MALFORMED, "base64 is not canonical");
		}
	return 0;
}
