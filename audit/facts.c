/*
 * audit/facts.c - the facts of a trace.  Linked by bailiff-audit; pure.  The
 * trace is hostile even where its digest is right: its strings are a program's.
 */
#include "audit/facts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROW_LINE_MAX 40960 /* a path of escapes */
#define FILES_MAX    4096  /* descriptors whose file is known, at once */
#define MAP_FLAGS    3
#define MAP_FD       4

/* Which arguments of a call a filter may judge, of calls that are told. */
static const struct facts_row {
	const char *call;
	unsigned int arguments; /* 1 << n */
} rows[] = {
	{ "clone", 1u << 0 },
	{ "mmap", 1u << 2 | 1u << 3 },
	{ "mprotect", 1u << 2 },
	{ "pkey_mprotect", 1u << 2 },
	{ "socket", 1u << 0 | 1u << 1 | 1u << 2 },
};

/* What a descriptor of a process was opened as. */
struct known_file {
	uint64_t pid, fd;
	uint32_t node_at, node_len; /* the member in the trace's text */
	bool hex;
};

struct facts {
	struct trace_file *f;
	const struct facts_out *out;
	char **lines; /* owned, each and all */
	size_t n, cap;
	struct known_file *files; /* owned; by pid and fd, in part */
	struct scan s;            /* the line that is read */
	struct text_out line;     /* owned */
	struct error *e;
};

static bool word(const struct scan *s, uint32_t object, const char *key,
    char ret[FACTS_WORD_MAX])
{
	uint32_t node = scan_member(s, object, key);
	size_t len;

	ret[0] = '\0';
	return node != SCAN_NONE && s->nodes[node].kind == SCAN_STRING &&
	       scan_string(s, node, ret, FACTS_WORD_MAX, &len) == 0 &&
	       len == strlen(ret) && len > 0;
}

static bool is(
    const struct scan *s, uint32_t object, const char *key, const char *text)
{
	char value[FACTS_WORD_MAX];

	return word(s, object, key, value) && strcmp(value, text) == 0;
}

static uint64_t number(const struct scan *s, uint32_t object, const char *key)
{
	uint32_t node = scan_member(s, object, key);
	uint64_t value = 0;

	if (node == SCAN_NONE || s->nodes[node].kind != SCAN_NUMBER ||
	    !scan_u64(s, node, &value))
		return 0;
	return value;
}

static int scan_at(struct facts *x, const struct trace_line *l)
{
	x->s = (struct scan){ .text = x->f->text + l->at,
		.len = l->len,
		.nodes = x->f->nodes,
		.cap = TRACE_NODES_MAX,
		.max_depth = 4 };
	return scan_parse(&x->s, x->e);
}

/* Take the line that was made, unless it is the one before it again. */
static int keep(struct facts *x)
{
	char *copy;

	x->line.data[x->line.len] = '\0';
	if (x->n > 0 && strcmp(x->lines[x->n - 1], x->line.data) == 0)
		return 0;
	if (x->n == x->cap) {
		size_t cap = x->cap > 0 ? x->cap * 2 : 1024;
		char **more = reallocarray(x->lines, cap, sizeof(*more));

		if (more == NULL)
			return FAIL_SYS(x->e, "allocate");
		x->lines = more;
		x->cap = cap;
	}
	copy = strdup(x->line.data);
	if (copy == NULL)
		return FAIL_SYS(x->e, "allocate");
	x->lines[x->n++] = copy;
	return 0;
}

static int put_word(struct facts *x, const char *key, const char *text)
{
	if (text_printf(&x->line, x->e, "%s", key) < 0)
		return -1;
	return text_json_string(text, strlen(text), &x->line, x->e);
}

/* {"fact":"KIND","path": and the string as it stands in the trace, which is
 * JSON already. */
static int keep_path(
    struct facts *x, const char *kind, const struct known_file *file)
{
	x->line.len = 0;
	if (text_printf(&x->line, x->e, "{\"fact\":\"%s\",\"%s\":%.*s}\n", kind,
	        file->hex ? "path_hex" : "path", (int)file->node_len,
	        x->f->text + file->node_at) < 0)
		return FAIL_IN(x->e, "a path");
	return keep(x);
}

/* "truth" of the line, or "truth_hex". */
static bool find_truth(const struct facts *x, struct known_file *ret)
{
	uint32_t node = scan_member(&x->s, 0, "truth");

	ret->hex = node == SCAN_NONE;
	if (ret->hex)
		node = scan_member(&x->s, 0, "truth_hex");
	if (node == SCAN_NONE || x->s.nodes[node].kind != SCAN_STRING)
		return false;
	ret->node_at = (uint32_t)(x->s.text - x->f->text) + x->s.nodes[node].at;
	ret->node_len = x->s.nodes[node].len;
	return true;
}

