/*
 * audit/signer_serve.h - the signer's loop: channels in, groups of records out.
 * Private to the signer.
 */
#ifndef AUDIT_SIGNER_SERVE_H
#define AUDIT_SIGNER_SERVE_H

#include "audit/chain.h"
#include "base/channel.h"

#define SIGNER_LINKS_MAX 64

/* One channel.  Its id is never used again; 0 is a free place. */
struct signer_link {
	uint64_t id;
	bool greeted;
	bool readable;
	bool announced; /* its policy and programs were compared with the log */
	enum promise promise; /* of its records */
	uint8_t instance[16];
	struct event_hello hello; /* with our own build */
	struct channel channel;
};

enum signer_answer {
	ANSWER_WELCOME,
	ANSWER_STORED,
	ANSWER_REFUSED
};

/* What is to be said when the group is on disk, in the order of events. */
struct signer_pending {
	uint64_t link;
	uint64_t ticket;
	size_t index; /* in the group */
	enum signer_answer answer;
	bool receipt; /* of an outcome: with line, key and proof */
	bool request; /* of an intent or denial */
	enum error_kind kind;
	char text[ERROR_TEXT_MAX];
};

union signer_event {
	uint64_t ticket; /* every event but HELLO begins with it */
	struct event_hello hello;
	struct event_intent intent;
	struct event_denial denial;
	struct event_outcome outcome;
	struct event_recall recall;
	struct event_gap gap;
	struct event_access access;
	struct event_prune prune;
	struct event_redact redact;
};

/* Allocated once, on the heap. */
struct signer {
	struct chain chain;
	int listen_fd, signal_fd, state_fd;
	uint64_t linger_ms;
	uint64_t idle_since_ms;  /* without any channel */
	uint64_t dirty_since_ms; /* 0: nothing waits for a sync */
	uint64_t last_link;
	uint8_t build[32]; /* SHA-256 of our own program */
	bool recovered;    /* what a crash left is recorded, */
	bool recovering;   /* or will be, by the group being built */
	bool stop;
	size_t n_pending;
	struct signer_pending pending[CHAIN_GROUP_MAX + SIGNER_LINKS_MAX];
	union signer_event event;
	struct event_stored stored;
	struct signer_link links[SIGNER_LINKS_MAX];
};

/*
 * Serve until told to stop or idle for linger_ms; then end the epoch and leave
 * everything synced.  A failure is for good.
 */
int signer_serve(struct signer *s, struct error *e) MUST_CHECK;

/* signer_link.c */
void signer_accept(struct signer *s);
void signer_receive(struct signer *s, struct signer_link *link, int *ret_fatal,
    struct error *e);
void signer_drop(struct signer_link *link);
struct signer_link *signer_find(struct signer *s, uint64_t id);
void signer_answer_all(struct signer *s);

#endif
