/*
 * audit/trace_counts.c - the books of a trace as a table.  Linked by
 * bailiff-audit.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/trace_show.h"

#define NAME_MAX_BYTES 40
#define ROWS_MAX       2048

struct row {
	char name[NAME_MAX_BYTES], plane[NAME_MAX_BYTES];
	uint64_t enter, ok, error, denied;
	uint32_t node;
	uint64_t nr;
};

static uint64_t number(const struct scan *s, uint32_t object, const char *key)
{
	uint32_t node = scan_member(s, object, key);
	uint64_t value = 0;

	if (node == SCAN_NONE || s->nodes[node].kind != SCAN_NUMBER ||
	    !scan_u64(s, node, &value))
		return 0;
	return value;
}

static bool word(const struct scan *s, uint32_t object, const char *key,
    char ret[NAME_MAX_BYTES])
{
	uint32_t node = scan_member(s, object, key);
	size_t len;

	ret[0] = '\0';
	return node != SCAN_NONE && s->nodes[node].kind == SCAN_STRING &&
	       scan_string(s, node, ret, NAME_MAX_BYTES, &len) == 0;
}

static int by_frequency(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;
	uint64_t n = x->enter + x->denied;
	uint64_t m = y->enter + y->denied;

	return (n < m) - (n > m);
}

/* Calls of the program itself; our own set-up is not its doing. */
static size_t read_rows(const struct scan *s, struct row *rows)
{
	uint32_t list = scan_member(s, 0, "calls");
	size_t n = 0;

	if (list == SCAN_NONE || s->nodes[list].kind != SCAN_ARRAY)
		return 0;
	for (uint32_t i = scan_first(s, list); i != SCAN_NONE && n < ROWS_MAX;
	     i = s->nodes[i].next) {
		struct row *r = &rows[n];

		if (s->nodes[i].kind != SCAN_OBJECT ||
		    !word(s, i, "plane", r->plane) ||
		    strcmp(r->plane, "setup") == 0)
			continue;
		r->nr = number(s, i, "nr");
		if (!word(s, i, "call", r->name))
			(void)snprintf(r->name, sizeof(r->name),
			    "%.16s call %" PRIu64, r->plane, r->nr);
		r->enter = number(s, i, "enter");
		r->ok = number(s, i, "ok");
		r->error = number(s, i, "error");
		r->denied = number(s, i, "denied");
		n++;
	}
	qsort(rows, n, sizeof(rows[0]), by_frequency);
	return n;
}

/* Behind a row: "ENOENT 12, EACCES 1". */
static int put_errors(const struct scan *s, const struct row *r,
    struct text_out *out, struct error *e)
{
	uint32_t list = scan_member(s, 0, "errors");
	const char *before = "  ";

	if (list == SCAN_NONE || s->nodes[list].kind != SCAN_ARRAY)
		return 0;
	for (uint32_t i = scan_first(s, list); i != SCAN_NONE;
	     i = s->nodes[i].next) {
		char name[NAME_MAX_BYTES];

		if (s->nodes[i].kind != SCAN_OBJECT ||
		    number(s, i, "nr") != r->nr || !word(s, i, "plane", name) ||
		    strcmp(name, r->plane) != 0)
			continue;
		if (!word(s, i, "error", name))
			(void)snprintf(name, sizeof(name), "%" PRIu64,
			    number(s, i, "errno"));
		if (text_printf(out, e, "%s", before) < 0 ||
		    text_escape(name, strlen(name), TEXT_KEEP_NONE, out) == 0 ||
		    text_printf(out, e, " %" PRIu64, number(s, i, "n")) < 0)
			return -1;
		before = ", ";
	}
	return 0;
}

static int put_rows(const struct scan *s, struct row *rows,
    struct text_out *out, struct error *e)
{
	size_t n = read_rows(s, rows);

	if (text_printf(out, e, "%-24s %9s %9s %9s %9s\n", "call", "made", "ok",
	        "failed", "denied") < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		char shown[4 * NAME_MAX_BYTES + 1];
		struct text_out to = { shown, sizeof(shown) - 1, 0 };

		(void)text_escape(
		    rows[i].name, strlen(rows[i].name), TEXT_KEEP_NONE, &to);
		shown[to.len] = '\0';
		if (text_printf(out, e,
		        "%-24s %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		        " %9" PRIu64,
		        shown, rows[i].enter, rows[i].ok, rows[i].error,
		        rows[i].denied) < 0 ||
		    put_errors(s, &rows[i], out, e) < 0 ||
		    text_printf(out, e, "\n") < 0)
			return -1;
	}
	return 0;
}

int trace_show_counts(
    struct trace_file *f, struct text_out *out, struct error *e)
{
	struct scan s = { .text = f->text + f->books.at,
		.len = f->books.len,
		.nodes = f->nodes,
		.cap = TRACE_NODES_MAX,
		.max_depth = 4 };
	struct row *rows;
	int failed;

	if (scan_parse(&s, e) < 0)
		return -1;
	rows = calloc(ROWS_MAX, sizeof(rows[0]));
	if (rows == NULL)
		return FAIL_SYS(e, "allocate");
	failed = put_rows(&s, rows, out, e);
	free(rows);
	return failed;
}
