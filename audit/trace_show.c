/*
 * audit/trace_show.c - events and books of a trace, in columns.  Linked by
 * bailiff-audit.  Whatever is printed is escaped (base/text.h).
 */
#include "audit/trace_show.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/trace_flags.h"

#define WORD_MAX    40
#define SIGNALS_MAX 64 /* of the kernel */

/* One line, scanned, and room for one string of it. */
struct view {
	struct scan s;
	char type[WORD_MAX], call[WORD_MAX], error[WORD_MAX];
	char *value;          /* borrowed; TRACE_VALUE_MAX */
	struct text_out *out; /* borrowed */
};

static void get_word(const struct scan *s, const char *key, char ret[WORD_MAX])
{
	uint32_t node = scan_member(s, 0, key);
	size_t len;

	ret[0] = '\0';
	if (node == SCAN_NONE || s->nodes[node].kind != SCAN_STRING ||
	    scan_string(s, node, ret, WORD_MAX, &len) < 0)
		ret[0] = '\0';
}

static uint64_t get_number(
    const struct scan *s, uint32_t object, const char *key)
{
	uint32_t node = scan_member(s, object, key);
	uint64_t value = 0;

	if (node == SCAN_NONE || s->nodes[node].kind != SCAN_NUMBER ||
	    !scan_u64(s, node, &value))
		return 0;
	return value;
}

static bool has(const struct scan *s, const char *key)
{
	return scan_member(s, 0, key) != SCAN_NONE;
}

static int view_line(const struct trace_file *f, const struct trace_line *l,
    struct view *v, struct error *e)
{
	v->s = (struct scan){ .text = f->text + l->at,
		.len = l->len,
		.nodes = f->nodes,
		.cap = TRACE_NODES_MAX,
		.max_depth = 4 };
	if (scan_parse(&v->s, e) < 0)
		return -1;
	v->value = f->value;
	get_word(&v->s, "type", v->type);
	get_word(&v->s, "call", v->call);
	get_word(&v->s, "error", v->error);
	return 0;
}

/* A string of the program's, for a terminal; the rest of one too long is said. */
static int put_node(struct view *v, uint32_t node, struct error *e)
{
	size_t len;

	if (scan_string(&v->s, node, v->value, TRACE_VALUE_MAX, &len) < 0)
		return text_printf(v->out, e, "(too long)");
	if (text_escape(v->value, len, TEXT_KEEP_NONE, v->out) < len)
		return FAIL(e, ERROR_LIMIT, "no room for a line");
	return 0;
}

/* "key", or "key_hex" as it stands behind 0x. */
static int put_string(
    struct view *v, uint32_t object, const char *key, struct error *e)
{
	char hex[WORD_MAX];
	uint32_t node = scan_member(&v->s, object, key);

	if (node != SCAN_NONE && v->s.nodes[node].kind == SCAN_STRING)
		return put_node(v, node, e);
	(void)snprintf(hex, sizeof(hex), "%s_hex", key);
	node = scan_member(&v->s, object, hex);
	if (node == SCAN_NONE || v->s.nodes[node].kind != SCAN_STRING)
		return 0;
	if (text_printf(v->out, e, "hex:") < 0)
		return -1;
	return put_node(v, node, e);
}

static bool has_string(const struct view *v, const char *key)
{
	char hex[WORD_MAX];

	(void)snprintf(hex, sizeof(hex), "%s_hex", key);
	return has(&v->s, key) || has(&v->s, hex);
}

static int put_argv(struct view *v, struct error *e)
{
	uint32_t list = scan_member(&v->s, 0, "argv");

	if (list == SCAN_NONE || v->s.nodes[list].kind != SCAN_ARRAY)
		return 0;
	for (uint32_t i = scan_first(&v->s, list); i != SCAN_NONE;
	     i = v->s.nodes[i].next) {
		if (text_printf(v->out, e, " '") < 0 ||
		    put_string(v, i, "a", e) < 0 ||
		    text_printf(v->out, e, "'") < 0)
			return -1;
	}
	return 0;
}

