/*
 * executor/run_refusal.c - requests that the policy never judges: malformed
 * ones, and those for which there is no room.  Linked by the supervisor.  They
 * get a decision and a record like any other; since they cost a client nothing,
 * there is a limit to them.
 */
#include <stdio.h>
#include <string.h>

#include "executor/run_refusal.h"
#include "executor/run_steps.h"

/* Waiting ones and those whose front is slow included. */
#define RUNS_MAX 256
/* Beyond them: denials that the signer has not taken yet. */
#define DENIALS_MAX 128
/* Requests of one front that are turned away in a second. */
#define TURNED_AWAY_MAX 10
#define SECOND_US       1000000

/*
 * Why no request can be taken at all.  Nothing is decided then and nothing
 * recorded: the front is told to ask another service, or the log itself is what
 * cannot keep up.
 */
static const char *closed(const struct supervisor *s)
{
	if (s->broken[0] != '\0')
		return s->broken;
	if (s->stopping)
		return "the service is stopping; try again";
	if (s->stale)
		return "the policy has changed; connect again";
	if (s->launch_fd < 0)
		return "the service has lost its launcher; try again";
	if (s->n_runs >= RUNS_MAX + DENIALS_MAX)
		return "busy: the audit log is behind; try again later";
	return NULL;
}

struct run *run_enter(struct session *c, uint64_t request)
{
	const char *why_not = closed(c->s);
	struct run *r;
	struct error e;

	if (why_not != NULL) {
		keep_refused(c->s, GAP_BUSY, 1);
		session_failed(c, request, ERROR_LIMIT, why_not);
		return NULL;
	}
	r = run_make(c, request);
	if (r == NULL) {
		session_failed(c, request, ERROR_SYSTEM, "out of memory");
		return NULL;
	}
	if (run_draw_id(r, &e) < 0) {
		session_failed(c, request, e.kind, e.text);
		run_destroy(r);
		return NULL;
	}
	run_keep_context(r);
	return r;
}

/* Nobody but root may take all the room: others would wait for ever. */
static size_t share_of(const struct supervisor *s, uid_t uid)
{
	size_t half = (s->slots_max + s->policy->queue) / 2;

	if (uid == 0 || s->policy->per_principal == POLICY_UNLIMITED)
		return SIZE_MAX;
	if (s->policy->per_principal != 0)
		return s->policy->per_principal;
	return half > 0 ? half : 1;
}

/* It waits, or something of it is still at work; not only its reply. */
static bool takes_room(const struct run *r)
{
	return r->stage <= RUN_RECORDING && r->stage != RUN_DENYING;
}

const char *run_crowded(const struct session *c)
{
	const struct supervisor *s = c->s;
	size_t waiting = 0;
	size_t own = 0;

	for (const struct run *r = s->runs; r != NULL; r = r->next) {
		waiting += r->stage <= RUN_QUEUED;
		own += takes_room(r) && r->intent.principal.uid == c->peer.uid;
	}
	if (own >= share_of(s, c->peer.uid))
		return "concurrency.principal";
	if (c->n_runs >= SESSION_RUNS_MAX || s->n_runs >= RUNS_MAX ||
	    waiting + s->slots >= s->slots_max + s->policy->queue)
		return "concurrency.busy";
	return NULL;
}

/* A message longer than the buffer was cut there; so is what is digested. */
void run_keep_raw(struct run *r)
{
	const struct channel *io = &r->s->io;

	r->has_raw = true;
	r->raw_size = io->received;
	sha256_of(io->buffer, io->received, r->raw_sha256);
}

static bool is_flood(struct session *c)
{
	uint64_t now_us = loop_now_us();

	if (now_us - c->turned_away_us >= SECOND_US) {
		c->turned_away_us = now_us;
		c->n_turned_away = 0;
	}
	return ++c->n_turned_away > TURNED_AWAY_MAX;
}

void run_turn_away(struct run *r, const char *reason)
{
	struct session *c = r->session;

	if (!is_flood(c)) {
		policy_decision_deny(&r->decision, reason);
		run_deny(r);
		return;
	}
	policy_decision_deny(&r->decision, "request.flood");
	run_deny(r);
	session_failed(c, r->request, ERROR_LIMIT,
	    "more than 10 refused requests in a second (request.flood); "
	    "send requests that are well-formed, and fewer at once");
	c->leaving = true;
}

void run_malformed(struct session *c)
{
	struct run *r = run_enter(c, 0);

	if (r == NULL)
		return;
	run_append(r);
	r->is_nameless = true;
	run_keep_raw(r);
	run_turn_away(r, "request.malformed");
}

void run_unreadable(struct session *c, const struct protocol_refuse *m)
{
	struct run *r;

	if (m->unsaid > 0)
		keep_refused(c->s, GAP_FLOOD, m->unsaid);
	r = run_enter(c, m->request);
	if (r == NULL)
		return;
	run_append(r);
	r->has_raw = true;
	r->raw_size = m->raw_size;
	memcpy(r->raw_sha256, m->raw_sha256, sizeof(r->raw_sha256));
	/* Claims that are malformed too are left out: the denial stands. */
	run_keep_refused_claims(r, m);
	run_turn_away(r, "request.malformed");
}

void run_tell_malformed(struct run *r)
{
	char text[ERROR_TEXT_MAX];

	if (r->session == NULL)
		return;
	(void)snprintf(text, sizeof(text),
	    "a request could not be decoded (request.malformed); the log has "
	    "it as %s",
	    r->id);
	session_failed(r->session, 0, ERROR_MALFORMED, text);
}
