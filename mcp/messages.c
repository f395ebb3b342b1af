/*
 * mcp/messages.c - lines of a client become messages, one or a batch of them.
 * Linked by bailiff-mcp.  Every line is hostile.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/calls.h"
#include "mcp/methods.h"

#define BATCH_MAX 64

void method_fault(struct server *s, const struct asking *a, enum rpc_code code,
    const char *text)
{
	const struct reply_fault f = { code, text, NULL };

	reply_fault(s, a->to, &f);
}

static void on_notification(
    struct server *s, const struct scan *scan, const struct rpc_message *m)
{
	uint32_t id = m->params != SCAN_NONE
	                  ? scan_member(scan, m->params, "requestId")
	                  : SCAN_NONE;

	if (strcmp(m->method, "notifications/cancelled") == 0 &&
	    id != SCAN_NONE && rpc_is_id(scan, id))
		calls_cancel(s, rpc_span(scan, id));
}

static void one_message(struct server *s, const struct scan *scan,
    uint32_t node, struct batch *batch)
{
	struct rpc_message m;
	struct reply_to to = { .batch = batch };
	struct asking a = { scan, &m, &to };

	rpc_read(scan, node, &m);
	to.id = m.id;
	to.modern = m.modern;
	to.links = m.modern || s->legacy == METHODS_2025_11_25 ||
	           s->legacy == METHODS_2025_06_18;
	if (batch != NULL && (m.kind == RPC_REQUEST || m.kind == RPC_BAD))
		batch->waiting++;
	if (m.kind == RPC_BAD)
		method_fault(s, &a, m.code, m.why);
	else if (m.kind == RPC_NOTIFICATION)
		on_notification(s, scan, &m);
	else if (m.kind == RPC_RESPONSE && s->face->hear != NULL)
		s->face->hear(s, scan, node);
	else if (m.kind == RPC_REQUEST)
		method_serve(s, &a);
}

/* 2025-03-26 alone has batches; their answers are one array. */
static void many_messages(struct server *s, const struct scan *scan)
{
	static const struct reply_to nobody = { .id = { "", 0 } };
	static const struct reply_fault refused = { RPC_INVALID,
		"a message must be an object; batches belong to version "
		"2025-03-26",
		NULL };
	struct batch *batch;

	if (s->legacy != METHODS_2025_03_26 || scan->nodes[0].n == 0 ||
	    scan->nodes[0].n > BATCH_MAX) {
		reply_fault(s, &nobody, &refused);
		return;
	}
	batch = calloc(1, sizeof(*batch));
	if (batch == NULL) {
		s->lost = true;
		return;
	}
	page_init(&batch->page, PAGE_LINE_MAX);
	batch->waiting = 1; /* us */
	for (uint32_t i = scan_first(scan, 0); i != SCAN_NONE;
	     i = scan->nodes[i].next)
		one_message(s, scan, i, batch);
	batch_done(s, batch);
}

static bool is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr(" \t\r", line[i]) == NULL || line[i] == '\0')
			return false;
	return true;
}

enum line_turn {
	TURN_NOW,
	TURN_WAITS
};

/* Without room for answers a line waits. */
static void hold(struct server *s, const char *line, size_t len)
{
	if (s->held_at > 0) {
		s->held.len -= s->held_at;
		memmove(s->held.data, s->held.data + s->held_at, s->held.len);
		s->held_at = 0;
	}
	page_bytes(&s->held, line, len);
	page_text(&s->held, "\n");
	if (s->held.failed)
		s->lost = true;
}

/* A cancel never waits; it is read again in its place. */
static void peek(struct server *s, const struct scan *scan)
{
	struct rpc_message m;

	rpc_read(scan, 0, &m);
	if (m.kind == RPC_NOTIFICATION)
		on_notification(s, scan, &m);
}

static void read_line(
    struct server *s, const char *line, size_t len, enum line_turn turn)
{
	static const struct reply_to nobody = { .id = { "", 0 } };
	struct scan scan = { .text = line,
		.len = len,
		.nodes = s->nodes,
		.cap = RPC_NODES_MAX,
		.max_depth = RPC_DEPTH_MAX,
		.lone_surrogates = true };
	struct reply_fault f = { .data = NULL };
	struct error e;

	if (is_blank(line, len))
		return;
	if (turn == TURN_WAITS)
		hold(s, line, len);
	if (scan_parse(&scan, &e) == 0) {
		if (turn == TURN_WAITS)
			peek(s, &scan);
		else if (scan.nodes[0].kind == SCAN_ARRAY)
			many_messages(s, &scan);
		else
			one_message(s, &scan, 0, NULL);
		return;
	}
	if (turn == TURN_WAITS)
		return;
	f.code = rpc_scan_code(&e);
	f.text = e.text;
	reply_fault(s, &nobody, &f);
}

void server_line(struct server *s, const char *line, size_t len)
{
	bool waits = s->held.len > s->held_at || !server_has_room(s);

	read_line(s, line, len, waits ? TURN_WAITS : TURN_NOW);
}

static void say_too_long(struct server *s)
{
	static const struct reply_to nobody = { .id = { "", 0 } };
	static const struct reply_fault too_long = { RPC_INVALID,
		"a line is longer than 8 MiB; send less at once", NULL };

	reply_fault(s, &nobody, &too_long);
}

void server_line_too_long(struct server *s)
{
	if (server_has_room(s))
		say_too_long(s);
	else
		s->n_too_long++; /* said when there is room */
}

void server_resume(struct server *s)
{
	for (; s->n_too_long > 0 && server_has_room(s); s->n_too_long--)
		say_too_long(s);
	while (s->held.len > s->held_at && server_has_room(s)) {
		const char *line = s->held.data + s->held_at;
		const char *end = memchr(line, '\n', s->held.len - s->held_at);
		size_t len = (size_t)(end - line);

		s->held_at += len + 1;
		read_line(s, line, len, TURN_NOW);
	}
	if (s->held.len == s->held_at) {
		page_clear(&s->held);
		s->held_at = 0;
	}
}
