/*
 * base/scan.c - the JSON scanner.  Linked by every program that reads JSON;
 * its input is hostile.  No recursion: an open container is a node whose
 * children point to it.
 */
#include "base/scan.h"

#include <string.h>

#include "base/letter.h"
#include "base/scan_names.h"

struct cursor {
	struct scan *s;
	struct error *e;
	size_t at;
	uint32_t open; /* innermost container, or SCAN_NONE */
	uint32_t depth;
	struct scan_slot slot; /* where the key just read belongs */
};

static int fail_at(struct cursor *c, size_t at, const char *text)
{
	c->s->fault_at = (uint32_t)at;
	return FAIL(c->e, ERROR_MALFORMED, "%s", text);
}

static int fail_limit(struct cursor *c, size_t at, const char *text)
{
	c->s->fault_at = (uint32_t)at;
	return FAIL(c->e, ERROR_LIMIT, "%s", text);
}

/* The byte at the cursor; NUL at the end, which starts no token. */
static char peek(const struct cursor *c)
{
	if (c->at == c->s->len)
		return '\0';
	return c->s->text[c->at];
}

static void skip_space(struct cursor *c)
{
	while (peek(c) == ' ' || peek(c) == '\t' || peek(c) == '\n' ||
	       peek(c) == '\r')
		c->at++;
}

/* What is wrong at the cursor, inside a string. */
static int fail_letter(struct cursor *c)
{
	char first = c->s->text[c->at];

	if (first == '\\')
		return fail_at(c, c->at, "bad escape in a string");
	if ((uint8_t)first < 0x20)
		return fail_at(
		    c, c->at, "control character in a string; write it as \\u");
	return fail_at(c, c->at, "bytes that are not UTF-8");
}

/* Moves behind the closing quote; the cursor stands on the opening one. */
static int take_string(struct cursor *c)
{
	size_t start = c->at;

	c->at++;
	for (;;) {
		struct letter_span rest = { c->s->text + c->at,
			c->s->len - c->at };
		size_t plain = letter_plain(rest);
		struct letter letter;

		c->at += plain;
		rest.at += plain;
		rest.len -= plain;
		if (rest.len == 0)
			return fail_at(c, start, "string without an end");
		if (rest.at[0] == '"')
			break;
		letter = letter_at(rest);
		if (letter.used == 0 && c->s->lone_surrogates)
			letter.used = letter_lone(rest);
		if (letter.used == 0)
			return fail_letter(c);
		c->at += letter.used;
	}
	c->at++;
	return 0;
}

static size_t take_digits(struct cursor *c)
{
	size_t start = c->at;

	while (peek(c) >= '0' && peek(c) <= '9')
		c->at++;
	return c->at - start;
}

static int take_number(struct cursor *c)
{
	size_t start = c->at;
	bool ok;

	if (peek(c) == '-')
		c->at++;
	if (peek(c) == '0') {
		c->at++;
		ok = !(peek(c) >= '0' && peek(c) <= '9');
	} else {
		ok = take_digits(c) > 0;
	}
	if (ok && peek(c) == '.') {
		c->at++;
		ok = take_digits(c) > 0;
	}
	if (ok && (peek(c) == 'e' || peek(c) == 'E')) {
		c->at++;
		if (peek(c) == '+' || peek(c) == '-')
			c->at++;
		ok = take_digits(c) > 0;
	}
	if (!ok)
		return fail_at(c, start, "not a JSON number");
	if (c->at - start > SCAN_NUMBER_MAX)
		return fail_limit(c, start, "number too long");
	return 0;
}

static int take_word(struct cursor *c, struct scan_node *node)
{
	static const struct word {
		const char *text;
		enum scan_kind kind;
	} words[] = {
		{ "true", SCAN_TRUE },
		{ "false", SCAN_FALSE },
		{ "null", SCAN_NULL },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i].text);

		if (c->s->len - c->at < len ||
		    memcmp(c->s->text + c->at, words[i].text, len) != 0)
			continue;
		c->at += len;
		node->kind = words[i].kind;
		return 0;
	}
	return fail_at(c, c->at,
	    c->at >= c->s->len ? "the text ends too early"
	                       : "expected a JSON value");
}

/* The string at a token with its quotes. */
static struct letter_span inside(
    const struct scan *s, uint32_t at, uint32_t len)
{
	return (struct letter_span){ s->text + at + 1, len - 2 };
}

