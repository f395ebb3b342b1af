/*
 * executor/session.h - one connected front: its requests in, its answers out.
 * A front is hostile: typed messages, bounded queue, and nobody waits for it.
 */
#ifndef EXECUTOR_SESSION_H
#define EXECUTOR_SESSION_H

#include "base/channel.h"
#include "executor/loop.h"
#include "executor/outbox.h"
#include "executor/supervisor.h"

struct results_list;

#define SESSION_OWN_MAX  128
#define SESSION_SEEN_MAX 32

/* A name of a run that this front has read, and when that was recorded. */
struct session_seen {
	uint64_t since_us;
	uint8_t digest[SHA256_BYTES];
};

struct session {
	struct session *next; /* owned by the supervisor's list */
	struct supervisor *s; /* borrowed */
	int fd;               /* owned; -1 when over */
	struct watch watch;
	struct outbox box;
	struct channel_peer peer; /* the principal, by the kernel */
	bool greeted;             /* HELLO was answered by WELCOME */
	bool leaving;             /* close once the box is empty */
	bool wants_stop;          /* to be told when everything has stopped */
	uint64_t stop_request, stop_count;
	uint64_t since_us;
	size_t n_runs;
	/* Requests turned away since then, for the limit of a second. */
	uint64_t turned_away_us;
	uint32_t n_turned_away;
	struct results_list *list; /* owned; LIST that is being answered */
	uint64_t list_request;
	/* Runs asked for over this channel, the last ones; what it has read. */
	size_t n_own;
	uint8_t own[SESSION_OWN_MAX][EVENT_RUN_BYTES];
	struct session_seen seen[SESSION_SEEN_MAX];
};

#define SESSIONS_MAX 128
/* A front that connects must say HELLO within this. */
#define SESSION_HELLO_US UINT64_C(10000000)
/* Runs of one front that have not finished. */
#define SESSION_RUNS_MAX 128

/* Take one connection from the listening socket. */
void session_accept(struct supervisor *s);

/* Queue an answer.  A front that does not read is cut off. */
void session_send(struct session *c, uint16_t verb, const void *message,
    const struct fd_list *fds);
void session_failed(struct session *c, uint64_t request, enum error_kind kind,
    const char *text);

/* There may be output to send: wait until the socket takes it. */
void session_wake(struct session *c);

/* Close now; its runs are cancelled.  Freed by session_sweep. */
void session_end(struct session *c);

/* Between turns: late greetings, what is over. */
void session_sweep(struct supervisor *s);

#endif
