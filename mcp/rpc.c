/*
 * mcp/rpc.c - JSON-RPC messages.  Linked by bailiff-mcp.  The text is hostile,
 * but has been scanned; nothing here allocates or has an effect.
 */
#include "mcp/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

struct rpc_span rpc_span(const struct scan *s, uint32_t node)
{
	if (node == SCAN_NONE)
		return (struct rpc_span){ "", 0 };
	return (
	    struct rpc_span){ s->text + s->nodes[node].at, s->nodes[node].len };
}

bool rpc_is_id(const struct scan *s, uint32_t node)
{
	struct rpc_span text = rpc_span(s, node);

	if (s->nodes[node].kind == SCAN_STRING)
		return true;
	if (s->nodes[node].kind != SCAN_NUMBER)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (strchr(".eE", text.at[i]) != NULL)
			return false;
	return true;
}

enum rpc_code rpc_scan_code(const struct error *why)
{
	/* Sound JSON that could be understood in two ways. */
	if (strcmp(why->text, "duplicate key") == 0)
		return RPC_INVALID;
	return RPC_PARSE;
}

/* The characters of a string id; NULL: no memory, or an unpaired surrogate. */
static char *decoded(struct rpc_span text, size_t *ret_len)
{
	struct scan_node node;
	struct scan s = {
		.text = text.at, .len = text.len, .nodes = &node, .cap = 1
	};
	char *to = malloc(text.len + 1);
	struct error e;

	if (to != NULL && scan_parse(&s, &e) == 0 &&
	    scan_string(&s, 0, to, text.len + 1, ret_len) == 0)
		return to;
	free(to);
	return NULL;
}

bool rpc_same_id(struct rpc_span a, struct rpc_span b)
{
	AUTO_FREE char *text_a = NULL;
	AUTO_FREE char *text_b = NULL;
	size_t len_a = 0;
	size_t len_b = 0;

	if (a.len == b.len && memcmp(a.at, b.at, a.len) == 0)
		return true;
	/* Without an escape there is one spelling of each string. */
	if (a.len == 0 || b.len == 0 || a.at[0] != '"' || b.at[0] != '"' ||
	    (memchr(a.at, '\\', a.len) == NULL &&
	        memchr(b.at, '\\', b.len) == NULL))
		return false;
	text_a = decoded(a, &len_a);
	text_b = decoded(b, &len_b);
	return text_a != NULL && text_b != NULL && len_a == len_b &&
	       memcmp(text_a, text_b, len_a) == 0;
}

uint32_t rpc_member(const struct scan *s, uint32_t object, const char *name)
{
	uint32_t node =
	    object != SCAN_NONE ? scan_member(s, object, name) : SCAN_NONE;

	if (node != SCAN_NONE && s->nodes[node].kind == SCAN_NULL)
		return SCAN_NONE;
	return node;
}

uint32_t rpc_meta(
    const struct scan *s, const struct rpc_message *m, const char *name)
{
	char key[64];

	(void)snprintf(key, sizeof(key), RPC_META "%s", name);
	return m->meta != SCAN_NONE ? scan_member(s, m->meta, key) : SCAN_NONE;
}

static void bad(struct rpc_message *m, enum rpc_code code, const char *why)
{
	m->kind = RPC_BAD;
	m->code = code;
	m->why = why;
}

static bool is_version_2(const struct scan *s, uint32_t node)
{
	char text[8];
	size_t len;

	return node != SCAN_NONE &&
	       scan_string(s, node, text, sizeof(text), &len) == 0 &&
	       strcmp(text, "2.0") == 0;
}

/* Parameters, _meta and the era that follows from them. */
static void read_params(
    const struct scan *s, uint32_t params, struct rpc_message *m)
{
	m->params = params;
	if (params != SCAN_NONE && s->nodes[params].kind != SCAN_OBJECT) {
		bad(m, RPC_PARAMS, "params must be an object");
		return;
	}
	m->meta =
	    params != SCAN_NONE ? scan_member(s, params, "_meta") : SCAN_NONE;
	if (m->meta != SCAN_NONE && s->nodes[m->meta].kind != SCAN_OBJECT) {
		bad(m, RPC_PARAMS, "params._meta must be an object");
		return;
	}
	m->modern = rpc_meta(s, m, "protocolVersion") != SCAN_NONE ||
	            rpc_meta(s, m, "clientCapabilities") != SCAN_NONE ||
	            strcmp(m->method, "server/discover") == 0 ||
	            strcmp(m->method, "subscriptions/listen") == 0;
}

void rpc_read(const struct scan *s, uint32_t node, struct rpc_message *ret)
{
	uint32_t id;
	uint32_t method;
	size_t len;

	*ret = (struct rpc_message){
		.kind = RPC_REQUEST, .params = SCAN_NONE, .meta = SCAN_NONE
	};
	if (s->nodes[node].kind != SCAN_OBJECT) {
		bad(ret, RPC_INVALID, "a message must be an object");
		return;
	}
	id = scan_member(s, node, "id");
	if (id != SCAN_NONE && !rpc_is_id(s, id)) {
		bad(ret, RPC_INVALID, "id must be a string or an integer");
		return;
	}
	ret->id = rpc_span(s, id);
	if (!is_version_2(s, scan_member(s, node, "jsonrpc"))) {
		bad(ret, RPC_INVALID, "jsonrpc must be \"2.0\"");
		return;
	}
	method = scan_member(s, node, "method");
	if (method == SCAN_NONE &&
	    (scan_member(s, node, "result") != SCAN_NONE ||
	        scan_member(s, node, "error") != SCAN_NONE)) {
		ret->kind = RPC_RESPONSE;
		return;
	}
	if (method == SCAN_NONE || s->nodes[method].kind != SCAN_STRING) {
		bad(ret, RPC_INVALID, "method must be a string");
		return;
	}
	/* One that does not fit is none that we know. */
	if (scan_string(s, method, ret->method, sizeof(ret->method), &len) < 0)
		ret->method[0] = '\0';
	read_params(s, scan_member(s, node, "params"), ret);
	if (id == SCAN_NONE)
		ret->kind = RPC_NOTIFICATION; /* of which nobody hears */
}

bool rpc_modern_ok(
    const struct scan *s, struct rpc_message *m, uint32_t *ret_version)
{
	uint32_t version = rpc_meta(s, m, "protocolVersion");
	uint32_t capabilities = rpc_meta(s, m, "clientCapabilities");
	char text[sizeof(RPC_MODERN)];
	size_t len;

	m->code = RPC_PARAMS;
	if (version == SCAN_NONE || s->nodes[version].kind != SCAN_STRING) {
		m->why = "params._meta must carry " RPC_META "protocolVersion, "
		         "a string";
		return false;
	}
	if (capabilities == SCAN_NONE ||
	    s->nodes[capabilities].kind != SCAN_OBJECT) {
		m->why = "params._meta must carry " RPC_META
		         "clientCapabilities, an object";
		return false;
	}
	if (scan_string(s, version, text, sizeof(text), &len) == 0 &&
	    strcmp(text, RPC_MODERN) == 0)
		return true;
	m->code = RPC_VERSION;
	m->why = "this server does not speak that protocol version";
	*ret_version = version;
	return false;
}
