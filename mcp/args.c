/*
 * mcp/args.c - arguments of tools.  Linked by bailiff-mcp.  Hostile JSON that
 * has been scanned becomes a plain struct; no effect but memory.
 */
#include "mcp/args.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"

#define NAME_BYTES_MAX 128
#define NAMES_NODES    (ARGS_NAMES_MAX + 1)
#define SHOWN_MAX      80

struct reading {
	const struct scan *s;
	const struct argument *row;
	struct error *e;
};

static int wrong(const struct reading *r, const char *what)
{
	return FAIL(r->e, ERROR_USAGE, "'%s': %s", r->row->name, what);
}

static void *place_of(const struct argument *row, struct args *to)
{
	return (char *)to + row->offset;
}

static int take_text(const struct scan *s, uint32_t node, size_t max,
    struct args_text *ret, const char **ret_why)
{
	size_t room = s->nodes[node].len;
	char *data;

	if (s->nodes[node].kind != SCAN_STRING) {
		*ret_why = "must be a string";
		return -1;
	}
	data = malloc(room + 1);
	if (data == NULL) {
		*ret_why = "no memory for it";
		return -1;
	}
	if (scan_string(s, node, data, room + 1, &ret->len) < 0) {
		free(data);
		*ret_why = "holds an unpaired surrogate (\\ud800 to \\udfff), "
		           "which no text can hold";
		return -1;
	}
	ret->data = data;
	if (ret->len > max) {
		*ret_why = "is too long";
		return -1;
	}
	return 0;
}

static int read_text(const struct reading *r, uint32_t node, void *to)
{
	struct args_text *text = to;
	const char *why = "";
	uint64_t max = r->row->max != 0 ? r->row->max : UINT32_MAX;

	if (take_text(r->s, node, (size_t)max, text, &why) < 0)
		return wrong(r, why);
	return 0;
}

static int read_word(const struct reading *r, uint32_t node, void *to)
{
	const struct args_text *text = to;

	if (read_text(r, node, to) < 0)
		return -1;
	if (strlen(text->data) != text->len)
		return wrong(r, "holds NUL");
	return 0;
}

static int read_run_id(const struct reading *r, uint32_t node, void *to)
{
	const struct args_text *text = to;

	if (read_text(r, node, to) < 0)
		return -1;
	if (text->len != PROTOCOL_RUN_ID_MAX - 1 ||
	    strncmp(text->data, "r_", 2) != 0 ||
	    strspn(text->data + 2, "0123456789abcdef") !=
	        PROTOCOL_RUN_ID_MAX - 3)
		return wrong(r, "must be r_ and 32 hex digits, as a result "
		                "gave it");
	return 0;
}

/* Digits, in quotes or not, and ".0" behind them at most. */
static bool digits_of(
    const struct scan *s, uint32_t node, char ret[24], size_t *ret_len)
{
	const struct scan_node *n = &s->nodes[node];
	size_t len;

	if (n->kind == SCAN_STRING) {
		if (scan_string(s, node, ret, 24, &len) < 0)
			return false;
	} else if (n->kind == SCAN_NUMBER && n->len < 24) {
		memcpy(ret, s->text + n->at, n->len);
		ret[n->len] = '\0';
		len = n->len;
	} else {
		return false;
	}
	if (len > 2 && strcmp(ret + len - 2, ".0") == 0)
		len -= 2;
	ret[len] = '\0';
	*ret_len = len;
	return len > 0 && len < 16 && strspn(ret, "0123456789") == len;
}

static int read_number(const struct reading *r, uint32_t node, void *to)
{
	const struct argument *row = r->row;
	uint64_t value = 0;
	char digits[24];
	size_t len;

	if (!digits_of(r->s, node, digits, &len))
		return FAIL(r->e, ERROR_USAGE,
		    "'%s': must be a whole number, %" PRIu64 " to %" PRIu64,
		    row->name, row->min, row->max);
	for (size_t i = 0; i < len; i++)
		value = value * 10 + (uint64_t)(digits[i] - '0');
	if (value < row->min || value > row->max)
		return FAIL(r->e, ERROR_USAGE,
		    "'%s': %" PRIu64 " is out of range, %" PRIu64
		    " to %" PRIu64,
		    row->name, value, row->min, row->max);
	*(uint64_t *)to = value;
	return 0;
}

