/*
 * audit/trace_file.c - the lines of a trace, found and put in order.  Linked by
 * bailiff-audit.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/trace_show.h"

static int by_seq(const void *a, const void *b)
{
	const struct trace_line *x = a;
	const struct trace_line *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int scan_line(const struct trace_file *f, const struct trace_line *l,
    struct scan *ret, struct error *e)
{
	*ret = (struct scan){ .text = f->text + l->at,
		.len = l->len,
		.nodes = f->nodes,
		.cap = TRACE_NODES_MAX,
		.max_depth = 4 };
	if (scan_parse(ret, e) < 0)
		return -1;
	if (ret->nodes[0].kind != SCAN_OBJECT)
		return FAIL(e, ERROR_MALFORMED, "no object");
	return 0;
}

static bool is_type(const struct scan *s, const char *type)
{
	char word[16];
	size_t len;
	uint32_t node = scan_member(s, 0, "type");

	return node != SCAN_NONE && s->nodes[node].kind == SCAN_STRING &&
	       scan_string(s, node, word, sizeof(word), &len) == 0 &&
	       strcmp(word, type) == 0;
}

static bool number(const struct scan *s, const char *key, uint64_t *ret)
{
	uint32_t node = scan_member(s, 0, key);

	return node != SCAN_NONE && s->nodes[node].kind == SCAN_NUMBER &&
	       scan_u64(s, node, ret);
}

static int take_line(
    struct trace_file *f, struct trace_line *line, size_t n, struct error *e)
{
	struct scan s;

	if (line->len > TRACE_LINE_MAX)
		return FAIL(e, ERROR_MALFORMED, "too long");
	if (scan_line(f, line, &s, e) < 0)
		return -1;
	if (n == 0) {
		f->head = *line;
		if (!is_type(&s, "header") ||
		    !number(&s, "at_ns", &f->start_ns))
			return FAIL(e, ERROR_MALFORMED, "no header");
		return 0;
	}
	if (f->books.len > 0)
		return FAIL(e, ERROR_MALFORMED, "behind the books");
	if (is_type(&s, "books")) {
		f->books = *line;
		return 0;
	}
	if (!number(&s, "seq", &line->seq))
		return FAIL(e, ERROR_MALFORMED, "no seq");
	f->lines[f->n++] = *line;
	return 0;
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

static int take_all(struct trace_file *f, struct error *e)
{
	size_t n = 0;

	for (size_t at = 0; at < f->len; n++) {
		const char *end = memchr(f->text + at, '\n', f->len - at);
		struct trace_line line = { .at = at };

		if (end == NULL)
			return FAIL(
			    e, ERROR_MALFORMED, "line %zu: not whole", n + 1);
		line.len = (size_t)(end - f->text) - at;
		if (take_line(f, &line, n, e) < 0)
			return FAIL_IN(e, "line %zu", n + 1);
		at += line.len + 1;
	}
	if (f->head.len == 0 || f->books.len == 0)
		return FAIL(e, ERROR_MALFORMED, "no closing books");
	return 0;
}

int trace_file_open(
    const char *text, size_t len, struct trace_file *ret, struct error *e)
{
	struct trace_file f = { .text = text, .len = len };

	f.lines = calloc(count_lines(text, len) + 1, sizeof(f.lines[0]));
	f.nodes = calloc(TRACE_NODES_MAX, sizeof(f.nodes[0]));
	f.value = malloc(TRACE_VALUE_MAX);
	if (f.lines == NULL || f.nodes == NULL || f.value == NULL) {
		trace_file_close(&f);
		return FAIL_SYS(e, "allocate");
	}
	if (take_all(&f, e) < 0) {
		trace_file_close(&f);
		return -1;
	}
	qsort(f.lines, f.n, sizeof(f.lines[0]), by_seq);
	*ret = f;
	return 0;
}

void trace_file_close(struct trace_file *f)
{
	free(f->lines);
	free(f->nodes);
	f->lines = NULL;
	free(f->value);
	f->nodes = NULL;
	f->value = NULL;
}
