/*
 * mcp/server.c - the state of one front, from its birth to its end.  Linked by
 * bailiff-mcp.
 */
#include "mcp/server.h"

#include <stdlib.h>

#include "mcp/calls.h"

/* A line at most, what may wait in front of it, and the answers of a batch. */
#define QUEUE_MAX (32u << 20)

int server_init(struct server *s, const struct face *face, struct error *e)
{
	s->face = face;
	s->legacy = -1;
	s->channel.fd = -1;
	page_init(&s->held, SERVER_HELD_MAX + FEED_MAX + FEED_CHUNK);
	page_init(&s->queue, QUEUE_MAX);
	page_init(&s->line, PAGE_LINE_MAX);
	page_init(&s->body, PAGE_LINE_MAX);
	page_init(&s->text, PAGE_LINE_MAX);
	page_init(&s->list, PAGE_LINE_MAX);
	page_init(&s->extra, PAGE_LINE_MAX);
	page_init(&s->about.text, PAGE_LINE_MAX);
	s->nodes = calloc(RPC_NODES_MAX, sizeof(*s->nodes));
	if (s->nodes == NULL)
		return FAIL_SYS(e, "no memory");
	return 0;
}

void server_done(struct server *s)
{
	fetch_end(s);
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		if (s->calls[i] != NULL)
			calls_free(s, s->calls[i]);
	job_free_all(s);
	feed_free(&s->feed);
	page_free(&s->held);
	page_free(&s->queue);
	page_free(&s->line);
	page_free(&s->body);
	page_free(&s->text);
	page_free(&s->list);
	page_free(&s->extra);
	about_done(&s->about);
	free(s->nodes);
	s->nodes = NULL;
}
