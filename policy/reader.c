/*
 * policy/reader.c - tables of keys over the strict scanner.  Linked by
 * bailiff-policy and the supervisor; pure.  The text may be anything.
 */
#include "policy/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "policy/nearest.h"

/* A fault's text before it is escaped into its place. */
#define FAULT_RAW_MAX 384

/* The next place for a fault, or NULL when only counting is left. */
static struct policy_fault *fault_new(struct reader *r)
{
	struct policy_faults *faults = r->faults;
	struct policy_fault *fault;
	size_t len = strlen(r->name);

	if (faults->n == POLICY_ERRORS_MAX) {
		faults->more++;
		return NULL;
	}
	fault = &faults->items[faults->n++];
	memset(fault, 0, sizeof(*fault));
	if (len >= sizeof(fault->file))
		len = sizeof(fault->file) - 1;
	memcpy(fault->file, r->name + strlen(r->name) - len, len);
	return fault;
}

/* One reference token of a JSON pointer (RFC 6901), made printable. */
static void put_token(const char *token, struct text_out *out)
{
	char escaped[SCAN_KEY_MAX * 2];
	size_t n = 0;

	for (; *token != '\0' && n + 2 < sizeof(escaped); token++) {
		if (*token == '~' || *token == '/')
			escaped[n++] = '~';
		if (*token == '~')
			escaped[n++] = '0';
		else if (*token == '/')
			escaped[n++] = '1';
		else
			escaped[n++] = *token;
	}
	if (out->len < out->cap)
		out->data[out->len++] = '/';
	(void)text_escape(escaped, n, TEXT_KEEP_NONE, out);
}

static uint32_t index_among_siblings(const struct scan *s, uint32_t node)
{
	uint32_t index = 0;

	for (uint32_t i = scan_first(s, s->nodes[node].parent); i != node;
	     i = s->nodes[i].next)
		index++;
	return index;
}

static void put_pointer(
    const struct scan *s, uint32_t node, struct text_out *out)
{
	uint32_t path[READER_DEPTH_MAX + 1];
	size_t depth = 0;

	for (; s->nodes[node].parent != SCAN_NONE; node = s->nodes[node].parent)
		path[depth++] = node;
	while (depth > 0) {
		char token[SCAN_KEY_MAX + 1];
		uint32_t at = path[--depth];

		if (scan_key(s, at, token, sizeof(token)) < 0)
			(void)snprintf(token, sizeof(token), "%" PRIu32,
			    index_among_siblings(s, at));
		put_token(token, out);
	}
}

/* 'at' is the offset of what is wrong: a value or its key. */
static void fault_at(
    struct reader *r, uint32_t node, uint32_t at, const char *raw)
{
	struct policy_fault *fault = fault_new(r);
	struct text_out pointer;
	struct text_out text;

	if (fault == NULL)
		return;
	text = (struct text_out){ fault->text, sizeof(fault->text) - 1, 0 };
	/* The text may quote what the file says. */
	(void)text_escape(raw, strlen(raw), TEXT_KEEP_NONE, &text);
	if (node == SCAN_NONE)
		return;
	scan_place(&r->scan, at, &fault->line, &fault->column);
	pointer =
	    (struct text_out){ fault->pointer, sizeof(fault->pointer) - 1, 0 };
	put_pointer(&r->scan, node, &pointer);
}

void reader_fault(struct reader *r, uint32_t node, const char *format, ...)
{
	char raw[FAULT_RAW_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	fault_at(r, node, node != SCAN_NONE ? r->scan.nodes[node].at : 0, raw);
}

int reader_open(struct reader *r, const struct policy_text *text)
{
	struct policy_fault *fault;
	struct error e = { 0 };

	r->name = text->name;
	r->scan = (struct scan){
		.text = text->data,
		.len = text->len,
		.nodes = r->nodes,
		.cap = READER_NODES_MAX,
		.max_depth = READER_DEPTH_MAX,
	};
	if (text->len > POLICY_TEXT_MAX) {
		reader_fault(
		    r, SCAN_NONE, "more than %d bytes", POLICY_TEXT_MAX);
		return -1;
	}
	if (scan_parse(&r->scan, &e) == 0)
		return 0;
	fault = fault_new(r);
	if (fault == NULL)
		return -1;
	(void)snprintf(fault->text, sizeof(fault->text), "%.200s", e.text);
	scan_place(&r->scan, r->scan.fault_at, &fault->line, &fault->column);
	return -1;
}

static const char *const kind_words[] = {
	[SCAN_OBJECT] = "an object",
	[SCAN_ARRAY] = "a list",
	[SCAN_STRING] = "a text in quotes",
	[SCAN_NUMBER] = "a number",
	[SCAN_TRUE] = "true or false",
	[SCAN_FALSE] = "true or false",
	[SCAN_NULL] = "null",
};

bool reader_is(struct reader *r, uint32_t node, enum scan_kind kind)
{
	enum scan_kind is = r->scan.nodes[node].kind;

	if (is == kind)
		return true;
	reader_fault(r, node, "expected %s, this is %s", kind_words[kind],
	    is == SCAN_TRUE    ? "true"
	    : is == SCAN_FALSE ? "false"
	                       : kind_words[is]);
	return false;
}

/* "unknown WHAT "WORD"; ..." with the nearest known word, or all of them. */
static void say_unknown(char raw[FAULT_RAW_MAX], const char *what,
    const char *word, const struct reader_names *known)
{
	size_t nearest = nearest_word(word, known->items, known->n);
	char list[160] = "none";
	size_t len = 0;

	if (nearest < known->n) {
		(void)snprintf(raw, FAULT_RAW_MAX,
		    "unknown %s \"%.64s\"; did you mean \"%s\"?", what, word,
		    known->items[nearest]);
		return;
	}
	for (size_t i = 0; i < known->n && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
		    i > 0 ? ", " : "", known->items[i]);
	(void)snprintf(raw, FAULT_RAW_MAX,
	    "unknown %s \"%.64s\"; there are: %s", what, word, list);
}

void reader_unknown_key(struct reader *r, uint32_t node, const char *what,
    const struct reader_names *known)
{
	char word[SCAN_KEY_MAX + 1];
	char raw[FAULT_RAW_MAX];

	if (scan_key(&r->scan, node, word, sizeof(word)) < 0)
		word[0] = '\0';
	say_unknown(raw, what, word, known);
	fault_at(r, node, r->scan.nodes[node].key_at, raw);
}

static void check_keys(
    struct reader *r, uint32_t node, const struct reader_keys *keys)
{
	struct reader_names names = { .n = 0 };

	for (size_t i = 0; i < keys->n; i++)
		names.items[names.n++] = keys->keys[i].name;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char key[SCAN_KEY_MAX + 1] = "";
		bool known = false;

		if (scan_key(&r->scan, i, key, sizeof(key)) == 0)
			for (size_t j = 0; j < keys->n; j++)
				known = known ||
				        strcmp(keys->keys[j].name, key) == 0;
		if (!known)
			reader_unknown_key(r, i, "key", &names);
	}
}