/* "key" and its colon, into a node that will hold the value. */
static int take_key(struct cursor *c, struct scan_node *node)
{
	char key[SCAN_KEY_MAX + 1];
	struct scan_name name;
	size_t start = c->at;
	size_t len;

	if (peek(c) != '"')
		return fail_at(c, c->at, "expected a key in quotes");
	if (take_string(c) < 0)
		return -1;
	if (c->at - start - 2 > SCAN_KEY_MAX)
		return fail_limit(c, start, "key too long");
	node->key_at = (uint32_t)start;
	node->key_len = (uint32_t)(c->at - start);
	/* Decoding never makes a key longer, so this fits. */
	if (letter_decode(inside(c->s, node->key_at, node->key_len), key,
	        sizeof(key), &len) < 0)
		return fail_limit(c, start, "key too long");
	if (strlen(key) != len)
		return fail_at(c, start, "NUL in a key");
	name = scan_name_of(key, len);
	if (scan_find(c->s, c->open, &name, &c->slot) != SCAN_NONE)
		return fail_at(c, start, "duplicate key");
	node->key_hash = name.hash;
	skip_space(c);
	if (peek(c) != ':')
		return fail_at(c, c->at, "expected a colon behind the key");
	c->at++;
	skip_space(c);
	return 0;
}

static void link_node(struct cursor *c, uint32_t index)
{
	struct scan_node *parent;

	if (c->open == SCAN_NONE)
		return;
	parent = &c->s->nodes[c->open];
	if (parent->last != SCAN_NONE)
		c->s->nodes[parent->last].next = index;
	parent->last = index;
	parent->n++;
	if (parent->kind == SCAN_OBJECT && c->slot.last != SCAN_NONE)
		c->s->nodes[c->slot.last].deeper[c->slot.bit] = index;
}

/* Moves behind a scalar, or behind the opening of a container. */
static int take_token(struct cursor *c, struct scan_node *node)
{
	char first = peek(c);

	if (first == '{' || first == '[') {
		node->kind = first == '{' ? SCAN_OBJECT : SCAN_ARRAY;
		if (c->depth == c->s->max_depth)
			return fail_limit(c, c->at, "nested too deeply");
		c->at++;
		return 0;
	}
	if (first == '"') {
		node->kind = SCAN_STRING;
		return take_string(c);
	}
	if (first == '-' || (first >= '0' && first <= '9')) {
		node->kind = SCAN_NUMBER;
		return take_number(c);
	}
	return take_word(c, node);
}

/* A scalar whole, or the opening of a container, which becomes c->open. */
static int take_value(struct cursor *c)
{
	struct scan *s = c->s;
	struct scan_node node = { .parent = c->open,
		.next = SCAN_NONE,
		.last = SCAN_NONE,
		.deeper = { SCAN_NONE, SCAN_NONE } };

	if (s->n == s->cap)
		return fail_limit(c, c->at, "too many values");
	if (c->open != SCAN_NONE && s->nodes[c->open].kind == SCAN_OBJECT &&
	    take_key(c, &node) < 0)
		return -1;
	node.at = (uint32_t)c->at;
	if (take_token(c, &node) < 0)
		return -1;
	node.len = (uint32_t)c->at - node.at;
	link_node(c, s->n);
	s->nodes[s->n] = node;
	if (node.kind == SCAN_OBJECT || node.kind == SCAN_ARRAY) {
		c->open = s->n;
		c->depth++;
	}
	s->n++;
	return 0;
}

static void close_container(struct cursor *c)
{
	struct scan_node *node = &c->s->nodes[c->open];

	c->at++;
	node->len = (uint32_t)c->at - node->at;
	c->open = node->parent;
	c->depth--;
}

static char closing(const struct cursor *c)
{
	return c->s->nodes[c->open].kind == SCAN_OBJECT ? '}' : ']';
}

/* Behind a value: close what ends here, up to a comma or the end. */
static int take_ends(struct cursor *c)
{
	while (c->open != SCAN_NONE) {
		skip_space(c);
		if (peek(c) == ',') {
			c->at++;
			skip_space(c);
			return 0;
		}
		if (c->at >= c->s->len)
			return fail_at(c, c->at, "the text ends too early");
		if (peek(c) != closing(c))
			return fail_at(c, c->at,
			    closing(c) == '}' ? "expected , or }"
			                      : "expected , or ]");
		close_container(c);
	}
	return 0;
}

int scan_parse(struct scan *s, struct error *e)
{
	struct cursor c = { .s = s, .e = e, .open = SCAN_NONE };

	s->n = 0;
	s->fault_at = 0;
	if (s->len >= SCAN_TEXT_MAX)
		return fail_limit(&c, 0, "text too long");
	skip_space(&c);
	do {
		uint32_t before = c.open;

		if (take_value(&c) < 0)
			return -1;
		skip_space(&c);
		/* A container that opened: it may close at once, but not
		 * behind a comma. */
		if (c.open != before && peek(&c) != closing(&c))
			continue;
		if (c.open != before)
			close_container(&c);
		if (take_ends(&c) < 0)
			return -1;
	} while (c.open != SCAN_NONE);
	skip_space(&c);
	if (c.at != s->len)
		return fail_at(&c, c.at, "something stands behind the value");
	return 0;
}
