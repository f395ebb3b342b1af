/*
 * mcp/methods.c - what a client may ask: one table, for both eras.  Linked by
 * bailiff-mcp.  Every line is hostile.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/calls.h"
#include "mcp/methods.h"
#include "mcp/tools.h"

#define URI_MAX       1024
#define TOOL_NAME_MAX 128

/* There is one page of everything, so there is no cursor. */
static bool has_cursor(struct server *s, const struct asking *a)
{
	if (rpc_member(a->scan, a->message->params, "cursor") == SCAN_NONE)
		return false;
	method_fault(s, a, RPC_PARAMS, "unknown cursor: the list has one page");
	return true;
}

static void on_tools_list(struct server *s, const struct asking *a)
{
	if (has_cursor(s, a))
		return;
	page_text(&s->body, "\"tools\":");
	tools_list(s, &s->body);
	reply_result(s, a->to, REPLY_CACHED);
}

static void on_resources_list(struct server *s, const struct asking *a)
{
	if (has_cursor(s, a))
		return;
	page_text(&s->body,
	    "\"resources\":["
	    "{\"uri\":\"sandbox://languages\",\"name\":\"languages\","
	    "\"title\":\"Languages\",\"description\":\"Details of every "
	    "language that the policy allows.\","
	    "\"mimeType\":\"application/json\"},"
	    "{\"uri\":\"sandbox://policy\",\"name\":\"policy\","
	    "\"title\":\"Policy\",\"description\":\"The effective policy, "
	    "as records name it by its hash.\","
	    "\"mimeType\":\"application/json\"}]");
	reply_result(s, a->to, REPLY_CACHED);
}

static void on_templates_list(struct server *s, const struct asking *a)
{
	static const struct {
		const char *rest, *name, *about, *type;
	} rows[] = {
		{ "stdout", "stdout", "Standard output that is kept.",
		    "text/plain" },
		{ "stderr", "stderr", "Standard error that is kept.",
		    "text/plain" },
		{ "result", "result", "How the run went.", "application/json" },
		{ "audit", "audit", "The signed record of the run.",
		    "application/json" },
		{ "files/{+path}", "file", "A file that the run left.",
		    "application/octet-stream" },
	};

	if (has_cursor(s, a))
		return;
	page_text(&s->body, "\"resourceTemplates\":[");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		page_format(&s->body,
		    "%s{\"uriTemplate\":\"sandbox://runs/{run_id}/%s\","
		    "\"name\":\"%s\",\"description\":\"%s\","
		    "\"mimeType\":\"%s\"}",
		    i > 0 ? "," : "", rows[i].rest, rows[i].name, rows[i].about,
		    rows[i].type);
	page_text(&s->body, "]");
	reply_result(s, a->to, REPLY_CACHED);
}

static void read_fixed(
    struct server *s, const struct asking *a, const char *uri)
{
	page_clear(&s->text);
	if (strcmp(uri, "sandbox://languages") == 0)
		about_all(&s->about, &s->text);
	else
		page_bytes(&s->text, s->about.text.data, s->about.text.len);
	page_format(&s->body,
	    "\"contents\":[{\"uri\":\"%s\",\"mimeType\":"
	    "\"application/json\",\"text\":",
	    uri);
	(void)page_string(&s->body, s->text.data, s->text.len);
	page_text(&s->body, "}]");
	reply_result(s, a->to, REPLY_CACHED);
}

static void on_resources_read(struct server *s, const struct asking *a)
{
	const struct tool_call c = {
		.scan = a->scan, .message = a->message, .to = a->to
	};
	uint32_t node = method_param(a, "uri");
	char uri[URI_MAX] = "";
	size_t len = 0;

	if (node == SCAN_NONE || a->scan->nodes[node].kind != SCAN_STRING) {
		method_fault(s, a, RPC_PARAMS, "uri must be a string");
		return;
	}
	if (scan_string(a->scan, node, uri, sizeof(uri), &len) < 0 ||
	    strlen(uri) != len)
		resource_missing(s, a->to, "");
	else if (strcmp(uri, "sandbox://languages") == 0 ||
	         strcmp(uri, "sandbox://policy") == 0)
		read_fixed(s, a, uri);
	else if (!resource_read(s, &c, uri))
		resource_missing(s, a->to, uri);
}

