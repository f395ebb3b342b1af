/*
 * mcp/calls.h - requests in flight: the table of them, cancellation, progress.
 */
#ifndef MCP_CALLS_H
#define MCP_CALLS_H

#include "mcp/server.h"

/*
 * A call for a request; NULL when there are too many.  It keeps copies of what
 * it needs of the message.  'run' may be NULL.
 */
struct call_of {
	const struct scan *scan;
	const struct rpc_message *message;
	const struct reply_to *to;
	const struct plan_kind *kind;
	struct job *job;
};
struct call *calls_add(struct server *s, const struct call_of *of);
void calls_free(struct server *s, struct call *c); /* after its answer */

bool calls_have(const struct server *s, struct rpc_span id);
size_t calls_count(const struct server *s);
/* Those that will be answered; listening is not. */
size_t calls_pending(const struct server *s);
/* The service is gone: answer all of them. */
void calls_abandon(struct server *s);

/* A run was decided, or is over. */
void calls_job_changed(struct server *s, struct job *r);
bool calls_wait_for(const struct server *s, const struct job *r);

/* The oldest call that can be answered, or NULL. */
struct call *calls_next_ready(const struct server *s);

/* notifications/cancelled: no answer, and its run is killed. */
void calls_cancel(struct server *s, struct rpc_span id);
void calls_cancel_all(struct server *s);

/* Progress and waits that are due; returns when to call again, or
 * UINT64_MAX. */
uint64_t calls_tend(struct server *s, uint64_t now_ms);

#endif
