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

enum {
	METHOD_LEGACY = 1,
	METHOD_MODERN = 2,
	METHOD_EARLY = 4, /* before initialize too */
};

struct method {
	const char *name;
	unsigned int eras; /* a set of METHOD_ */
	void (*serve)(struct server *s, const struct asking *a);
};

/* What a server offers. */
struct face {
	const struct method *methods;
	size_t n;
	const char *capabilities; /* JSON */
	const char *instructions;
	/* A response of the client; NULL: we ask nothing of it. */
	void (*hear)(
	    struct server *s, const struct scan *scan, uint32_t message);
};

extern const struct face methods_face; /* methods.c: of bailiff-mcp */

/* session.c: the same for every face. */
void session_initialize(struct server *s, const struct asking *a);
void session_ping(struct server *s, const struct asking *a);
void session_discover(struct server *s, const struct asking *a);

/* A member of params, or SCAN_NONE. */
uint32_t method_param(const struct asking *a, const char *name);

/* Answer it, or begin what will. */
void method_serve(struct server *s, const struct asking *a);

/* The answer that it was wrong. */
void method_fault(struct server *s, const struct asking *a, enum rpc_code code,
    const char *text);

#endif
