/*
 * mcp/job.h - runs that this front asked for: their messages, the shown part
 * of their output, and how they ended.
 */
#ifndef MCP_JOB_H
#define MCP_JOB_H

#include "mcp/args.h"
#include "mcp/facts.h"
#include "mcp/rpc.h"

struct server;
struct reply_to;

/* Bytes of each stream that are kept here; more is read from the service. */
#define JOB_SHOWN_MAX 40000
/* Ended ones that are remembered; older ones are asked of the service. */
#define JOB_MEMORY_MAX 128

struct job {
	struct job *next;
	uint64_t request;
	struct facts facts; /* run_id is "" until it is decided */
	bool decided, over;
	bool background;   /* its call was answered when it was decided */
	bool wants_cancel; /* CANCEL is still to be sent */
	uint64_t timeout_ms;
	uint64_t n_bytes;               /* of output so far */
	char complaint[ERROR_TEXT_MAX]; /* why its arguments are wrong, or "" */
	size_t out_len, err_len;
	char *out, *err; /* owned, JOB_SHOWN_MAX each; NULL when forgotten */
};

/* Claims of one request; the rest of them is the session's. */
struct job_claims {
	char request[PROTOCOL_CLAIM_MAX];
	char traceparent[PROTOCOL_CLAIM_MAX];
};

/* Ask for a run.  NULL after *e: nothing was sent. */
struct job *job_ask(struct server *s, const struct args *a,
    const struct job_claims *claims, struct error *e);

/* Tell the service of a request that could not be decoded. */
struct job *job_refuse(struct server *s, const struct rpc_span *raw,
    const struct job_claims *claims, struct error *e);

/* Whether one more may be asked for; false: busy. */
bool job_may_ask(struct server *s);
bool job_may_refuse(struct server *s);

struct job *job_find(const struct server *s, const char *run_id);
void job_cancel(struct server *s, struct job *r);
size_t job_count_going(const struct server *s);

/* Messages of the service; true if one was for a run of ours. */
bool job_on_message(struct server *s, uint16_t verb);
/* Between turns: CANCELs that did not go out, memory that is over. */
void job_tend(struct server *s);
/* The service is gone: all that were going are over. */
void job_abandon_all(struct server *s);
void job_free_all(struct server *s);

/* What is kept here of each stream. */
void job_shown(const struct job *r, struct facts_body *ret);

/* Cut both to 'max' bytes together, in whole characters. */
void job_share(struct facts_stream *out, struct facts_stream *err, size_t max);

#endif
