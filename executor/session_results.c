/*
 * executor/session_results.c - LIST, OPEN and REDACT of a front.  Linked by the
 * supervisor.  Run ids and names are hostile.
 *
 * Where the policy wants to know who reads, a reader gets nothing before the
 * record of that is durable.  What a front takes of a run that it asked for
 * itself, over the same channel, is the run's reply and no reading.
 */
#include "executor/session_results.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "executor/results.h"

/* The same reader of the same name is recorded once in this time. */
#define AGAIN_US UINT64_C(60000000)

static bool parse_run(const char *text, uint8_t ret[EVENT_RUN_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != PROTOCOL_RUN_ID_MAX - 1 || text[0] != 'r' ||
	    text[1] != '_' ||
	    strspn(text + 2, digits) != PROTOCOL_RUN_ID_MAX - 3)
		return false;
	for (size_t i = 0; i < EVENT_RUN_BYTES; i++)
		ret[i] =
		    (uint8_t)((strchr(digits, text[2 + 2 * i]) - digits) << 4 |
		              (strchr(digits, text[3 + 2 * i]) - digits));
	return true;
}

void session_ran(struct session *c, const char *run_id)
{
	uint8_t *own = c->own[c->n_own++ % SESSION_OWN_MAX];

	if (!parse_run(run_id, own))
		memset(own, 0, EVENT_RUN_BYTES);
}

static bool is_own(const struct session *c, const uint8_t run[EVENT_RUN_BYTES])
{
	for (size_t i = 0; i < SESSION_OWN_MAX && i < c->n_own; i++)
		if (memcmp(c->own[i], run, EVENT_RUN_BYTES) == 0)
			return true;
	return false;
}

/* Was this read a moment ago?  If not it is from now on. */
static bool was_read(struct session *c, const struct protocol_open *o)
{
	struct session_seen *oldest = &c->seen[0];
	uint64_t now_us = loop_now_us();
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, o->run_id, strlen(o->run_id) + 1);
	sha256_add(&h, o->name, strlen(o->name));
	sha256_done(&h, digest);
	for (size_t i = 0; i < SESSION_SEEN_MAX; i++) {
		struct session_seen *s = &c->seen[i];

		if (s->since_us != 0 && now_us - s->since_us < AGAIN_US &&
		    memcmp(s->digest, digest, sizeof(digest)) == 0)
			return true;
		if (s->since_us < oldest->since_us)
			oldest = s;
	}
	oldest->since_us = now_us;
	memcpy(oldest->digest, digest, sizeof(digest));
	return false;
}

static void give(struct session *c, struct note *n)
{
	struct protocol_opened opened = { .request = n->request,
		.size = n->size };
	struct fd_list fds = { .n = 1, .fd = { n->fd } };

	if (n->fd >= 0) {
		session_send(c, PROTOCOL_OPENED, &opened, &fds);
		return;
	}
	if (c->list != NULL) {
		session_failed(
		    c, n->request, ERROR_LIMIT, "one list at a time");
		return;
	}
	c->list = n->list;
	n->list = NULL;
	c->list_request = n->request;
	session_wake(c);
}

static void told(struct supervisor *s, struct note *n,
    const struct event_stored *stored, const char *why)
{
	(void)s;
	if (n->session == NULL)
		return;
	if (stored != NULL)
		give(n->session, n);
	else
		session_failed(n->session, n->request, ERROR_STATE, why);
}

/* What was opened goes out, now or when it is known who reads.  Takes both. */
static void deliver(
    struct session *c, const struct protocol_open *o, struct note *take_n)
{
	struct note *n = take_n;
	struct event_access *a = &n->access;

	n->session = c;
	n->request = o->request;
	if (!c->s->policy->audit.access || !parse_run(o->run_id, a->run) ||
	    (o->purpose == PROTOCOL_OWN && is_own(c, a->run)) ||
	    was_read(c, o)) {
		give(c, n);
		note_free(n);
		return;
	}
	(void)snprintf(
	    a->principal.auth, sizeof(a->principal.auth), "peercred");
	a->principal.uid = c->peer.uid;
	a->principal.gid = c->peer.gid;
	(void)snprintf(
	    a->name, sizeof(a->name), "%s", n->fd >= 0 ? o->name : "");
	note_send(c->s, n);
}

static struct note *begin(struct session *c, uint64_t request)
{
	struct note *n = note_make(EVENT_ACCESS, told);

	if (n == NULL)
		session_failed(c, request, ERROR_SYSTEM, "out of memory");
	return n;
}

void session_list(struct session *c, const struct protocol_open *o)
{
	const struct results_who who = { c->s->state.results_fd, c->peer.uid };
	struct note *n = begin(c, o->request);
	struct error e;

	if (n == NULL)
		return;
	if (c->list != NULL)
		error_fill(&e, ERROR_LIMIT, 0, "one list at a time");
	else if (results_list(&who, o->run_id, &n->list, &e) == 0) {
		deliver(c, o, n);
		return;
	}
	session_failed(c, o->request, e.kind, e.text);
	note_free(n);
}

void session_open(struct session *c, const struct protocol_open *o)
{
	const struct results_who who = { c->s->state.results_fd, c->peer.uid };
	struct note *n = begin(c, o->request);
	struct error e;

	if (n == NULL)
		return;
	if (results_open(&who, o, &n->fd, &n->size, &e) == 0) {
		deliver(c, o, n);
		return;
	}
	session_failed(c, o->request, e.kind, e.text);
	note_free(n);
}

static void redacted(struct supervisor *s, struct note *n,
    const struct event_stored *stored, const char *why)
{
	struct protocol_redacted done = { .request = n->request };

	if (stored != NULL && n->redact.results == 1)
		keep_remove(s, &n->redact);
	if (n->session == NULL)
		return;
	if (stored == NULL) {
		session_failed(n->session, n->request, ERROR_STATE, why);
		return;
	}
	done.seq = stored->seq;
	session_send(n->session, PROTOCOL_REDACTED, &done, NULL);
}

void session_redact(struct session *c, const struct protocol_redact *m)
{
	struct note *n;
	struct event_redact *r;

	if (c->peer.uid != c->s->owner.uid && c->peer.uid != 0) {
		session_failed(c, m->request, ERROR_DENIED,
		    "only root may redact what this service records");
		return;
	}
	n = note_make(EVENT_REDACT, redacted);
	if (n == NULL) {
		session_failed(c, m->request, ERROR_SYSTEM, "out of memory");
		return;
	}
	r = &n->redact;
	for (uint64_t i = 0; i < m->runs.n; i++)
		if (parse_run(m->runs.items[i].text, r->runs.items[i].run))
			r->runs.n++;
	if (r->runs.n != m->runs.n || r->runs.n == 0) {
		session_failed(c, m->request, ERROR_MALFORMED,
		    "no run ids; one is r_ and 32 hex digits");
		note_free(n);
		return;
	}
	n->session = c;
	n->request = m->request;
	r->results = m->results == 1;
	(void)snprintf(
	    r->principal.auth, sizeof(r->principal.auth), "peercred");
	r->principal.uid = c->peer.uid;
	r->principal.gid = c->peer.gid;
	note_send(c->s, n);
}
