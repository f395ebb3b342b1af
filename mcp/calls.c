/*
 * mcp/calls.c - requests in flight.  Linked by bailiff-mcp.
 */
#include "mcp/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/results.h"

#define PROGRESS_MS 900 /* at least one a second */

static char *copy_span(struct rpc_span text)
{
	char *to = malloc(text.len + 1);

	if (to == NULL)
		return NULL;
	memcpy(to, text.at, text.len);
	to[text.len] = '\0';
	return to;
}

static void destroy(struct call *c)
{
	free(c->id);
	free(c->token);
	free(c->plan.uri);
	free(c);
}

static struct call *make(const struct call_of *of)
{
	struct call *c = calloc(1, sizeof(*c));
	uint32_t token =
	    rpc_member(of->scan, of->message->meta, "progressToken");

	if (c == NULL)
		return NULL;
	c->to = *of->to;
	c->id = copy_span(of->message->id);
	c->to.id.at = c->id;
	if (token != SCAN_NONE && rpc_is_id(of->scan, token))
		c->token = copy_span(rpc_span(of->scan, token));
	c->job = of->job;
	c->ready = of->job == NULL;
	c->plan.kind = of->kind;
	c->since_ms = server_now_ms();
	c->progress_ms = c->since_ms + PROGRESS_MS;
	if (c->id != NULL)
		return c;
	destroy(c);
	return NULL;
}

struct call *calls_add(struct server *s, const struct call_of *of)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		if (s->calls[i] != NULL)
			continue;
		s->calls[i] = make(of);
		if (s->calls[i] != NULL)
			s->calls[i]->number = ++s->last_call;
		return s->calls[i];
	}
	return NULL;
}

void calls_free(struct server *s, struct call *c)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		if (s->calls[i] == c)
			s->calls[i] = NULL;
	/* An answer that never comes must not hold back its batch. */
	if (c->dropped && c->to.batch != NULL)
		batch_done(s, c->to.batch);
	destroy(c);
}

static struct call *find(const struct server *s, struct rpc_span id)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		if (s->calls[i] != NULL && !s->calls[i]->dropped &&
		    rpc_same_id(s->calls[i]->to.id, id))
			return s->calls[i];
	return NULL;
}

bool calls_have(const struct server *s, struct rpc_span id)
{
	return find(s, id) != NULL;
}

size_t calls_count(const struct server *s)
{
	size_t n = 0;

	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		n += s->calls[i] != NULL;
	return n;
}

static bool listens(const struct call *c)
{
	return !c->ready && c->job == NULL;
}

size_t calls_pending(const struct server *s)
{
	size_t n = 0;

	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		n += s->calls[i] != NULL && !listens(s->calls[i]);
	return n;
}

void calls_abandon(struct server *s)
{
	static const struct reply_fault gone = { RPC_INTERNAL,
		"the service ended; start this server again", NULL };

	fetch_end(s);
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		struct call *c = s->calls[i];

		if (c == NULL)
			continue;
		if (c->job != NULL && !c->dropped)
			results_abandoned(s, c);
		else if (!c->dropped)
			reply_fault(s, &c->to, &gone);
		calls_free(s, c);
	}
}

bool calls_wait_for(const struct server *s, const struct job *r)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++)
		if (s->calls[i] != NULL && s->calls[i]->job == r)
			return true;
	return false;
}

void calls_job_changed(struct server *s, struct job *r)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		struct call *c = s->calls[i];

		if (c == NULL || c->job != r)
			continue;
		if (r->over)
			results_choose(c);
		if (r->over || (r->background && r->decided && !c->until_ms))
			c->ready = true;
		memcpy(c->plan.run_id, r->facts.run_id, sizeof(c->plan.run_id));
	}
}

struct call *calls_next_ready(const struct server *s)
{
	struct call *first = NULL;

	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		struct call *c = s->calls[i];

		if (c != NULL && c->ready &&
		    (first == NULL || c->number < first->number))
			first = c;
	}
	return first;
}

static void drop(struct server *s, struct call *c)
{
	c->dropped = true;
	/* A background run belongs to nobody's call any more. */
	if (c->job != NULL && !c->job->background)
		job_cancel(s, c->job);
	if (c != s->fetch.call)
		calls_free(s, c);
}

void calls_cancel(struct server *s, struct rpc_span id)
{
	struct call *c = find(s, id);

	if (c != NULL)
		drop(s, c);
}

void calls_cancel_all(struct server *s)
{
	for (struct job *r = s->jobs; r != NULL; r = r->next)
		if (!r->over)
			job_cancel(s, r);
}

/* Elapsed milliseconds, always more than last time. */
static void tell_progress(struct server *s, struct call *c, uint64_t now_ms)
{
	uint64_t elapsed_ms = now_ms - c->since_ms;

	if (elapsed_ms <= c->progress_last)
		elapsed_ms = c->progress_last + 1;
	c->progress_last = elapsed_ms;
	page_text(&s->body, "\"progressToken\":");
	page_text(&s->body, c->token);
	page_format(&s->body, ",\"progress\":%" PRIu64, elapsed_ms);
	if (c->job != NULL && c->job->timeout_ms > elapsed_ms)
		page_format(
		    &s->body, ",\"total\":%" PRIu64, c->job->timeout_ms);
	page_format(&s->body,
	    ",\"message\":\"running %" PRIu64 ".%" PRIu64 " s, %" PRIu64
	    " bytes out\"",
	    elapsed_ms / 1000, elapsed_ms % 1000 / 100,
	    c->job != NULL ? c->job->n_bytes : 0);
	reply_notify(s, "notifications/progress");
}

static uint64_t tend(struct server *s, struct call *c, uint64_t now_ms)
{
	if (c->ready || c->dropped)
		return UINT64_MAX;
	if (c->until_ms != 0 && now_ms >= c->until_ms) {
		c->ready = true;
		return now_ms; /* it is answered at once */
	}
	if (c->token != NULL && now_ms >= c->progress_ms) {
		tell_progress(s, c, now_ms);
		c->progress_ms = now_ms + PROGRESS_MS;
	}
	if (c->token == NULL)
		return c->until_ms != 0 ? c->until_ms : UINT64_MAX;
	return c->until_ms != 0 && c->until_ms < c->progress_ms
	           ? c->until_ms
	           : c->progress_ms;
}

uint64_t calls_tend(struct server *s, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;

	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		uint64_t at_ms = s->calls[i] != NULL
		                     ? tend(s, s->calls[i], now_ms)
		                     : UINT64_MAX;

		next_ms = at_ms < next_ms ? at_ms : next_ms;
	}
	return next_ms;
}
