/*
 * policy/schema.c - prints the schema of a policy from the parser's tables.
 * Linked by bailiff-policy; pure.  policy/schema.json is what it prints; a test
 * compares, another puts thousands of policies before both.
 */
#include "policy/schema.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/shape.h"

/* JSON in the making; 'failed' sticks. */
struct writer {
	struct text_out *out;
	struct error *e;
	int depth;
	bool first, failed;
};

static void put(struct writer *w, const char *text)
{
	if (!w->failed && text_printf(w->out, w->e, "%s", text) < 0)
		w->failed = true;
}

static void put_text(struct writer *w, const char *text)
{
	if (!w->failed &&
	    text_json_string(text, strlen(text), w->out, w->e) < 0)
		w->failed = true;
}

static void put_line(struct writer *w)
{
	put(w, "\n");
	for (int i = 0; i < w->depth; i++)
		put(w, "  ");
}

/* The place of the next member (or item, without a key). */
static void next(struct writer *w, const char *key)
{
	if (!w->first)
		put(w, ",");
	if (w->depth > 0)
		put_line(w);
	w->first = false;
	if (key == NULL)
		return;
	put_text(w, key);
	put(w, ": ");
}

static void begin(struct writer *w, const char *key, const char *bracket)
{
	next(w, key);
	put(w, bracket);
	w->depth++;
	w->first = true;
}

static void end(struct writer *w, const char *bracket)
{
	w->depth--;
	if (!w->first)
		put_line(w);
	w->first = false;
	put(w, bracket);
}

static void put_member(struct writer *w, const char *key, const char *text)
{
	next(w, key);
	put_text(w, text);
}

static void put_number(struct writer *w, const char *key, uint64_t value)
{
	next(w, key);
	if (!w->failed && text_printf(w->out, w->e, "%" PRIu64, value) < 0)
		w->failed = true;
}

static void put_range(
    struct writer *w, const char *min, const char *max, struct number_range r)
{
	if (r.min > 0 || strcmp(min, "minimum") == 0)
		put_number(w, min, r.min);
	put_number(w, max, r.max);
}

static void put_words(
    struct writer *w, const struct reader_names *words, size_t n)
{
	begin(w, "enum", "[");
	for (size_t i = 0; i < n; i++) {
		next(w, NULL);
		put_text(w, words->items[i]);
	}
	end(w, "]");
}

static void put_calls(struct writer *w)
{
	const char *names[CALLSET_MAX];
	struct callset all;
	size_t n;

	callset_fill(&all);
	n = callset_names(&all, names);
	begin(w, "enum", "[");
	for (size_t i = 0; i < n; i++) {
		next(w, NULL);
		put_text(w, names[i]);
	}
	end(w, "]");
}

/* An object has the keys that its properties name, and no other. */
static void put_closed(struct writer *w)
{
	put_member(w, "type", "object");
	next(w, "additionalProperties");
	put(w, "false");
}

static void put_amount(
    struct writer *w, const char *key, const struct limit_info *info)
{
	begin(w, key, "{");
	put_member(w, "type", "integer");
	put_range(w, "minimum", "maximum",
	    (struct number_range){ info->floor, info->ceiling });
	end(w, "}");
}

static void put_most(
    struct writer *w, const char *key, const struct limit_info *info)
{
	if (!info->may_be_unlimited) {
		put_amount(w, key, info);
		return;
	}
	begin(w, key, "{");
	begin(w, "anyOf", "[");
	put_amount(w, NULL, info);
	begin(w, NULL, "{");
	put_member(w, "const", "unlimited");
	end(w, "}");
	end(w, "]");
	end(w, "}");
}

static void put_limit(struct writer *w, const struct limit_info *info)
{
	begin(w, info->name, "{");
	put_closed(w);
	begin(w, "properties", "{");
	put_most(w, "default", info);
	put_most(w, "max", info);
	end(w, "}");
	end(w, "}");
}

/* Of a compiler: an amount for each, since no request asks. */
static void put_amounts(struct writer *w)
{
	put_closed(w);
	begin(w, "properties", "{");
	for (size_t i = 0; i < LIMIT_N; i++)
		if (parse_binds_compiler((enum limit_id)i))
			put_most(w, limit_table[i].name, &limit_table[i]);
	end(w, "}");
}

static void put_limits(struct writer *w)
{
	put_closed(w);
	begin(w, "properties", "{");
	for (size_t i = 0; i < LIMIT_N; i++)
		put_limit(w, &limit_table[i]);
	end(w, "}");
}

