/*
 * mcp/reply.h - answers and notifications on their way to the client: the only
 * way to standard output, and nothing but whole lines of JSON.
 */
#ifndef MCP_REPLY_H
#define MCP_REPLY_H

#include "mcp/page.h"
#include "mcp/rpc.h"

struct server;

/* Answers of one JSON-RPC batch (2025-03-26): one line when all are there. */
struct batch {
	size_t waiting; /* requests without an answer, and one while read */
	struct page page;
};

/* Where an answer goes, and how the client of it speaks. */
struct reply_to {
	struct rpc_span id; /* borrowed, or of the call; len 0: nobody waits */
	bool modern;
	bool links;          /* knows resource_link (2025-06-18) */
	struct batch *batch; /* NULL: a line of its own */
};

bool server_has_room(const struct server *s);
/* 's->body' holds the members of a result, 's->extra' those of its _meta.  A modern
 * result is "complete" unless the body begins with a "resultType". */
enum reply_cache {
	REPLY_PLAIN,
	REPLY_CACHED
};
void reply_result(
    struct server *s, const struct reply_to *to, enum reply_cache cache);
/* 'data' is JSON, or NULL. */
struct reply_fault {
	enum rpc_code code;
	const char *text;
	const char *data;
};
void reply_fault(struct server *s, const struct reply_to *to,
    const struct reply_fault *fault);
/* A tool's text; the common shape of small tools. */
enum reply_tone {
	REPLY_GOOD,
	REPLY_ERROR
};
void reply_text(struct server *s, const struct reply_to *to,
    const struct page *text, enum reply_tone tone);
/* 's->body' holds the params of a notification; may be left out when full. */
void reply_notify(struct server *s, const char *method);
void batch_done(struct server *s, struct batch *b); /* one answer less */

#endif
