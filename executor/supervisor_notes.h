/*
 * executor/supervisor_notes.h - events for the signer that are not a step of a
 * run: what is told, and what happens when it is durable.  Private to the
 * supervisor.
 */
#ifndef EXECUTOR_SUPERVISOR_NOTES_H
#define EXECUTOR_SUPERVISOR_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"
#include "executor/protocol.h"

struct results_list;
struct session;
struct supervisor;
struct note;

/* 'stored' is NULL when the signer refused; 'why' says it then. */
typedef void note_done(struct supervisor *s, struct note *n,
    const struct event_stored *stored, const char *why);

struct note {
	struct note *next;
	uint64_t since_us;
	bool is_sent;
	enum event_verb verb;
	note_done *done;
	/* Who waits for it; NULL: nobody, or gone. */
	struct session *session;
	uint64_t request;
	/* What a reader gets when it is known who read; owned. */
	int fd; /* -1 */
	uint64_t size;
	struct results_list *list;
	union {
		uint64_t ticket; /* each event begins with it */
		struct event_gap gap;
		struct event_access access;
		struct event_prune prune;
		struct event_redact redact;
	};
};

/* A note to be filled; NULL without memory. */
struct note *note_make(enum event_verb verb, note_done *done);

void note_free(struct note *n);

/* Send it, now or when the signer takes it.  Takes the note. */
void note_send(struct supervisor *s, struct note *take_n);

/* The signer takes messages again. */
void note_flush(struct supervisor *s);

/* An answer: true if it was for a note. */
bool note_heard(struct supervisor *s, uint16_t verb);

/* That front is gone. */
void note_leave(struct supervisor *s, const struct session *c);

/* A signer that does not answer ends the service; when to look again. */
uint64_t note_tend(struct supervisor *s, uint64_t now_us);

#endif