static int put_flags(struct view *v, struct error *e)
{
	uint32_t list = scan_member(&v->s, 0, "args");
	uint64_t args[6] = { 0 };
	size_t n = 0;

	if (list == SCAN_NONE || v->s.nodes[list].kind != SCAN_ARRAY)
		return 0;
	for (uint32_t i = scan_first(&v->s, list); i != SCAN_NONE && n < 6;
	     i = v->s.nodes[i].next) {
		char word[WORD_MAX];
		size_t len;

		if (scan_string(&v->s, i, word, sizeof(word), &len) == 0)
			args[n] = strtoull(word, NULL, 16);
		n++;
	}
	return trace_flags(v->call, args, v->out, e);
}

/* Two strings of one line, as they stand in it. */
static bool are_equal(const struct view *v, const char *a, const char *b)
{
	uint32_t x = scan_member(&v->s, 0, a);
	uint32_t y = scan_member(&v->s, 0, b);
	const struct scan_node *n = v->s.nodes;

	return x != SCAN_NONE && y != SCAN_NONE && n[x].len == n[y].len &&
	       memcmp(v->s.text + n[x].at, v->s.text + n[y].at, n[x].len) == 0;
}

static int put_paths(struct view *v, struct error *e)
{
	bool both = has_string(v, "given") && has_string(v, "truth");
	/* A relative path is less than what the kernel says of it. */
	bool same =
	    both &&
	    (are_equal(v, "given", "truth") ||
	        (strncmp(v->call, "open", 4) == 0 && !has(&v->s, "differs")));

	if (has_string(v, "given") && !same) {
		if (text_printf(v->out, e, " ") < 0 ||
		    put_string(v, 0, "given", e) < 0)
			return -1;
	}
	if (!has_string(v, "truth"))
		return 0;
	if (text_printf(v->out, e, both && !same ? " -> " : " ") < 0)
		return -1;
	return put_string(v, 0, "truth", e);
}

static int put_result(struct view *v, struct error *e)
{
	uint32_t node = scan_member(&v->s, 0, "ret");

	if (v->error[0] != '\0')
		return text_printf(v->out, e, " = %s", v->error);
	if (node == SCAN_NONE || v->s.nodes[node].len > WORD_MAX)
		return 0;
	return text_printf(v->out, e, " = %.*s", (int)v->s.nodes[node].len,
	    v->s.text + v->s.nodes[node].at);
}

static int put_signal(struct view *v, const char *before, struct error *e)
{
	uint64_t n = get_number(&v->s, 0, "signal");
	const char *name = n <= SIGNALS_MAX ? sigabbrev_np((int)n) : NULL;

	if (name != NULL)
		return text_printf(v->out, e, "%sSIG%s", before, name);
	return text_printf(v->out, e, "%ssignal %" PRIu64, before, n);
}

static int put_detail(struct view *v, struct error *e)
{
	if (strcmp(v->type, "exec") == 0)
		return put_paths(v, e) < 0 ? -1 : put_argv(v, e);
	if (strcmp(v->type, "fork") == 0)
		return text_printf(
		    v->out, e, " %" PRIu64, get_number(&v->s, 0, "child"));
	if (strcmp(v->type, "signal") == 0) {
		if (put_signal(v, " ", e) < 0)
			return -1;
		return text_printf(
		    v->out, e, " to %" PRIu64, get_number(&v->s, 0, "to"));
	}
	if (strcmp(v->type, "exit") == 0 || strcmp(v->type, "killed") == 0) {
		if (has(&v->s, "signal"))
			return put_signal(v, " by ", e);
		return text_printf(
		    v->out, e, " code %" PRIu64, get_number(&v->s, 0, "code"));
	}
	if (put_flags(v, e) < 0 || put_paths(v, e) < 0)
		return -1;
	return put_result(v, e);
}