static struct known_file *file_of(struct facts *x, uint64_t pid, uint64_t fd)
{
	return &x->files[(pid * 257 + fd) % FILES_MAX];
}

static uint64_t argument(const struct scan *s, size_t which)
{
	uint32_t list = scan_member(s, 0, "args");
	char text[FACTS_WORD_MAX];
	size_t n = 0;

	if (list == SCAN_NONE || s->nodes[list].kind != SCAN_ARRAY)
		return 0;
	for (uint32_t i = scan_first(s, list); i != SCAN_NONE;
	     i = s->nodes[i].next) {
		size_t len;

		if (n++ == which &&
		    scan_string(s, i, text, sizeof(text), &len) == 0)
			return strtoull(text, NULL, 16);
	}
	return 0;
}

static int take_open(struct facts *x)
{
	uint32_t ret = scan_member(&x->s, 0, "ret");
	struct known_file file = { .pid = number(&x->s, 0, "pid") };

	if (ret == SCAN_NONE || !scan_u64(&x->s, ret, &file.fd) ||
	    !find_truth(x, &file))
		return 0;
	*file_of(x, file.pid, file.fd) = file;
	return keep_path(x, "open", &file);
}

/* Code from a file: from which?  One that is not known is told as "". */
static int take_code(struct facts *x)
{
	uint64_t pid = number(&x->s, 0, "pid");
	uint64_t fd = argument(&x->s, MAP_FD);
	const struct known_file *file = file_of(x, pid, fd);

	if (is(&x->s, 0, "call", "mmap") == false ||
	    (argument(&x->s, MAP_FLAGS) & MAP_ANONYMOUS) != 0)
		return 0;
	if (file->node_len > 0 && file->pid == pid && file->fd == fd)
		return keep_path(x, "code", file);
	x->line.len = 0;
	if (text_printf(&x->line, x->e, "{\"fact\":\"code\",\"path\":\"\"}\n") <
	    0)
		return -1;
	return keep(x);
}

static int take_told(struct facts *x, const struct facts_row *row)
{
	const char *before = "";

	x->line.len = 0;
	if (text_printf(&x->line, x->e,
	        "{\"fact\":\"told\",\"call\":\"%s\",\"args\":[", row->call) < 0)
		return -1;
	for (size_t i = 0; i < 6; i++) {
		uint64_t value =
		    (row->arguments >> i & 1) != 0 ? argument(&x->s, i) : 0;

		if (text_printf(&x->line, x->e, "%s\"0x%" PRIx64 "\"", before,
		        value) < 0)
			return -1;
		before = ",";
	}
	if (text_printf(&x->line, x->e, "]}\n") < 0)
		return -1;
	return keep(x);
}

static int take_call(struct facts *x)
{
	char call[FACTS_WORD_MAX];

	if (!word(&x->s, 0, "call", call))
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].call, call) == 0 &&
		    take_told(x, &rows[i]) < 0)
			return -1;
	if (strcmp(call, "mmap") == 0)
		return take_code(x);
	/* Another kind of file than any that is opened by a path. */
	if (strcmp(call, "memfd_create") == 0)
		file_of(x, number(&x->s, 0, "pid"), number(&x->s, 0, "ret"))
		    ->node_len = 0;
	if (strncmp(call, "open", 4) == 0 || strcmp(call, "creat") == 0)
		return take_open(x);
	return 0;
}

static int take_event(struct facts *x)
{
	struct known_file file = { 0 };

	if (!is(&x->s, 0, "plane", "program"))
		return 0;
	if (is(&x->s, 0, "type", "call"))
		return take_call(x);
	if (is(&x->s, 0, "type", "exec") && find_truth(x, &file))
		return keep_path(x, "exec", &file);
	return 0;
}

/* One line of the books. */
static int take_count(
    struct facts *x, uint32_t node, const char *fact, const char *key)
{
	char call[FACTS_WORD_MAX], plane[FACTS_WORD_MAX];
	uint64_t n = number(&x->s, node, key);

