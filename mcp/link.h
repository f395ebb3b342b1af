/*
 * mcp/link.h - the channel to the service, which never makes us wait.
 */
#ifndef MCP_LINK_H
#define MCP_LINK_H

#include "mcp/server.h"

/* Take over the channel that `bailiff mcp` greeted. */
int link_open(struct server *s, int take_fd, struct error *e) MUST_CHECK;

/* DESCRIBE, and wait for its answers: s->about. */
int link_describe(struct server *s, struct error *e) MUST_CHECK;

/* ERROR_SYSTEM with EAGAIN: the service is behind; later. */
int link_send(struct server *s, enum protocol_verb verb, const void *message,
    const struct fd_list *fds, struct error *e) MUST_CHECK;

/* Hear what is there and act on it; ERROR_CLOSED when the service is gone. */
int link_hear(struct server *s, struct error *e) MUST_CHECK;

uint64_t link_number(struct server *s); /* of the next request */

#endif
