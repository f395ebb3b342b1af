/*
 * cli/sheet.c - answers as JSON or as lines.  Linked by bailiff-policy.  What
 * it prints may hold names and texts of others.
 */
#include "cli/sheet.h"

#include <inttypes.h>
#include <string.h>

#include "cli/say.h"

#define KEY_WIDTH   16
#define INDENT      2
#define COLUMNS_MAX 78

static void put(struct sheet *s, const char *text)
{
	struct error full;

	if (text_printf(&s->out, &full, "%s", text) < 0)
		s->failed = true;
}

static void put_byte(struct sheet *s, char byte)
{
	struct error full;
	bool plain = byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
	int failed = plain ? text_printf(&s->out, &full, "%c", byte)
	                   : text_printf(&s->out, &full, "\\\\x%02x",
	                         (unsigned int)(unsigned char)byte);

	s->failed = s->failed || failed < 0;
}

static void put_quoted(struct sheet *s, const char *text)
{
	struct error bad;

	if (text_json_string(text, strlen(text), &s->out, &bad) == 0)
		return;
	s->failed = s->failed || bad.kind != ERROR_MALFORMED;
	/* A path of the host may be no UTF-8; then its bytes are shown. */
	put(s, "\"");
	for (; *text != '\0' && !s->failed; text++)
		put_byte(s, *text);
	put(s, "\"");
}

static void put_escaped(struct sheet *s, const char *text)
{
	size_t len = strlen(text);

	if (text_escape(text, len, TEXT_KEEP_NONE, &s->out) < len)
		s->failed = true;
}

/* The key of a member or the place of an item. */
static void put_key(struct sheet *s, const char *key)
{
	size_t from;

	if (s->json) {
		put(s, s->first ? "" : ",");
		s->first = false;
		if (key == NULL)
			return;
		put_quoted(s, key);
		put(s, ":");
		return;
	}
	for (int i = 1; i < s->depth; i++)
		put(s, "  ");
	from = s->out.len;
	put_escaped(s, key);
	do
		put(s, " ");
	while (!s->failed && s->out.len - from < KEY_WIDTH);
	s->column = (size_t)(s->depth - 1) * INDENT + s->out.len - from;
}

void sheet_begin(struct sheet *s, const char *key)
{
	if (s->out.data == NULL) {
		s->out = (struct text_out){ s->text, sizeof(s->text), 0 };
		s->first = true;
	}
	if (s->json) {
		put_key(s, key);
		put(s, "{");
		s->first = true;
	} else if (key != NULL) {
		for (int i = 1; i < s->depth; i++)
			put(s, "  ");
		put_escaped(s, key);
		put(s, "\n");
	}
	s->depth++;
}

void sheet_end(struct sheet *s)
{
	s->depth--;
	s->first = false;
	if (s->json)
		put(s, "}");
}

void sheet_list(struct sheet *s, const char *key)
{
	put_key(s, key);
	s->items = 0;
	if (!s->json)
		return;
	put(s, "[");
	s->first = true;
}

/* For a person: behind a comma, on a new line when this one is full. */
void sheet_item(struct sheet *s, const char *text)
{
	size_t indent = (size_t)(s->depth - 1) * INDENT + KEY_WIDTH;
	size_t len = strlen(text);

	if (s->json) {
		put_key(s, NULL);
		put_quoted(s, text);
		return;
	}
	if (s->items++ > 0) {
		put(s, ",");
		if (s->column + len + 2 > COLUMNS_MAX) {
			put(s, "\n");
			for (s->column = 0; s->column < indent; s->column++)
				put(s, " ");
		} else {
			put(s, " ");
			s->column += 2;
		}
	}
	put_escaped(s, text);
	s->column += len;
}

void sheet_list_end(struct sheet *s)
{
	s->first = false;
	if (s->json)
		put(s, "]");
	else
		put(s, s->items == 0 ? "none\n" : "\n");
}

void sheet_text(struct sheet *s, const char *key, const char *text)
{
	put_key(s, key);
	if (s->json) {
		put_quoted(s, text);
		return;
	}
	put_escaped(s, text);
	put(s, "\n");
}

void sheet_number(struct sheet *s, const char *key, uint64_t value)
{
	struct error full;

	put_key(s, key);
	if (text_printf(&s->out, &full, "%" PRIu64 "%s", value,
	        s->json ? "" : "\n") < 0)
		s->failed = true;
}

void sheet_flag(struct sheet *s, const char *key, bool value)
{
	put_key(s, key);
	if (s->json)
		put(s, value ? "true" : "false");
	else
		put(s, value ? "yes\n" : "no\n");
}

int sheet_print(struct sheet *s)
{
	if (s->json)
		put(s, "\n");
	if (!s->failed)
		return say_out(s->text, s->out.len);
	say_line("the answer does not fit in memory");
	return 1;
}
