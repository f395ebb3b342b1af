/*
 * mcp/rpc.h - one JSON-RPC 2.0 message of a client, and its era.
 *
 * MCP narrows JSON-RPC: an id is a string or an integer, parameters are an
 * object.  A modern request (2026-07-28) carries its version and the client's
 * capabilities in params._meta; any other belongs to the session that
 * "initialize" opened.  The era is a property of each request.
 */
#ifndef MCP_RPC_H
#define MCP_RPC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/scan.h"

#define RPC_METHOD_MAX 128
#define RPC_DEPTH_MAX  64
#define RPC_NODES_MAX  16384
#define RPC_MODERN     "2026-07-28"
#define RPC_META       "io.modelcontextprotocol/"

enum rpc_code {
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NO_RESOURCE = -32002, /* legacy only */
	RPC_CAPABILITY = -32021,  /* one that the client lacks */
	RPC_VERSION = -32022,
};

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE, /* we asked nothing: ignored */
	RPC_BAD       /* 'code' and 'why'; answered with 'id' if there is one */
};

/* Bytes of the JSON text: borrowed, byte for byte as the client sent them. */
struct rpc_span {
	const char *at;
	size_t len; /* 0: there is none */
};

struct rpc_message {
	enum rpc_kind kind;
	struct rpc_span id;
	char method[RPC_METHOD_MAX];
	uint32_t params; /* an object, or SCAN_NONE */
	uint32_t meta;   /* params._meta, an object, or SCAN_NONE */
	bool modern;
	enum rpc_code code;
	const char *why; /* static */
};

/* The message at 'node'.  Total: always fills *ret. */
void rpc_read(const struct scan *s, uint32_t node, struct rpc_message *ret);

/*
 * What a modern request must carry: *ret_code and *ret_why, false.  For
 * RPC_VERSION *ret_version is the node of the version that was asked for.
 */
bool rpc_modern_ok(
    const struct scan *s, struct rpc_message *m, uint32_t *ret_version);

/* The code for a text that scan_parse refused with 'why'. */
enum rpc_code rpc_scan_code(const struct error *why);

struct rpc_span rpc_span(const struct scan *s, uint32_t node);

/* A string or an integer. */
bool rpc_is_id(const struct scan *s, uint32_t node);

/* The same id: equal strings may be spelt differently, "1" is not 1. */
bool rpc_same_id(struct rpc_span a, struct rpc_span b);

/* The member of that name, unless it is null or not there: then SCAN_NONE. */
uint32_t rpc_member(const struct scan *s, uint32_t object, const char *name);

/* A member of params._meta whose name begins with RPC_META. */
uint32_t rpc_meta(
    const struct scan *s, const struct rpc_message *m, const char *name);

#endif