	if (n == 0)
		return 0;
	x->line.len = 0;
	if (is(&x->s, node, "plane", "program") &&
	    word(&x->s, node, "call", call)) {
		if (text_printf(&x->line, x->e, "{\"fact\":\"%s\"", fact) < 0 ||
		    put_word(x, ",\"call\":", call) < 0)
			return -1;
	} else {
		(void)word(&x->s, node, "plane", plane);
		if (text_printf(&x->line, x->e, "{\"fact\":\"unnamed\"") < 0 ||
		    put_word(x, ",\"plane\":", plane) < 0 ||
		    text_printf(&x->line, x->e, ",\"nr\":%" PRIu64,
		        number(&x->s, node, "nr")) < 0)
			return -1;
	}
	if (text_printf(&x->line, x->e, ",\"n\":%" PRIu64 "}\n", n) < 0)
		return -1;
	return keep(x);
}

static int take_books(struct facts *x)
{
	uint32_t node;
	uint32_t list;

	if (scan_at(x, &x->f->books) < 0)
		return -1;
	node = scan_member(&x->s, 0, "complete");
	if (node == SCAN_NONE || x->s.nodes[node].kind != SCAN_TRUE)
		return FAIL(x->e, ERROR_MALFORMED,
		    "trace.jsonl: not complete, by its books");
	list = scan_member(&x->s, 0, "calls");
	if (list == SCAN_NONE || x->s.nodes[list].kind != SCAN_ARRAY)
		return FAIL(
		    x->e, ERROR_MALFORMED, "trace.jsonl: books without calls");
	for (uint32_t i = scan_first(&x->s, list); i != SCAN_NONE;
	     i = x->s.nodes[i].next) {
		if (x->s.nodes[i].kind != SCAN_OBJECT ||
		    is(&x->s, i, "plane", "setup"))
			continue;
		if (take_count(x, i, "call", "enter") < 0 ||
		    take_count(x, i, "denied", "denied") < 0)
			return -1;
	}
	return 0;
}

/* The first line; it is put out at once, before what is sorted. */
static int put_run(struct facts *x, const struct facts_run *run)
{
	char arch[FACTS_WORD_MAX];

	if (scan_at(x, &x->f->head) < 0)
		return -1;
	if (!is(&x->s, 0, "run", run->id) || !word(&x->s, 0, "arch", arch))
		return FAIL(x->e, ERROR_MALFORMED,
		    "trace.jsonl: its header is of another run");
	x->line.len = 0;
	if (put_word(x, "{\"fact\":\"run\",\"run\":", run->id) < 0 ||
	    put_word(x, ",\"language\":", run->language) < 0 ||
	    put_word(x, ",\"policy\":", run->policy) < 0 ||
	    put_word(x, ",\"arch\":", arch) < 0 ||
	    put_word(x, ",\"status\":", run->status) < 0 ||
	    text_printf(&x->line, x->e, ",\"host_inputs\":%" PRIu64 "}\n",
	        run->host_inputs) < 0)
		return -1;
	return x->out->put(x->out->context, x->line.data, x->line.len, x->e);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int put_all(struct facts *x)
{
	size_t n = 1;

	qsort(x->lines, x->n, sizeof(x->lines[0]), compare);
	for (size_t i = 0; i < x->n; i++) {
		if (i > 0 && strcmp(x->lines[i], x->lines[i - 1]) == 0)
			continue;
		n++;
		if (x->out->put(x->out->context, x->lines[i],
		        strlen(x->lines[i]), x->e) < 0)
			return -1;
	}
	x->line.len = 0;
	if (text_printf(
	        &x->line, x->e, "{\"fact\":\"end\",\"facts\":%zu}\n", n) < 0)
		return -1;
	return x->out->put(x->out->context, x->line.data, x->line.len, x->e);
}

static int write_all(struct facts *x, const struct facts_run *run)
{
	if (put_run(x, run) < 0 || take_books(x) < 0)
		return -1;
	for (size_t i = 0; i < x->f->n; i++)
		if (scan_at(x, &x->f->lines[i]) < 0 || take_event(x) < 0)
			return -1;
	return put_all(x);
}

int facts_write(struct trace_file *f, const struct facts_run *run,
    const struct facts_out *out, struct error *e)
{
	struct facts x = { .f = f, .out = out, .e = e };
	int failed;

	x.line = (struct text_out){ malloc(ROW_LINE_MAX + 1), ROW_LINE_MAX, 0 };
	x.files = calloc(FILES_MAX, sizeof(x.files[0]));
	if (x.line.data == NULL || x.files == NULL) {
		free(x.line.data);
		free(x.files);
		return FAIL_SYS(e, "allocate");
	}
	failed = write_all(&x, run);
	for (size_t i = 0; i < x.n; i++)
		free(x.lines[i]);
	free(x.lines);
	free(x.files);
	free(x.line.data);
	return failed;
}
