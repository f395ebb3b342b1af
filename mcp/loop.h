/*
 * mcp/loop.h - the life of the front: input, output, the service, signals.
 */
#ifndef MCP_LOOP_H
#define MCP_LOOP_H

#include "mcp/server.h"

struct loop {
	int in_fd, out_fd; /* borrowed: the client */
	int signal_fd;     /* borrowed */
	bool out_is_socket;
};

/*
 * Serve until the client leaves (0), a signal asks us to (0) or the service is
 * gone (-1).
 */
int loop_run(
    struct server *s, const struct loop *l, struct error *e) MUST_CHECK;

#endif