static int read_flag(const struct reading *r, uint32_t node, void *to)
{
	char text[8] = "";
	size_t len;

	if (scan_string(r->s, node, text, sizeof(text), &len) < 0)
		text[0] = '\0'; /* no string, or a long one */
	if (r->s->nodes[node].kind == SCAN_TRUE || strcmp(text, "true") == 0)
		*(bool *)to = true;
	else if (r->s->nodes[node].kind != SCAN_FALSE &&
	         strcmp(text, "false") != 0)
		return wrong(r, "must be true or false");
	return 0;
}

static int take_names(const struct reading *r, const struct scan *s,
    uint32_t node, struct args_names *names)
{
	const char *why = "";

	if (s->nodes[node].kind != SCAN_ARRAY)
		return wrong(r, "must be a list of strings");
	for (uint32_t i = scan_first(s, node); i != SCAN_NONE;
	     i = s->nodes[i].next) {
		if (names->n == ARGS_NAMES_MAX)
			return wrong(r, "holds more than 64 names");
		if (take_text(s, i, NAME_BYTES_MAX, &names->items[names->n++],
		        &why) < 0)
			return wrong(r, why);
	}
	return 0;
}

/* A list, or a string that holds the JSON of a list. */
static int read_names(const struct reading *r, uint32_t node, void *to)
{
	struct scan_node nodes[NAMES_NODES];
	struct args_text text = { NULL, 0 };
	const char *why = "";
	struct error ignored;
	struct scan inner = {
		.nodes = nodes, .cap = NAMES_NODES, .max_depth = 1
	};
	int result;

	if (r->s->nodes[node].kind != SCAN_STRING)
		return take_names(r, r->s, node, to);
	if (take_text(r->s, node, UINT32_MAX, &text, &why) < 0) {
		free(text.data);
		return wrong(r, why);
	}
	inner.text = text.data;
	inner.len = text.len;
	result = scan_parse(&inner, &ignored) < 0
	             ? wrong(r, "must be a list of strings")
	             : take_names(r, &inner, 0, to);
	free(text.data);
	return result;
}

static int decode_base64(const struct reading *r, struct args_text *content)
{
	struct text_out out = { NULL, content->len + 1, 0 };
	struct error ignored;

	out.data = malloc(out.cap);
	if (out.data == NULL)
		return wrong(r, "no memory for it");
	if (text_base64_decode(content->data, content->len, &out, &ignored) <
	    0) {
		free(out.data);
		return wrong(r, "a content is not base64 with padding");
	}
	free(content->data);
	out.data[out.len] = '\0';
	*content = (struct args_text){ out.data, out.len };
	return 0;
}

/* The members of one file; any other is a mistake worth a word. */
static int check_members(const struct reading *r, uint32_t node)
{
	static const char *const known[] = { "path", "content", "encoding" };
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		n += scan_member(r->s, node, known[i]) != SCAN_NONE;
	if (r->s->nodes[node].kind != SCAN_OBJECT || n != r->s->nodes[node].n)
		return wrong(r, "each must be an object of path, content and, "
		                "if wanted, encoding");
	return 0;
}

static int read_file(
    const struct reading *r, uint32_t node, struct args_file *file)
{
	uint32_t path = scan_member(r->s, node, "path");
	uint32_t content = scan_member(r->s, node, "content");
	uint32_t encoding = scan_member(r->s, node, "encoding");
	const char *why = "";
	char word[8] = "utf-8";
	size_t len;

	if (check_members(r, node) < 0)
		return -1;
	if (path == SCAN_NONE || content == SCAN_NONE)
		return wrong(r, "each needs a path and a content");
	if (take_text(r->s, path, PROTOCOL_NAME_MAX - 1, &file->path, &why) <
	        0 ||
	    take_text(r->s, content, UINT32_MAX, &file->content, &why) < 0)
		return wrong(r, why);
	if (strlen(file->path.data) != file->path.len)
		return wrong(r, "a path holds NUL");
	if (encoding != SCAN_NONE &&
	    (r->s->nodes[encoding].kind != SCAN_STRING ||
	        scan_string(r->s, encoding, word, sizeof(word), &len) < 0))
		word[0] = '\0';
	if (strcmp(word, "base64") == 0)
		return decode_base64(r, &file->content);
	if (strcmp(word, "utf-8") != 0)
		return wrong(r, "an encoding is neither utf-8 nor base64");
	return 0;
}

