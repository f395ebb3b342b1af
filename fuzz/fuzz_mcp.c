/* fuzz/fuzz_mcp.c - everything a client may send to bailiff-mcp, without a
 * service behind: whatever comes in, whole lines of sound JSON go out, and
 * nothing is kept. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "mcp/calls.h"
#include "mcp/methods.h"

#define NODES 16384

/* Each line is one message that says its version, or an array of them. */
static void check_line(struct scan_node *nodes, const char *line, size_t len)
{
	struct scan s = { .text = line,
		.len = len,
		.nodes = nodes,
		.cap = NODES,
		.max_depth = 64,
		.lone_surrogates = true };
	struct error e;

	MUST(scan_parse(&s, &e) == 0);
	MUST(s.nodes[0].kind == SCAN_ARRAY ||
	     scan_member(&s, 0, "jsonrpc") != SCAN_NONE);
}

static void check_queue(struct server *s)
{
	struct scan_node *nodes = calloc(NODES, sizeof(*nodes));
	const char *at = s->queue.data;
	size_t left = s->queue.len;

	MUST(nodes != NULL && !s->queue.failed);
	while (left > 0) {
		const char *end = memchr(at, '\n', left);

		MUST(end != NULL);
		check_line(nodes, at, (size_t)(end - at));
		left -= (size_t)(end - at) + 1;
		at = end + 1;
	}
	free(nodes);
}

static void give(struct server *s, const uint8_t *data, size_t size)
{
	const char *line;
	size_t len;
	struct error e;
	char *to;

	while (size > 0) {
		size_t n = size < FEED_CHUNK ? size : FEED_CHUNK;
		enum feed_event event;

		MUST(feed_room(&s->feed, &to, &e) == 0);
		memcpy(to, data, n);
		feed_added(&s->feed, n);
		data += n;
		size -= n;
		while ((event = feed_next(&s->feed, &line, &len)) != FEED_NONE)
			if (event == FEED_ONE)
				server_line(s, line, len);
			else
				server_line_too_long(s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct protocol_language python = { .name = "python" };
	struct server *s = calloc(1, sizeof(*s));
	struct error e;

	MUST(s != NULL && server_init(s, &methods_face, &e) == 0);
	MUST(about_add(&s->about, &python, &e) == 0);
	give(s, data, size);
	calls_abandon(s);
	MUST(calls_count(s) == 0);
	check_queue(s);
	server_done(s);
	free(s);
	return 0;
}
