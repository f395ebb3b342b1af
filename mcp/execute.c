/*
 * mcp/execute.c - execute_code, get_run and cancel_run.  Linked by bailiff-mcp.
 * They only carry: what may run is decided by the service.
 */
#include <stdio.h>
#include <string.h>

#include "mcp/calls.h"
#include "mcp/claims.h"
#include "mcp/results.h"
#include "mcp/tools.h"

#define WAIT_MS_MIN 1
#define SHOWN_MAX   400000 /* any bytes, escaped twice, fit in a line */

/* Clients that put a long text aside, so that the model sees nothing of it;
 * who they are is their own word, and only this hangs on it. */
static const struct {
	const char *client;
	size_t shown;
} narrow[] = {
	{ "claude-code", 40000 },
};

/* Who the client says it is; a modern one says so in each request. */
static struct job_claims claims_of(struct server *s, const struct tool_call *c)
{
	struct job_claims claims = { .request = "" };
	uint32_t info = rpc_meta(c->scan, c->message, "clientInfo");

	claim_text(c->message->id.at, c->message->id.len, claims.request);
	claim_member(
	    c->scan, c->message->meta, "traceparent", claims.traceparent);
	if (c->to->modern) {
		s->client[0] = '\0';
		s->client_version[0] = '\0';
	}
	if (c->to->modern && info != SCAN_NONE &&
	    c->scan->nodes[info].kind == SCAN_OBJECT)
		claim_client(s, c->scan, info);
	return claims;
}

/* Bytes of output that this client is shown at once. */
static size_t shown_to(const struct server *s, const struct tool_call *c)
{
	char name[SERVER_CLAIM_MAX] = "";
	uint32_t info = rpc_meta(c->scan, c->message, "clientInfo");

	if (!c->to->modern)
		memcpy(name, s->client, sizeof(name));
	else if (info != SCAN_NONE && c->scan->nodes[info].kind == SCAN_OBJECT)
		claim_member(c->scan, info, "name", name);
	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++)
		if (strcmp(narrow[i].client, name) == 0)
			return narrow[i].shown;
	return SHOWN_MAX;
}

/* Nothing was asked of the service: an answer in the same shape. */
static void answer_unsent(struct server *s, const struct reply_to *to,
    const char *rule, const char *why)
{
	struct facts facts = { .status = "denied" };
	struct facts_body body = { .out = { "", 0 }, .err = { "", 0 } };

	facts_of_policy(&facts, &s->about);
	(void)snprintf(facts.rules, sizeof(facts.rules), "%s", rule);
	(void)snprintf(facts.advice, sizeof(facts.advice), "%s", why);
	page_clear(&s->text);
	facts_print(&facts, &body, &s->text);
	reply_text(s, to, &s->text, REPLY_ERROR);
}

static void begin(struct server *s, const struct tool_call *c, struct job *r,
    const struct plan_kind *kind)
{
	const struct call_of of = { c->scan, c->message, c->to, kind, r };
	struct call *call = calls_add(s, &of);

	if (call != NULL) {
		call->plan.shown = shown_to(s, c);
		return;
	}
	r->background = false;
	job_cancel(s, r);
	answer_unsent(
	    s, c->to, "concurrency.busy", "busy: too many calls at once");
}

void tool_execute(struct server *s, struct tool_call *c)
{
	struct job_claims claims = claims_of(s, c);
	struct job *r = NULL;
	struct error e = { .text = "busy: too many runs are going or waiting; "
		                   "try again when some have ended" };

	if (calls_count(s) < SERVER_CALLS_MAX && job_may_ask(s))
		r = job_ask(s, &c->args, &claims, &e);
	if (r == NULL)
		answer_unsent(s, c->to, "concurrency.busy", e.text);
	else
		begin(s, c, r,
		    r->background ? &results_running : &results_of_run);
}

void execute_refused(
    struct server *s, struct tool_call *c, const struct error *why)
{
	struct job_claims claims = claims_of(s, c);
	struct rpc_span raw = rpc_span(c->scan, c->message->params);
	struct job *r = NULL;
	struct error e;
	char text[ERROR_TEXT_MAX];

	(void)snprintf(text, sizeof(text),
	    "the arguments are wrong: %.400s. Trying again unchanged will not "
	    "help.",
	    why->text);
	if (calls_count(s) < SERVER_CALLS_MAX && job_may_refuse(s))
		r = job_refuse(s, &raw, &claims, &e);
	if (r == NULL) {
		answer_unsent(s, c->to, "request.malformed", text);
		return;
	}
	memcpy(r->complaint, text, sizeof(r->complaint));
	begin(s, c, r, &results_running);
}

void tool_get_run(struct server *s, struct tool_call *c)
{
	const char *run_id = c->args.run_id.data;
	struct job *r = job_find(s, run_id);
	bool stored = r == NULL || (r->over && r->facts.allow);
	const struct call_of of = { c->scan, c->message, c->to,
		stored ? &results_of_stored : &results_running, r };
	struct call *call = calls_add(s, &of);

	if (call == NULL) {
		answer_unsent(s, c->to, "concurrency.busy",
		    "busy: too many calls at once");
		return;
	}
	memcpy(call->plan.run_id, run_id, sizeof(call->plan.run_id));
	call->plan.offset = c->args.offset;
	call->plan.shown = shown_to(s, c);
	call->ready = r == NULL || r->over || c->args.wait_s == 0;
	call->until_ms = server_now_ms() + WAIT_MS_MIN + c->args.wait_s * 1000;
}

static void render_cancelled(struct server *s, struct call *c, struct fetch *f)
{
	(void)f;
	page_clear(&s->text);
	page_format(&s->text,
	    "{\n  \"run_id\": \"%s\",\n  \"status\": \"%s\"\n}",
	    c->job->facts.run_id, c->job->facts.status);
	reply_text(s, &c->to, &s->text, REPLY_GOOD);
}

static const struct plan_kind cancelled = { false, NULL, render_cancelled };

void tool_cancel_run(struct server *s, struct tool_call *c)
{
	struct job *r = job_find(s, c->args.run_id.data);
	const struct call_of of = { c->scan, c->message, c->to, &cancelled, r };
	struct call *call = r != NULL ? calls_add(s, &of) : NULL;

	if (call == NULL) {
		page_clear(&s->text);
		page_text(&s->text,
		    "no run of that id was started by this connection; "
		    "only its own can be cancelled");
		reply_text(s, c->to, &s->text, REPLY_ERROR);
		return;
	}
	call->ready = r->over;
	call->until_ms = server_now_ms() + 5000;
	job_cancel(s, r);
}
