/*
 * mcp/claims.c - what a client says of itself, for the record.  Linked by
 * bailiff-mcp.  Hostile text goes in, percent-encoded text comes out.
 */
#include "mcp/claims.h"

#include "base/text.h"

/* As much of a foreign text as a claim holds, percent-encoded. */
void claim_text(const char *from, size_t len, char ret[SERVER_CLAIM_MAX])
{
	struct error e;

	ret[0] = '\0';
	if (len > SERVER_CLAIM_MAX)
		len = SERVER_CLAIM_MAX;
	while (len > 0 &&
	       text_percent_encode(from, len, ret, SERVER_CLAIM_MAX, &e) < 0)
		len = len > SERVER_CLAIM_MAX / 3 ? SERVER_CLAIM_MAX / 3 - 1
		                                 : len - 1;
	if (len == 0)
		ret[0] = '\0';
}

void claim_member(const struct scan *s, uint32_t object, const char *name,
    char ret[SERVER_CLAIM_MAX])
{
	uint32_t node = rpc_member(s, object, name);
	char text[SERVER_CLAIM_MAX];
	size_t len;

	if (node != SCAN_NONE && s->nodes[node].kind == SCAN_STRING &&
	    scan_string(s, node, text, sizeof(text), &len) == 0)
		claim_text(text, len, ret);
}

void claim_client(struct server *s, const struct scan *scan, uint32_t info)
{
	claim_member(scan, info, "name", s->client);
	claim_member(scan, info, "version", s->client_version);
}