static int read_files(const struct reading *r, uint32_t node, void *to)
{
	struct args_files *files = to;

	if (r->s->nodes[node].kind != SCAN_ARRAY)
		return wrong(r, "must be a list of objects");
	for (uint32_t i = scan_first(r->s, node); i != SCAN_NONE;
	     i = r->s->nodes[i].next) {
		if (files->n == PROTOCOL_INPUTS_MAX)
			return wrong(r, "at most 8 files go along");
		if (r->s->nodes[i].kind != SCAN_OBJECT)
			return wrong(r, "must be a list of objects");
		if (read_file(r, i, &files->items[files->n++]) < 0)
			return -1;
	}
	return 0;
}

static int (*const readers[])(
    const struct reading *r, uint32_t node, void *to) = {
	[ARGUMENT_TEXT] = read_text,
	[ARGUMENT_WORD] = read_word,
	[ARGUMENT_NUMBER] = read_number,
	[ARGUMENT_FLAG] = read_flag,
	[ARGUMENT_NAMES] = read_names,
	[ARGUMENT_FILES] = read_files,
	[ARGUMENT_RUN_ID] = read_run_id,
};

static const struct argument *row_of(
    const struct args_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->rows[i].name, name) == 0)
			return &table->rows[i];
	return NULL;
}

/* The key as a person may read it, and the names there are. */
static int unknown(
    const struct args_table *table, const char *key, struct error *e)
{
	char shown[4 * SHOWN_MAX];
	char names[256] = "";
	struct text_out out = { shown, sizeof(shown) - 1, 0 };
	struct text_out list = { names, sizeof(names), 0 };
	struct error ignored;
	size_t len = strlen(key);

	(void)text_escape(
	    key, len < SHOWN_MAX ? len : SHOWN_MAX, TEXT_KEEP_NONE, &out);
	shown[out.len] = '\0';
	for (size_t i = 0; i < table->n; i++)
		if (text_printf(&list, &ignored, "%s%s", i > 0 ? ", " : "",
		        table->rows[i].name) < 0)
			break;
	return FAIL(e, ERROR_USAGE, "'%s': no such argument; there is: %s",
	    shown, table->n > 0 ? names : "none");
}

static int read_one(const struct scan *s, uint32_t node,
    const struct args_table *table, struct args *ret, struct error *e)
{
	struct reading r = { s, NULL, e };
	char key[SCAN_KEY_MAX + 1];

	if (scan_key(s, node, key, sizeof(key)) < 0)
		return FAIL(e, ERROR_USAGE, "an argument without a name");
	r.row = row_of(table, key);
	if (r.row == NULL)
		return unknown(table, key, e);
	if (s->nodes[node].kind == SCAN_NULL)
		return r.row->required ? wrong(&r, "is null, and required") : 0;
	return readers[r.row->kind](&r, node, place_of(r.row, ret));
}

int args_read(const struct scan *s, uint32_t node,
    const struct args_table *table, struct args *ret, struct error *e)
{
	for (uint32_t i = node != SCAN_NONE ? scan_first(s, node) : SCAN_NONE;
	     i != SCAN_NONE; i = s->nodes[i].next)
		if (read_one(s, i, table, ret, e) < 0)
			return -1;
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i].required &&
		    (node == SCAN_NONE ||
		        scan_member(s, node, table->rows[i].name) == SCAN_NONE))
			return FAIL(e, ERROR_USAGE, "'%s': is missing",
			    table->rows[i].name);
	return 0;
}

void args_done(struct args *a)
{
	struct args_text *const texts[] = { &a->code, &a->language, &a->input,
		&a->run_id, &a->path };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]->data);
	for (size_t i = 0; i < a->libraries.n; i++)
		free(a->libraries.items[i].data);
	for (size_t i = 0; i < a->files.n; i++) {
		free(a->files.items[i].path.data);
		free(a->files.items[i].content.data);
	}
	memset(a, 0, sizeof(*a));
}