static bool is_of(const char *call, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(call, names[i]) == 0)
			return true;
	return false;
}

static bool is_wanted(const struct view *v, enum trace_want want)
{
	static const char *const net[] = { "socket", "connect", "bind",
		"listen", "accept", "accept4", "sendto", "sendmsg" };
	bool denied = strcmp(v->type, "denied") == 0;
	bool is_net = is_of(v->call, net, sizeof(net) / sizeof(net[0]));

	switch (want) {
	case TRACE_WANT_ALL:
		return true;
	case TRACE_WANT_DENIED:
		return denied || strcmp(v->type, "killed") == 0 ||
		       strcmp(v->error, "EPERM") == 0 ||
		       strcmp(v->error, "EACCES") == 0;
	case TRACE_WANT_FILES:
		return strcmp(v->type, "call") == 0 && !is_net &&
		       has_string(v, "given");
	case TRACE_WANT_NET:
		return is_net;
	case TRACE_WANT_EXEC:
		return (strcmp(v->type, "call") != 0 && !denied) ||
		       strncmp(v->call, "execve", 6) == 0;
	case TRACE_WANT_SUMMARY:
		break;
	}
	return false;
}

/* What happened: the call, or the kind of event and the call. */
static int put_name(const struct view *v, struct error *e)
{
	bool refused =
	    strcmp(v->type, "denied") == 0 || strcmp(v->type, "killed") == 0;

	if (!refused)
		return text_printf(v->out, e, "%-10s",
		    strcmp(v->type, "call") == 0 ? v->call : v->type);
	if (v->call[0] != '\0')
		return text_printf(v->out, e, "%-7s %s", v->type, v->call);
	return text_printf(v->out, e, "%-7s call %" PRIu64, v->type,
	    get_number(&v->s, 0, "nr"));
}

int trace_show_event(struct trace_file *f, size_t i, enum trace_want want,
    struct text_out *out, struct error *e)
{
	struct view v = { .out = out };
	uint64_t at_ns;

	if (view_line(f, &f->lines[i], &v, e) < 0)
		return -1;
	if (!is_wanted(&v, want))
		return 0;
	at_ns = get_number(&v.s, 0, "at_ns");
	at_ns = at_ns > f->start_ns ? at_ns - f->start_ns : 0;
	if (text_printf(out, e, "%5" PRIu64 ".%06" PRIu64 " %8" PRIu64 "  ",
	        at_ns / 1000000000, at_ns / 1000 % 1000000,
	        get_number(&v.s, 0, "tid")) < 0 ||
	    put_name(&v, e) < 0 || put_detail(&v, e) < 0)
		return -1;
	return text_printf(out, e, "\n");
}

int trace_show_head(struct trace_file *f, struct text_out *out, struct error *e)
{
	struct view v = { .out = out };
	uint32_t complete;
	bool whole;

	if (view_line(f, &f->head, &v, e) < 0 ||
	    text_printf(out, e, "run      ") < 0 ||
	    put_string(&v, 0, "run", e) < 0 ||
	    text_printf(out, e, "\nkernel   ") < 0 ||
	    put_string(&v, 0, "kernel", e) < 0 ||
	    text_printf(out, e, " ") < 0 || put_string(&v, 0, "arch", e) < 0 ||
	    view_line(f, &f->books, &v, e) < 0)
		return -1;
	complete = scan_member(&v.s, 0, "complete");
	whole = complete != SCAN_NONE && v.s.nodes[complete].kind == SCAN_TRUE;
	if (text_printf(out, e, "\nevents   %zu\ncomplete %s", f->n,
	        whole ? "yes" : "NO: ") < 0 ||
	    put_string(&v, 0, "note", e) < 0)
		return -1;
	return text_printf(out, e, "\n\n");
}
