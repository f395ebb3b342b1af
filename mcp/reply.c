/*
 * mcp/reply.c - answers on their way to the client.  Linked by bailiff-mcp.
 * Nothing but whole lines of JSON ever gets into the queue.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/server.h"

bool server_has_room(const struct server *s)
{
	return s->queue.len - s->queue_at < SERVER_ROOM;
}

/* What has been written goes, before the block would grow for nothing. */
static void queue_compact(struct server *s)
{
	if (s->queue_at == 0 || s->queue_at < s->queue.len - s->queue_at)
		return; /* not worth moving yet */
	s->queue.len -= s->queue_at;
	memmove(s->queue.data, s->queue.data + s->queue_at, s->queue.len);
	s->queue_at = 0;
}

static void put_line(struct server *s, const struct page *line)
{
	queue_compact(s);
	page_bytes(&s->queue, line->data, line->len);
	page_text(&s->queue, "\n");
	/* Out of memory: half a line would break the protocol. */
	if (s->queue.failed)
		s->lost = true;
}

void batch_done(struct server *s, struct batch *b)
{
	if (--b->waiting > 0)
		return;
	if (b->page.len > 0) {
		page_text(&b->page, "]");
		if (!b->page.failed)
			put_line(s, &b->page);
	}
	page_free(&b->page);
	free(b);
}

static void put_answer(struct server *s, const struct reply_to *to)
{
	if (to->batch == NULL) {
		put_line(s, &s->line);
		return;
	}
	page_text(&to->batch->page, to->batch->page.len > 0 ? "," : "[");
	page_bytes(&to->batch->page, s->line.data, s->line.len);
	batch_done(s, to->batch);
}

static void begin(struct server *s, const struct reply_to *to)
{
	page_clear(&s->line);
	page_text(&s->line, "{\"jsonrpc\":\"2.0\"");
	if (to->id.len > 0) {
		page_text(&s->line, ",\"id\":");
		page_bytes(&s->line, to->id.at, to->id.len);
	}
}

static void put_meta(struct server *s, const struct reply_to *to)
{
	if (!to->modern && s->extra.len == 0)
		return;
	page_text(&s->line, "\"_meta\":{");
	page_bytes(&s->line, s->extra.data, s->extra.len);
	if (to->modern && s->extra.len > 0)
		page_text(&s->line, ",");
	if (to->modern)
		page_text(&s->line,
		    "\"" RPC_META "serverInfo\":{\"name\":\"bailiff\","
		    "\"title\":\"Bailiff\",\"version\":\"" BAILIFF_VERSION
		    "\"}");
	page_text(&s->line, "},");
}

static bool begins_with(const struct page *p, const char *text)
{
	return p->len >= strlen(text) &&
	       memcmp(p->data, text, strlen(text)) == 0;
}

void reply_result(
    struct server *s, const struct reply_to *to, enum reply_cache cache)
{
	static const struct reply_fault too_long = { RPC_INTERNAL,
		"the answer does not fit in one message; ask for less", NULL };
	bool failed;

	begin(s, to);
	page_text(&s->line, ",\"result\":{");
	put_meta(s, to);
	if (to->modern && cache == REPLY_CACHED)
		page_text(
		    &s->line, "\"ttlMs\":300000,\"cacheScope\":\"private\",");
	/* Whoever answers otherwise says so first. */
	if (to->modern && !begins_with(&s->body, "\"resultType\":"))
		page_text(&s->line, "\"resultType\":\"complete\",");
	page_bytes(&s->line, s->body.data, s->body.len);
	if (s->line.len > 0 && s->line.data[s->line.len - 1] == ',')
		s->line.len--;
	page_text(&s->line, "}}");
	failed = s->line.failed || s->body.failed || s->extra.failed;
	page_clear(&s->body);
	page_clear(&s->extra);
	if (failed)
		reply_fault(s, to, &too_long);
	else
		put_answer(s, to);
}

void reply_fault(struct server *s, const struct reply_to *to,
    const struct reply_fault *fault)
{
	begin(s, to);
	page_format(
	    &s->line, ",\"error\":{\"code\":%d,\"message\":", (int)fault->code);
	page_word(&s->line, fault->text);
	if (fault->data != NULL) {
		page_text(&s->line, ",\"data\":");
		page_text(&s->line, fault->data);
	}
	page_text(&s->line, "}}");
	put_answer(s, to);
}

void reply_text(struct server *s, const struct reply_to *to,
    const struct page *text, enum reply_tone tone)
{
	page_text(&s->body, "\"content\":[{\"type\":\"text\",\"text\":");
	(void)page_string(&s->body, text->data, text->len);
	page_format(&s->body, "}],\"isError\":%s",
	    tone == REPLY_ERROR ? "true" : "false");
	s->body.failed = s->body.failed || text->failed;
	reply_result(s, to, REPLY_PLAIN);
}

void reply_notify(struct server *s, const char *method)
{
	page_clear(&s->line);
	page_format(&s->line,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{", method);
	page_bytes(&s->line, s->body.data, s->body.len);
	page_text(&s->line, "}}");
	if (!s->line.failed && !s->body.failed && server_has_room(s))
		put_line(s, &s->line);
	page_clear(&s->body);
}