static void on_tools_call(struct server *s, const struct asking *a)
{
	struct tool_call *c = calloc(1, sizeof(*c));
	uint32_t arguments =
	    rpc_member(a->scan, a->message->params, "arguments");
	uint32_t node = method_param(a, "name");
	char name[TOOL_NAME_MAX + 1] = "";
	const struct tool *tool;
	size_t len;

	if (c == NULL) {
		method_fault(s, a, RPC_INTERNAL, "out of memory");
	} else if (node == SCAN_NONE ||
	           a->scan->nodes[node].kind != SCAN_STRING) {
		method_fault(s, a, RPC_PARAMS, "name must be a string");
	} else if (arguments != SCAN_NONE &&
	           a->scan->nodes[arguments].kind != SCAN_OBJECT) {
		method_fault(s, a, RPC_PARAMS, "arguments must be an object");
	} else if (scan_string(a->scan, node, name, sizeof(name), &len) < 0 ||
	           (tool = tools_find(name)) == NULL || strlen(name) != len) {
		page_clear(&s->text);
		page_format(&s->text, "Unknown tool: %s", name);
		page_bytes(&s->text, "", 1);
		method_fault(s, a, RPC_PARAMS, s->text.data);
	} else {
		c->scan = a->scan;
		c->message = a->message;
		c->to = a->to;
		tools_call(s, tool, c, arguments);
	}
	free(c);
}

/* Nothing that a client could listen to ever changes: it waits for its end. */
static void render_never(struct server *s, struct call *c, struct fetch *f)
{
	(void)f;
	reply_result(s, &c->to, REPLY_PLAIN);
}

static const struct plan_kind listening = { false, NULL, render_never };

static void on_listen(struct server *s, const struct asking *a)
{
	const struct call_of of = { a->scan, a->message, a->to, &listening,
		NULL };
	struct call *call = calls_add(s, &of);

	if (call == NULL) {
		method_fault(s, a, RPC_INTERNAL, "too many calls at once");
		return;
	}
	call->ready = false;
	page_text(&s->body, "\"_meta\":{\"" RPC_META "subscriptionId\":");
	page_bytes(&s->body, a->message->id.at, a->message->id.len);
	page_text(&s->body, "},\"notifications\":{}");
	reply_notify(s, "notifications/subscriptions/acknowledged");
}

static const struct method methods[] = {
	{ "initialize", METHOD_LEGACY | METHOD_EARLY, session_initialize },
	{ "ping", METHOD_LEGACY | METHOD_EARLY, session_ping },
	{ "server/discover", METHOD_MODERN, session_discover },
	{ "tools/list", METHOD_LEGACY | METHOD_MODERN, on_tools_list },
	{ "tools/call", METHOD_LEGACY | METHOD_MODERN, on_tools_call },
	{ "resources/list", METHOD_LEGACY | METHOD_MODERN, on_resources_list },
	{ "resources/templates/list", METHOD_LEGACY | METHOD_MODERN,
	    on_templates_list },
	{ "resources/read", METHOD_LEGACY | METHOD_MODERN, on_resources_read },
	{ "subscriptions/listen", METHOD_MODERN, on_listen },
};

const struct face methods_face = {
	.methods = methods,
	.n = sizeof(methods) / sizeof(methods[0]),
	.capabilities = "{\"resources\":{},\"tools\":{}}",
	.instructions =
	    "Runs code that nobody has read, confined and recorded. "
	    "execute_code runs a program; get_policy shows what is allowed; "
	    "a result's run_id reads its files later.",
};
