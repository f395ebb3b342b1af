/*
 * mcp/claims.h - what a client says of itself: recorded, never believed.
 */
#ifndef MCP_CLAIMS_H
#define MCP_CLAIMS_H

#include "mcp/server.h"

/* As much of a foreign text as a claim holds, percent-encoded. */
void claim_text(const char *from, size_t len, char ret[SERVER_CLAIM_MAX]);

/* The same of a member that is a string; else 'ret' stays as it is. */
void claim_member(const struct scan *s, uint32_t object, const char *name,
    char ret[SERVER_CLAIM_MAX]);

/* clientInfo becomes the claims of the runs that follow. */
void claim_client(struct server *s, const struct scan *scan, uint32_t info);

#endif