void reader_object(
    struct reader *r, uint32_t node, const struct reader_keys *keys, void *to)
{
	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	check_keys(r, node, keys);
	for (size_t i = 0; i < keys->n; i++) {
		const struct reader_key *key = &keys->keys[i];
		uint32_t member = scan_member(&r->scan, node, key->name);

		if (member != SCAN_NONE)
			key->take(r, member, (char *)to + key->offset);
		else if (key->required)
			reader_fault(r, node, "%s needs the key \"%s\"",
			    keys->what, key->name);
	}
}

/* Beyond ASCII it takes the tables of base/text.c. */
static bool is_plain_text(const char *text, size_t len)
{
	char copy[POLICY_PATH_MAX];
	struct text_out out = { copy, sizeof(copy), 0 };

	/* TEXT_KEEP_LINES also keeps the backslash, newline and tab. */
	return strpbrk(text, "\n\t") == NULL &&
	       text_escape(text, len, TEXT_KEEP_LINES, &out) == len &&
	       out.len == len;
}

bool reader_plain(const char *text)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] <= '~')
		n++;
	if (text[n] == '\0')
		return n <= POLICY_PATH_MAX;
	return is_plain_text(text, strlen(text));
}

bool reader_text(struct reader *r, uint32_t node, char *ret, size_t cap)
{
	size_t len;

	if (!reader_is(r, node, SCAN_STRING))
		return false;
	if (scan_string(&r->scan, node, ret, cap, &len) < 0) {
		reader_fault(r, node, "longer than %zu bytes", cap - 1);
		return false;
	}
	if (len == 0) {
		reader_fault(r, node, "an empty text");
		return false;
	}
	if (strlen(ret) == len && reader_plain(ret))
		return true;
	reader_fault(r, node, "control or invisible characters in it");
	return false;
}

bool reader_name(struct reader *r, uint32_t node, char *ret, size_t cap)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";

	if (!reader_text(r, node, ret, cap))
		return false;
	if (strspn(ret, letters) == strlen(ret) &&
	    strchr("._-", ret[0]) == NULL)
		return true;
	reader_fault(r, node,
	    "not a name; write a-z, 0-9, and . _ - behind the first letter");
	return false;
}

bool reader_number(
    struct reader *r, uint32_t node, struct number_range range, uint64_t *ret)
{
	uint64_t value;

	if (!reader_is(r, node, SCAN_NUMBER))
		return false;
	if (!scan_u64(&r->scan, node, &value)) {
		reader_fault(r, node,
		    "not a whole number from %" PRIu64 " to %" PRIu64
		    "; write digits only",
		    range.min, range.max);
		return false;
	}
	if (value < range.min || value > range.max) {
		reader_fault(r, node,
		    "%" PRIu64 " is out of range; write %" PRIu64
		    " to %" PRIu64,
		    value, range.min, range.max);
		return false;
	}
	*ret = value;
	return true;
}

bool reader_bool(struct reader *r, uint32_t node, bool *ret)
{
	if (r->scan.nodes[node].kind == SCAN_FALSE) {
		*ret = false;
		return true;
	}
	if (!reader_is(r, node, SCAN_TRUE))
		return false;
	*ret = true;
	return true;
}

bool reader_word(struct reader *r, uint32_t node,
    const struct reader_names *words, size_t *ret)
{
	char word[SCAN_KEY_MAX + 1];
	char raw[FAULT_RAW_MAX];
	size_t len;

	if (!reader_is(r, node, SCAN_STRING))
		return false;
	if (scan_string(&r->scan, node, word, sizeof(word), &len) < 0 ||
	    strlen(word) != len)
		word[0] = '\0';
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(word, words->items[i]) == 0) {
			*ret = i;
			return true;
		}
	say_unknown(raw, "word", word, words);
	reader_fault(r, node, "%s", raw);
	return false;
}
