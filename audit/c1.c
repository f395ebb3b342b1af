/*
 * audit/c1.c - the strict check of the log's JSON.  Linked by signer and audit
 * reader; every byte is hostile.
 */
#include "audit/c1.h"

#include <string.h>

struct frame {
	bool named; /* an object, not an array */
	const char *key;
	size_t key_len;
};

struct scan {
	const char *at, *end;
	size_t depth;
	struct frame frames[C1_DEPTH_MAX];
	const char *why; /* what is wrong at 'at' */
};

static bool wrong(struct scan *s, const char *why)
{
	s->why = why;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_key_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       is_digit(c);
}

/* Why a byte cannot begin or follow what stands before it. */
static const char *byte_fault(char c)
{
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return "not canonical: white space";
	if (c == '\0')
		return "a NUL byte";
	if (c < 0x20 || c > 0x7e)
		return "a byte outside 0x20 to 0x7E";
	return "not JSON";
}

/* What a string may hold: 0x20 to 0x7E without '"' and '\\'.  Most bytes of a
 * log stand in strings, so they are looked up, not compared four times. */
/* clang-format off */
#define SIXTEEN 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
static const uint8_t in_string[256] = {
	[0x20] = 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	[0x30] = SIXTEEN,
	[0x40] = SIXTEEN,
	[0x50] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
	[0x60] = SIXTEEN,
	[0x70] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0,
};
/* clang-format on */

/* 'at' stands behind the opening quote; leaves it behind the closing one. */
static bool scan_string(struct scan *s)
{
	const char *at = s->at;

	while (at < s->end && in_string[(uint8_t)*at] != 0)
		at++;
	s->at = at;
	if (at == s->end)
		return wrong(s, "a string without end");
	if (*at == '\\')
		return wrong(s, "a backslash: no escape exists here");
	if (*at != '"')
		return wrong(s, "a byte outside 0x20 to 0x7E");
	s->at++;
	return true;
}

static bool scan_number(struct scan *s)
{
	const char *from = s->at;
	uint64_t value = 0;

	while (s->at < s->end && is_digit(*s->at)) {
		value = value * 10 + (uint64_t)(*s->at++ - '0');
		/* 17 digits do not overflow, and are too large already. */
		if (value > C1_NUMBER_MAX)
			return wrong(s, "a number above 2^53-1");
	}
	if (*from == '0' && s->at - from > 1)
		return wrong(s, "not canonical: leading zero");
	if (s->at < s->end && *s->at == '.')
		return wrong(s, "a fraction: only whole numbers exist here");
	if (s->at < s->end && (*s->at == 'e' || *s->at == 'E'))
		return wrong(s, "an exponent: only plain numbers exist here");
	return true;
}

static bool scan_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0)
		return wrong(s, "not JSON");
	s->at += len;
	return true;
}

/* Bytes first, then length: the order of RFC 8785 for ASCII. */
static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (order != 0)
		return order;
	return a_len < b_len ? -1 : a_len > b_len;
}

static bool scan_byte(struct scan *s, char wanted)
{
	if (s->at == s->end)
		return wrong(s, "an end in mid object");
	if (*s->at != wanted)
		return wrong(s, byte_fault(*s->at));
	s->at++;
	return true;
}

/* The bytes of a key, up to its closing quote. */
static bool scan_name(struct scan *s)
{
	const char *from = s->at;

	while (s->at < s->end && is_key_byte(*s->at))
		s->at++;
	if (s->at == s->end || *s->at != '"')
		return wrong(s, "a byte that no key has");
	if (s->at == from || is_digit(*from))
		return wrong(s, "a key that begins with no letter");
	return true;
}

/* A key and its colon; the first of an object may be anything. */
static bool scan_key(struct scan *s)
{
	struct frame *f = &s->frames[s->depth - 1];
	const char *from = s->at + 1;
	size_t len;
	int order;

	if (!scan_byte(s, '"') || !scan_name(s))
		return false;
	len = (size_t)(s->at - from);
	order = f->key != NULL ? compare(f->key, f->key_len, from, len) : -1;
	if (order >= 0)
		return wrong(
		    s, order == 0 ? "duplicate key" : "keys not sorted");
	f->key = from;
	f->key_len = len;
	s->at++;
	return scan_byte(s, ':');
}

static bool open_frame(struct scan *s, bool named)
{
	if (s->depth == C1_DEPTH_MAX)
		return wrong(s, "deeper than 8");
	s->frames[s->depth++] = (struct frame){ .named = named };
	s->at++;
	return true;
}

static char closer(const struct scan *s)
{
	return s->frames[s->depth - 1].named ? '}' : ']';
}

/* One value that is no container. */
static bool scan_scalar(struct scan *s)
{
	switch (*s->at) {
	case '"':
		s->at++;
		return scan_string(s);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return wrong(s, "null does not exist here");
	case '-':
		return wrong(s, "a sign: numbers have none here");
	default:
		if (is_digit(*s->at))
			return scan_number(s);
		return wrong(s, byte_fault(*s->at));
	}
}

/* A value up to the point where it is done or its first member begins;
 * *ret_open says which. */
static bool scan_value(struct scan *s, bool *ret_open)
{
	bool named;

	*ret_open = false;
	if (s->at == s->end)
		return wrong(s, "an end where a value belongs");
	if (*s->at != '{' && *s->at != '[')
		return scan_scalar(s);
	named = *s->at == '{';
	if (!open_frame(s, named))
		return false;
	if (s->at < s->end && *s->at == closer(s)) {
		s->depth--;
		s->at++;
		return true;
	}
	*ret_open = true;
	return !named || scan_key(s);
}

/* Behind a value: closing brackets, then a comma and what follows it. */
static bool scan_between(struct scan *s)
{
	while (s->depth > 0) {
		if (s->at == s->end)
			return wrong(s, "an end in mid value");
		if (*s->at == closer(s)) {
			s->depth--;
			s->at++;
			continue;
		}
		if (*s->at != ',')
			return wrong(s, byte_fault(*s->at));
		s->at++;
		return !s->frames[s->depth - 1].named || scan_key(s);
	}
	return true;
}

static bool scan_all(struct scan *s)
{
	if (s->at == s->end || *s->at != '{')
		return wrong(s, "does not begin with '{'");
	do {
		bool open;

		if (!scan_value(s, &open))
			return false;
		if (!open && !scan_between(s))
			return false;
	} while (s->depth > 0);
	return s->at == s->end || wrong(s, "bytes after the closing brace");
}

int c1_check(
    const char *text, size_t len, struct c1_value *ret, struct error *e)
{
	struct scan s = { .at = text, .end = text + len };

	if (len > C1_LINE_MAX)
		return FAIL(
		    e, ERROR_MALFORMED, "longer than %d bytes", C1_LINE_MAX);
	if (!scan_all(&s))
		return FAIL(e, ERROR_MALFORMED, "%s at byte %zu", s.why,
		    (size_t)(s.at - text));
	*ret = (struct c1_value){ C1_OBJECT, text, len };
	return 0;
}
