/*
 * audit/json.c - the writer of profile c1.  Linked by the signer.  Values are
 * a supervisor's and may be anything; the form that leaves here is ours.
 */
#include "audit/json.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define NUMBER_TEXT 24
#define BASE64_MAX  128

void json_init(struct json *j, char *data, size_t cap, unsigned depth)
{
	memset(j, 0, sizeof(*j));
	j->data = data;
	j->cap = cap;
	j->depth = depth;
	if (depth > JSON_DEPTH_MAX)
		json_refuse(j, ERROR_STATE, "JSON deeper than the profile");
}

void json_refuse(struct json *j, enum error_kind kind, const char *why)
{
	if (j->why != NULL)
		return;
	j->why = why;
	j->kind = kind;
}

static void put(struct json *j, const char *from, size_t len)
{
	if (j->why != NULL)
		return;
	if (len > j->cap - j->len) {
		json_refuse(j, ERROR_LIMIT, "record longer than a line may be");
		return;
	}
	memcpy(j->data + j->len, from, len);
	j->len += len;
}

/* What stands before a value: a comma, unless a key or nothing precedes. */
static void begin_value(struct json *j)
{
	struct json_level *level = &j->levels[j->depth];

	if (level->closer == '}' && !j->after_key)
		json_refuse(j, ERROR_STATE, "value without a key");
	if (level->closer == ']' && level->n_items > 0)
		put(j, ",", 1);
	level->n_items++;
	j->after_key = false;
}

static void open_level(struct json *j, const char *opener, char closer)
{
	begin_value(j);
	if (j->depth == JSON_DEPTH_MAX) {
		json_refuse(j, ERROR_STATE, "JSON deeper than the profile");
		return;
	}
	put(j, opener, 1);
	j->depth++;
	j->levels[j->depth] = (struct json_level){ .closer = closer };
}

void json_object(struct json *j)
{
	open_level(j, "{", '}');
}

void json_array(struct json *j)
{
	open_level(j, "[", ']');
}

void json_end(struct json *j)
{
	if (j->depth == 0 || j->levels[j->depth].closer == '\0' ||
	    j->after_key) {
		json_refuse(j, ERROR_STATE, "JSON closed too often");
		return;
	}
	put(j, &j->levels[j->depth].closer, 1);
	j->depth--;
}

static bool is_key(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || (*name >= '0' && *name <= '9'))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((name[i] >= 'A' && name[i] <= 'Z') ||
		        (name[i] >= 'a' && name[i] <= 'z') ||
		        (name[i] >= '0' && name[i] <= '9') || name[i] == '_'))
			return false;
	return true;
}

static bool follows(
    const struct json_level *level, const char *name, size_t len)
{
	size_t common = len < level->key_len ? len : level->key_len;
	int order;

	if (level->key == NULL)
		return true;
	order = memcmp(name, level->key, common);
	return order > 0 || (order == 0 && len > level->key_len);
}

void json_key(struct json *j, const char *name)
{
	struct json_level *level = &j->levels[j->depth];
	size_t len = strlen(name);
	size_t at;

	if (!is_key(name))
		json_refuse(j, ERROR_MALFORMED, "name that no key can have");
	if (level->closer != '}' || j->after_key || !follows(level, name, len))
		json_refuse(j, ERROR_STATE, "keys not in order");
	if (level->key != NULL)
		put(j, ",", 1);
	put(j, "\"", 1);
	at = j->len;
	put(j, name, len);
	put(j, "\":", 2);
	if (j->why != NULL)
		return;
	level->key = j->data + at;
	level->key_len = len;
	j->after_key = true;
}

void json_string(struct json *j, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e || text[i] == '"' ||
		    text[i] == '\\')
			json_refuse(j, ERROR_MALFORMED,
			    "text with a byte that no record may hold");
	begin_value(j);
	put(j, "\"", 1);
	put(j, text, len);
	put(j, "\"", 1);
}

void json_number(struct json *j, uint64_t value)
{
	char text[NUMBER_TEXT];
	int len =
	    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	if (value > JSON_NUMBER_MAX)
		json_refuse(j, ERROR_MALFORMED, "number above 2^53-1");
	begin_value(j);
	put(j, text, (size_t)len);
}

void json_truth(struct json *j, bool value)
{
	begin_value(j);
	if (value)
		put(j, "true", 4);
	else
		put(j, "false", 5);
}

void json_prefixed(struct json *j, const char *prefix, struct json_bytes hex)
{
	static const char digits[] = "0123456789abcdef";

	begin_value(j);
	put(j, "\"", 1);
	put(j, prefix, strlen(prefix));
	for (size_t i = 0; i < hex.len; i++) {
		put(j, &digits[hex.from[i] >> 4], 1);
		put(j, &digits[hex.from[i] & 15], 1);
	}
	put(j, "\"", 1);
}

void json_hex(struct json *j, const uint8_t *from, size_t len)
{
	json_prefixed(j, "", (struct json_bytes){ from, len });
}

void json_base64(struct json *j, const uint8_t *from, size_t len)
{
	char text[BASE64_MAX];
	struct text_out out = { text, sizeof(text), 0 };
	struct error e;

	begin_value(j);
	if (text_base64(from, len, &out, &e) < 0)
		json_refuse(j, ERROR_LIMIT, "base64 too long");
	put(j, "\"", 1);
	put(j, text, out.len);
	put(j, "\"", 1);
}

int json_done(const struct json *j, struct error *e)
{
	if (j->why != NULL)
		return FAIL(e, j->kind, "%s", j->why);
	return 0;
}
