/*
 * audit/c1_read.c - members and values of a text that c1_check accepted.
 * Linked by signer and audit reader.
 */
#include <string.h>

#include "audit/c1.h"
#include "base/text.h"

/*
 * The text has passed c1_check: strings hold no quote and
 * brackets balance, so the end of a value is found without looking closer.
 */
static const char *string_end(const char *at, const char *end)
{
	const char *quote = memchr(at, '"', (size_t)(end - at));

	return quote != NULL ? quote : end;
}

static const char *container_end(const char *at, const char *end)
{
	size_t depth = 0;

	for (; at < end; at++) {
		if (*at == '"')
			at = string_end(at + 1, end);
		else if (*at == '{' || *at == '[')
			depth++;
		else if ((*at == '}' || *at == ']') && --depth == 0)
			return at + 1;
	}
	return end;
}

static const char *scalar_end(const char *at, const char *end)
{
	while (at < end && *at != ',' && *at != '}' && *at != ']')
		at++;
	return at;
}

static struct c1_value value_at(const char *at, const char *end)
{
	const char *stop;

	switch (*at) {
	case '"':
		stop = string_end(at + 1, end);
		return (struct c1_value){ C1_STRING, at + 1,
			(size_t)(stop - at - 1) };
	case '{':
	case '[':
		stop = container_end(at, end);
		return (struct c1_value){ *at == '{' ? C1_OBJECT : C1_ARRAY, at,
			(size_t)(stop - at) };
	case 't':
		return (struct c1_value){ C1_TRUE, at, 4 };
	case 'f':
		return (struct c1_value){ C1_FALSE, at, 5 };
	default:
		stop = scalar_end(at, end);
		return (struct c1_value){ C1_NUMBER, at, (size_t)(stop - at) };
	}
}

void c1_walk(const struct c1_value *from, struct c1_walk *ret)
{
	bool inner = (from->kind == C1_OBJECT || from->kind == C1_ARRAY) &&
	             from->len > 2;

	ret->named = from->kind == C1_OBJECT;
	ret->at = inner ? from->at + 1 : NULL;
	ret->end = inner ? from->at + from->len - 1 : NULL;
}

bool c1_next(struct c1_walk *walk, struct c1_member *ret)
{
	if (walk->at >= walk->end)
		return false;
	ret->key = walk->at;
	ret->key_len = 0;
	if (walk->named) {
		ret->key++;
		walk->at = string_end(ret->key, walk->end);
		ret->key_len = (size_t)(walk->at - ret->key);
		walk->at += 2; /* quote and colon */
	}
	ret->value = value_at(walk->at, walk->end);
	/* Behind the value and its closing quote, over the comma. */
	walk->at =
	    ret->value.at + ret->value.len + 1 + (ret->value.kind == C1_STRING);
	return true;
}

struct c1_value c1_member(const struct c1_value *object, const char *key)
{
	size_t len = strlen(key);
	struct c1_member m;
	struct c1_walk w;

	if (object->kind != C1_OBJECT)
		return (struct c1_value){ C1_ABSENT, NULL, 0 };
	c1_walk(object, &w);
	while (c1_next(&w, &m))
		if (m.key_len == len && memcmp(m.key, key, len) == 0)
			return m.value;
	return (struct c1_value){ C1_ABSENT, NULL, 0 };
}

bool c1_is(const struct c1_value *v, const char *text)
{
	return v->kind == C1_STRING && v->len == strlen(text) &&
	       memcmp(v->at, text, v->len) == 0;
}

bool c1_number(const struct c1_value *v, uint64_t *ret)
{
	uint64_t value = 0;

	if (v->kind != C1_NUMBER)
		return false;
	for (size_t i = 0; i < v->len; i++)
		value = value * 10 + (uint64_t)(v->at[i] - '0');
	*ret = value;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool c1_hex(const struct c1_value *v, uint8_t *ret, size_t n)
{
	if (v->kind != C1_STRING || v->len != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(v->at[2 * i]);
		int low = hex_digit(v->at[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret[i] = (uint8_t)(high * 16 + low);
	}
	return true;
}

bool c1_base64(const struct c1_value *v, uint8_t *ret, size_t n)
{
	char bytes[66]; /* a last group may need two bytes more than it gives */
	struct text_out out = { bytes, sizeof(bytes), 0 };
	struct error ignored; /* the caller names the field */

	if (v->kind != C1_STRING || n > 64 ||
	    text_base64_decode(v->at, v->len, &out, &ignored) < 0 ||
	    out.len != n)
		return false;
	memcpy(ret, bytes, n);
	return true;
}
