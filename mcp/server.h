/*
 * mcp/server.h - what the parts of bailiff-mcp share: one struct that main
 * owns.  One thread, one loop; nothing here waits for anybody.
 *
 * What is kept is bounded: the line being read (FEED_MAX), requests that wait
 * because the client does not read (SERVER_HELD_MAX), answers it has not read
 * (SERVER_ROOM and one line more), and per call the shown part of its output.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include "base/channel.h"
#include "mcp/about.h"
#include "mcp/feed.h"
#include "mcp/fetch.h"
#include "mcp/job.h"
#include "mcp/reply.h"

#define SERVER_CALLS_MAX 128     /* in flight */
#define SERVER_ROOM      1048576 /* unread answers; more, and requests wait */
#define SERVER_HELD_MAX  (4u << 20)
#define SERVER_CLAIM_MAX PROTOCOL_CLAIM_MAX

/* A request whose answer needs the service. */
struct call {
	uint64_t number; /* order of arrival */
	struct reply_to to;
	char *id;        /* owned; to.id lies in it */
	char *token;     /* owned; progress token as sent, or NULL */
	struct job *job; /* waits for it; NULL: for a fetch alone */
	bool dropped;    /* cancelled: no answer */
	bool ready;      /* its run is over, or it waited enough */
	uint64_t since_ms;
	uint64_t progress_ms; /* when the next notification is due */
	uint64_t progress_last;
	uint64_t until_ms; /* get_run waits no longer; 0: no end */
	struct plan plan;
};

union link_reply {
	struct protocol_failed failed;
	struct protocol_decided decided;
	struct protocol_output output;
	struct protocol_finished finished;
	struct protocol_entry entry;
	struct protocol_listed listed;
	struct protocol_opened opened;
	struct protocol_language language;
	struct protocol_described described;
	struct protocol_stopped stopped;
	struct protocol_welcome welcome;
};

struct face;

struct server {
	const struct face *face; /* borrowed; what is offered */
	struct feed feed;
	struct page held; /* requests that wait for room; lines */
	size_t held_at;
	uint64_t n_too_long; /* lines of which the client was not told yet */
	struct page queue;   /* answers on their way out; lines */
	size_t queue_at;
	/* Texts while they are made, one use at a time. */
	struct page line, body, text, list, extra;
	struct scan_node *nodes; /* owned; RPC_NODES_MAX */

	int legacy; /* index of the version that initialize agreed; -1 */
	char client[SERVER_CLAIM_MAX], client_version[SERVER_CLAIM_MAX];

	struct channel channel; /* to the service */
	union link_reply reply;
	struct protocol_run request; /* while it is sent */
	uint64_t last_request;       /* number */
	struct about about;

	struct call *calls[SERVER_CALLS_MAX]; /* owned; NULL: free */
	uint64_t last_call;
	struct job *jobs; /* owned; going, and those not long over */
	struct fetch fetch;
	/* Requests of this second that the service will turn away. */
	uint64_t refused_ms;
	uint32_t n_refused;
	uint64_t n_unsaid; /* requests refused here, not told to the service */

	bool eof;        /* no more input; in flight may still end */
	bool lost;       /* the client is gone or told us to end: at once */
	bool abandoned;  /* the service is gone: answer all, then exit 1 */
	uint64_t end_ms; /* when to leave at the latest */
};

/* 's' is zeroed; server_done also after a failure. */
int server_init(
    struct server *s, const struct face *face, struct error *e) MUST_CHECK;
void server_done(struct server *s);

uint64_t server_now_ms(void);

/* ---- messages.c: a whole line, or one message of it ---- */
void server_line(struct server *s, const char *line, size_t len);
void server_line_too_long(struct server *s);
void server_resume(struct server *s); /* held requests, while there is room */

#endif