static void put_required(struct writer *w, const struct reader_keys *keys)
{
	size_t n = 0;

	for (size_t i = 0; i < keys->n; i++)
		n += keys->keys[i].required;
	if (n == 0)
		return;
	begin(w, "required", "[");
	for (size_t i = 0; i < keys->n; i++) {
		if (!keys->keys[i].required)
			continue;
		next(w, NULL);
		put_text(w, keys->keys[i].name);
	}
	end(w, "]");
}

static void put_shape(struct writer *w, const char *key, const struct shape *s);

/* NOLINTBEGIN(misc-no-recursion): as deep as the tables, which are ours */
static void put_object(struct writer *w, const struct reader_keys *keys)
{
	put_closed(w);
	if (keys == NULL)
		return;
	put_required(w, keys);
	begin(w, "properties", "{");
	for (size_t i = 0; i < keys->n; i++)
		put_shape(w, keys->keys[i].name, keys->keys[i].shape);
	end(w, "}");
}

static void put_map(struct writer *w, const struct shape *s)
{
	put_member(w, "type", "object");
	put_number(w, "maxProperties", s->range.max);
	begin(w, "propertyNames", "{");
	put_member(w, "pattern", s->pattern);
	put_number(w, "maxLength", POLICY_NAME_MAX - 1);
	end(w, "}");
	put_shape(w, "additionalProperties", s->item);
}

static void put_list(struct writer *w, const struct shape *s)
{
	put_member(w, "type", "array");
	put_range(w, "minItems", "maxItems", s->range);
	if (s->item == NULL)
		return;
	next(w, "uniqueItems");
	put(w, "true");
	put_shape(w, "items", s->item);
}

static void put_bare(struct writer *w, const struct shape *s)
{
	switch (s->kind) {
	case SHAPE_OBJECT:
		put_object(w, s->keys);
		return;
	case SHAPE_LIMITS:
		put_limits(w);
		return;
	case SHAPE_AMOUNTS:
		put_amounts(w);
		return;
	case SHAPE_MAP:
		put_map(w, s);
		return;
	case SHAPE_LIST:
		put_list(w, s);
		return;
	case SHAPE_TEXT:
		put_member(w, "type", "string");
		put_range(w, "minLength", "maxLength", s->range);
		put_member(w, "pattern", s->pattern);
		return;
	case SHAPE_NUMBER:
		put_member(w, "type", "integer");
		put_range(w, "minimum", "maximum", s->range);
		return;
	case SHAPE_WORD:
		put_words(w, s->words, s->n_built);
		return;
	case SHAPE_CALL:
		put_calls(w);
		return;
	case SHAPE_BOOL:
		put_member(w, "type", "boolean");
		return;
	case SHAPE_FALSE:
		next(w, "const");
		put(w, "false");
		return;
	case SHAPE_NEVER:
	default:
		begin(w, "not", "{");
		end(w, "}");
		return;
	}
}

static void put_shape(struct writer *w, const char *key, const struct shape *s)
{
	begin(w, key, "{");
	if (s->about != NULL)
		put_member(w, "description", s->about);
	if (s->group != NULL) {
		char place[64];

		(void)snprintf(place, sizeof(place), "#/$defs/%s", s->group);
		put_member(w, "$ref", place);
	} else if (s->instead != NULL) {
		begin(w, "anyOf", "[");
		begin(w, NULL, "{");
		put_bare(w, s);
		end(w, "}");
		put_shape(w, NULL, s->instead);
		end(w, "]");
	} else {
		put_bare(w, s);
	}
	end(w, "}");
}
/* NOLINTEND(misc-no-recursion) */

int schema_print(struct text_out *out, struct error *e)
{
	static const struct shape *const groups[] = { &shape_language,
		&shape_limits, &shape_capabilities };
	struct writer w = { .out = out, .e = e, .first = true };

	begin(&w, NULL, "{");
	put_member(
	    &w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put_member(&w, "$id", "urn:bailiff:policy:1");
	put_member(&w, "title", "A policy of Bailiff, version 1");
	put_member(&w, "description",
	    "What a schema cannot say is listed in bailiff-policy(5).");
	put_object(&w, &parse_policy_keys);
	begin(&w, "$defs", "{");
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		begin(&w, groups[i]->group, "{");
		put_bare(&w, groups[i]);
		end(&w, "}");
	}
	end(&w, "}");
	end(&w, "}");
	put(&w, "\n");
	return w.failed ? -1 : 0;
}
