/*
 * executor/supervisor_notes.c - events that are not a step of a run, on their
 * way to the signer and back.  Linked by the supervisor.
 */
#include "executor/supervisor_notes.h"

#include <stdlib.h>

#include "base/own.h"
#include "executor/patience.h"
#include "executor/results.h"
#include "executor/supervisor.h"

struct note *note_make(enum event_verb verb, note_done *done)
{
	struct note *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->verb = verb;
	n->done = done;
	n->fd = -1;
	return n;
}

void note_free(struct note *n)
{
	own_close(&n->fd);
	results_list_free(n->list);
	free(n);
}

static void send_one(struct supervisor *s, struct note *n)
{
	struct error e;

	if (n->is_sent)
		return;
	if (audit_send(s->audit, n->verb, &n->ticket, &e) == 0)
		n->is_sent = true;
	else if (e.kind == ERROR_SYSTEM && e.saved_errno == EAGAIN)
		loop_change(&s->loop, &s->audit_watch, EPOLLIN | EPOLLOUT);
	else
		supervisor_lose(s, "the signer is gone");
}

void note_send(struct supervisor *s, struct note *take_n)
{
	struct note **end = &s->keeping.notes;

	/* In order: the signer records them in the order they were told. */
	while (*end != NULL)
		end = &(*end)->next;
	*end = take_n;
	take_n->since_us = loop_now_us();
	take_n->ticket = ++s->last_number;
	note_flush(s);
}

void note_flush(struct supervisor *s)
{
	for (struct note *n = s->keeping.notes; n != NULL && !s->lost;
	     n = n->next) {
		send_one(s, n);
		if (!n->is_sent)
			return;
	}
}

bool note_heard(struct supervisor *s, uint16_t verb)
{
	const union audit_reply *in = &s->in->audit;
	uint64_t ticket = verb == EVENT_STORED    ? in->stored.ticket
	                  : verb == EVENT_REFUSED ? in->refused.ticket
	                                          : 0;
	struct note **at = &s->keeping.notes;
	struct note *n;

	while (*at != NULL && (*at)->ticket != ticket)
		at = &(*at)->next;
	n = *at;
	if (n == NULL || ticket == 0)
		return false;
	*at = n->next;
	n->done(s, n, verb == EVENT_STORED ? &in->stored : NULL,
	    verb == EVENT_STORED ? "" : in->refused.text);
	note_free(n);
	return true;
}

void note_leave(struct supervisor *s, const struct session *c)
{
	for (struct note *n = s->keeping.notes; n != NULL; n = n->next)
		if (n->session == c)
			n->session = NULL;
}

uint64_t note_tend(struct supervisor *s, uint64_t now_us)
{
	if (s->keeping.notes == NULL || s->lost)
		return UINT64_MAX;
	/* The first is the oldest. */
	if (now_us - s->keeping.notes->since_us < PATIENCE_SIGNER)
		return s->keeping.notes->since_us + PATIENCE_SIGNER;
	supervisor_lose(s, "the signer does not answer (signer.timeout)");
	return UINT64_MAX;
}
