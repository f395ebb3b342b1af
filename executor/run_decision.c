/*
 * executor/run_decision.c - a decision on its way to the log and, once it is
 * durable, to the front.  Linked by the supervisor.
 */
#include <stdio.h>
#include <string.h>

#include "executor/patience.h"
#include "executor/run_refusal.h"
#include "executor/run_steps.h"

static void put_words(
    const struct policy_words *from, struct protocol_word *to, uint64_t *ret_n)
{
	for (size_t i = 0; i < from->n; i++)
		memcpy(to[i].text, from->items[i], sizeof(to[i].text));
	*ret_n = from->n;
}

void run_tell_decision(
    struct run *r, const struct event_stored *stored, bool allow)
{
	struct protocol_decided *d = &r->s->out->decided;

	if (r->session == NULL)
		return;
	memset(d, 0, sizeof(*d));
	d->request = r->request;
	memcpy(d->run_id, r->id, sizeof(d->run_id));
	d->allow = allow;
	put_words(&r->decision.rules, d->rules.items, &d->rules.n);
	put_words(&r->decision.reasons, d->reasons.items, &d->reasons.n);
	d->seq = stored->seq;
	memcpy(d->leaf, stored->leaf, sizeof(d->leaf));
	(void)snprintf(d->log_path, sizeof(d->log_path), "%.4080s/audit",
	    r->s->service.state);
	session_send(r->session, PROTOCOL_DECIDED, d, NULL);
}

static void put_denial(const struct run *r, struct event_denial *d)
{
	const struct event_intent *i = &r->intent;

	memset(d, 0, sizeof(*d));
	d->ticket = r->number;
	memcpy(d->run, i->run, sizeof(d->run));
	d->rules.n = r->decision.rules.n;
	for (size_t j = 0; j < r->decision.rules.n; j++)
		memcpy(d->rules.items[j].text, r->decision.rules.items[j],
		    sizeof(d->rules.items[j].text));
	d->reasons.n = r->decision.reasons.n;
	for (size_t j = 0; j < r->decision.reasons.n; j++)
		memcpy(d->reasons.items[j].text, r->decision.reasons.items[j],
		    sizeof(d->reasons.items[j].text));
	if (r->has_code_digest) {
		d->has |= DENIAL_HAS_CODE;
		memcpy(d->lang, i->lang, sizeof(d->lang));
		memcpy(d->code_sha256, i->code_sha256, sizeof(d->code_sha256));
		d->code_size = i->code_size;
	}
	if (r->has_raw) {
		d->has |= DENIAL_HAS_RAW;
		memcpy(d->raw_sha256, r->raw_sha256, sizeof(d->raw_sha256));
		d->raw_size = r->raw_size;
	}
	if (i->limits.n > 0) {
		d->has |= DENIAL_HAS_LIMITS;
		memcpy(&d->limits, &i->limits, sizeof(d->limits));
	}
	d->policy = i->policy;
	d->principal = i->principal;
	d->claims = i->claims;
}

void run_send_event(struct run *r)
{
	struct error e;
	int sent;

	r->event_waits = false;
	if (r->due[DUE_SIGNER] == 0)
		run_expect(r, DUE_SIGNER, PATIENCE_SIGNER);
	if (r->stage == RUN_DENYING) {
		put_denial(r, &r->s->out->denial);
		sent = audit_send(
		    r->s->audit, EVENT_DENIAL, &r->s->out->denial, &e);
	} else if (r->outcome == NULL) {
		sent = audit_send(r->s->audit, EVENT_INTENT, &r->intent, &e);
	} else {
		sent = audit_send(r->s->audit, EVENT_OUTCOME, r->outcome, &e);
	}
	if (sent == 0)
		return;
	/* The signer is behind: the loop calls again when it has room. */
	if (e.kind == ERROR_SYSTEM && e.saved_errno == EAGAIN) {
		r->event_waits = true;
		loop_change(
		    &r->s->loop, &r->s->audit_watch, EPOLLIN | EPOLLOUT);
		return;
	}
	supervisor_lose(r->s, "the signer is gone");
}

void run_deny(struct run *r)
{
	r->clock[CLOCK_DECIDED] = loop_now_us();
	r->decision.allow = false;
	r->stage = RUN_DENYING;
	run_send_event(r);
}

int run_denied(struct run *r, const struct run_message *m, struct error *e)
{
	(void)e;
	r->due[DUE_SIGNER] = 0;
	if (r->is_nameless)
		run_tell_malformed(r);
	else
		run_tell_decision(r, &m->in->audit.stored, false);
	r->stage = RUN_OVER;
	return 0;
}
