/*
 * mcp/methods.h - what a client may ask: one table, for both eras.
 */
#ifndef MCP_METHODS_H
#define MCP_METHODS_H

#include "mcp/server.h"

/* The legacy versions by their index in server.legacy. */
enum methods_version {
	METHODS_2025_11_25,
	METHODS_2025_06_18,
	METHODS_2025_03_26,
	METHODS_2024_11_05,
};

/* One request that is being served. */
struct asking {
	const struct scan *scan;
	struct rpc_message *message;
	const struct reply_to *to;
};

/* Answer it, or begin what will. */
void method_serve(struct server *s, const struct asking *a);

/* The answer that it was wrong. */
void method_fault(struct server *s, const struct asking *a, enum rpc_code code,
    const char *text);

#endif
