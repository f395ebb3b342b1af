/*
 * mcp/session.c - what holds for every request, whatever it asks: its era, its
 * version, its place in a session.  Linked by bailiff-mcp.
 */
#include <string.h>

#include "mcp/calls.h"
#include "mcp/claims.h"
#include "mcp/methods.h"

/* The legacy versions, newest first. */
static const char *const versions[] = { "2025-11-25", "2025-06-18",
	"2025-03-26", "2024-11-05" };
#define N_VERSIONS (sizeof(versions) / sizeof(versions[0]))

uint32_t method_param(const struct asking *a, const char *name)
{
	return a->message->params != SCAN_NONE
	           ? scan_member(a->scan, a->message->params, name)
	           : SCAN_NONE;
}

void session_initialize(struct server *s, const struct asking *a)
{
	uint32_t version = method_param(a, "protocolVersion");
	uint32_t info = method_param(a, "clientInfo");
	char text[16];
	size_t len;
	int found = 0;

	if (s->legacy >= 0 || a->to->batch != NULL) {
		method_fault(s, a, RPC_INVALID,
		    s->legacy >= 0 ? "initialize came before; once is all"
		                   : "initialize must not be in a batch");
		return;
	}
	if (version == SCAN_NONE ||
	    a->scan->nodes[version].kind != SCAN_STRING) {
		method_fault(
		    s, a, RPC_PARAMS, "protocolVersion must be a string");
		return;
	}
	/* A version that nobody knows is answered by our newest. */
	if (scan_string(a->scan, version, text, sizeof(text), &len) == 0)
		for (size_t i = 0; i < N_VERSIONS; i++)
			if (strcmp(text, versions[i]) == 0)
				found = (int)i;
	s->legacy = found;
	if (info != SCAN_NONE && a->scan->nodes[info].kind == SCAN_OBJECT)
		claim_client(s, a->scan, info);
	page_format(&s->body,
	    "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"serverInfo\":{"
	    "\"name\":\"bailiff\",\"title\":\"Bailiff\","
	    "\"version\":\"" BAILIFF_VERSION "\"},\"instructions\":\"%s\"",
	    versions[found], s->face->capabilities, s->face->instructions);
	reply_result(s, a->to, REPLY_PLAIN);
}

void session_ping(struct server *s, const struct asking *a)
{
	reply_result(s, a->to, REPLY_PLAIN);
}

void session_discover(struct server *s, const struct asking *a)
{
	page_format(&s->body,
	    "\"supportedVersions\":[\"" RPC_MODERN
	    "\"],\"capabilities\":%s,\"instructions\":\"%s\"",
	    s->face->capabilities, s->face->instructions);
	reply_result(s, a->to, REPLY_CACHED);
}

static const struct method *method_of(
    const struct face *face, const struct rpc_message *m)
{
	unsigned int era = m->modern ? METHOD_MODERN : METHOD_LEGACY;

	for (size_t i = 0; i < face->n; i++)
		if (strcmp(m->method, face->methods[i].name) == 0)
			return face->methods[i].eras & era ? &face->methods[i]
			                                   : NULL;
	return NULL;
}

static void refuse_version(
    struct server *s, const struct asking *a, uint32_t version)
{
	struct rpc_span asked = rpc_span(a->scan, version);
	struct reply_fault f = { a->message->code, a->message->why, NULL };

	page_clear(&s->text);
	page_text(
	    &s->text, "{\"supported\":[\"" RPC_MODERN "\"],\"requested\":");
	page_bytes(&s->text, asked.at, asked.len);
	page_text(&s->text, "}");
	page_bytes(&s->text, "", 1);
	f.data = a->message->code == RPC_VERSION && !s->text.failed
	             ? s->text.data
	             : NULL;
	reply_fault(s, a->to, &f);
}

void method_serve(struct server *s, const struct asking *a)
{
	const struct method *m;
	uint32_t version = SCAN_NONE;

	if (a->message->modern &&
	    !rpc_modern_ok(a->scan, a->message, &version)) {
		refuse_version(s, a, version);
		return;
	}
	m = method_of(s->face, a->message);
	if (m == NULL) {
		method_fault(s, a, RPC_NO_METHOD, "Method not found");
		return;
	}
	if (!a->message->modern && s->legacy < 0 && !(m->eras & METHOD_EARLY)) {
		method_fault(s, a, RPC_PARAMS,
		    "send initialize first, or carry " RPC_META
		    "protocolVersion and clientCapabilities in params._meta");
		return;
	}
	if (calls_have(s, a->message->id)) {
		method_fault(
		    s, a, RPC_INVALID, "a request with this id is in flight");
		return;
	}
	m->serve(s, a);
}
