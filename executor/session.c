/*
 * executor/session.c - connected fronts.  Linked by the supervisor.  Every
 * message is hostile: it is decoded by the tables of protocol.c, then judged
 * here by who sent it and when.
 */
#include "executor/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/describe.h"
#include "executor/results.h"
#include "executor/run_refusal.h"
#include "executor/run_steps.h"
#include "executor/session_results.h"

/* With so much unread by a front, its next requests wait. */
#define UNREAD_MAX 64
/* Chunks of output for one front in one turn. */
#define CHUNKS_MAX 8

static void list_over(struct session *c)
{
	results_list_free(c->list);
	c->list = NULL;
}

void session_end(struct session *c)
{
	if (c->fd < 0)
		return;
	loop_remove(&c->s->loop, &c->watch);
	own_close(&c->fd);
	c->fd = -1;
	outbox_clear(&c->box);
	list_over(c);
	note_leave(c->s, c);
	for (struct run *r = c->s->runs; r != NULL; r = r->next)
		if (r->session == c)
			run_leave(r);
}

void session_send(struct session *c, uint16_t verb, const void *message,
    const struct fd_list *fds)
{
	struct channel_send what = { &protocol_reply, verb, message, fds };
	struct error e;
	int failed;

	if (c->fd < 0)
		return;
	c->s->io.fd = c->fd;
	failed = outbox_send(&c->box, &c->s->io, &what, &e);
	c->s->io.fd = -1;
	if (failed < 0)
		session_end(c);
	else if (c->box.first != NULL)
		session_wake(c);
}

void session_failed(
    struct session *c, uint64_t request, enum error_kind kind, const char *text)
{
	struct protocol_failed *f = &c->s->out->failed;

	memset(f, 0, sizeof(*f));
	f->request = request;
	f->kind = kind;
	(void)snprintf(f->text, sizeof(f->text), "%s", text);
	session_send(c, PROTOCOL_FAILED, f, NULL);
}

void session_wake(struct session *c)
{
	uint32_t in = c->box.n < UNREAD_MAX && !c->leaving ? EPOLLIN : 0;

	if (c->fd >= 0)
		loop_change(&c->s->loop, &c->watch, in | EPOLLOUT);
}

static void say_welcome(struct session *c)
{
	struct protocol_welcome w = { .version = PROTOCOL_VERSION };

	(void)snprintf(
	    w.instance, sizeof(w.instance), "%s", c->s->instance_hex);
	(void)snprintf(
	    w.policy_name, sizeof(w.policy_name), "%s", c->s->policy->name);
	c->greeted = true;
	session_send(c, PROTOCOL_WELCOME, &w, NULL);
}

static void on_hello(struct session *c, const struct protocol_hello *h)
{
	struct supervisor *s = c->s;
	bool same = memcmp(h->policy_file, s->policy->file_sha256,
	                sizeof(h->policy_file)) == 0;

	if (c->greeted || h->version != PROTOCOL_VERSION) {
		session_failed(c, 0, ERROR_STATE,
		    "this service speaks another version; run bailiff stop, "
		    "then try again");
		c->leaving = true;
		return;
	}
	if (h->any_policy == 1 && !s->stopping) {
		say_welcome(c);
		return;
	}
	if (s->stopping || s->stale || policy_loaded_is_stale(&s->loaded)) {
		c->leaving = true;
		session_send(c, PROTOCOL_STALE, NULL, NULL);
		supervisor_stale(s);
		return;
	}
	if (same) {
		say_welcome(c);
		return;
	}
	session_failed(c, 0, ERROR_STATE,
	    "this service has another policy; run bailiff stop, then try "
	    "again");
	c->leaving = true;
}

static void on_cancel(struct session *c, uint64_t request)
{
	for (struct run *r = c->s->runs; r != NULL; r = r->next)
		if (r->session == c && r->request == request)
			run_cancel(r, KILLER_CLIENT);
}

static void on_stop(struct session *c, uint64_t request)
{
	struct supervisor *s = c->s;

	if (c->peer.uid != c->s->owner.uid && c->peer.uid != 0) {
		session_failed(c, request, ERROR_DENIED,
		    "only root may stop this service");
		return;
	}
	c->wants_stop = true;
	c->stop_request = request;
	for (const struct run *r = s->runs; r != NULL; r = r->next)
		c->stop_count += r->stage < RUN_RECORDING;
	supervisor_stop(s);
}

static void dispatch(struct session *c, uint16_t verb, struct fd_list *fds)
{
	const union incoming *in = c->s->in;

	if (!c->greeted && verb != PROTOCOL_HELLO) {
		if (verb == PROTOCOL_RUN)
			run_malformed(c);
		session_failed(c, 0, ERROR_STATE, "say hello first");
		c->leaving = true;
		return;
	}
	switch ((enum protocol_verb)verb) {
	case PROTOCOL_HELLO:
		on_hello(c, &in->hello);
		return;
	case PROTOCOL_RUN:
		run_begin(c, &in->run, fds);
		return;
	case PROTOCOL_CANCEL:
		on_cancel(c, in->cancel.request);
		return;
	case PROTOCOL_LIST:
		session_list(c, &in->open);
		return;
	case PROTOCOL_OPEN:
		session_open(c, &in->open);
		return;
	case PROTOCOL_STOP:
		on_stop(c, in->stop.request);
		return;
	case PROTOCOL_DESCRIBE:
		describe_to(c, in->describe.request);
		return;
	case PROTOCOL_REFUSE:
		run_unreadable(c, &in->refuse);
		return;
	case PROTOCOL_REDACT:
		session_redact(c, &in->redact);
		return;
	}
}

/*
 * Message boundaries are the kernel's, so the next message may be sound: one
 * bad request does not end a front's others.  What is not even a request does.
 */
static void on_malformed(struct session *c, const struct error *why)
{
	const struct channel *io = &c->s->io;

	if (io->received >= 2 &&
	    (io->buffer[0] | io->buffer[1] << 8) == PROTOCOL_RUN) {
		run_malformed(c);
		if (c->greeted)
			return;
	}
	session_failed(c, 0, why->kind, why->text);
	c->leaving = true;
}

static void read_one(struct session *c)
{
	struct supervisor_heard heard;
	struct error e;

	if (supervisor_receive(c->s, c->fd, &protocol, &heard, &e) < 0) {
		if (e.kind == ERROR_SYSTEM && e.saved_errno == EAGAIN)
			return;
		if (e.kind == ERROR_MALFORMED) {
			on_malformed(c, &e);
			return;
		}
		session_end(c);
		return;
	}
	dispatch(c, heard.verb, &heard.fds);
	fd_list_close(&heard.fds);
}

/* Names of a LIST as the socket takes them; true if more wait. */
static bool send_list(struct session *c)
{
	struct protocol_entry entry = { .request = c->list_request };
	struct protocol_listed end = { .request = c->list_request };
	struct channel_send what = { &protocol_reply, PROTOCOL_ENTRY, &entry,
		NULL };
	struct error e;

	while (results_list_next(c->list, &entry)) {
		if (supervisor_send(c->s, c->fd, &what, &e) == 0)
			continue;
		results_list_back(c->list);
		return true;
	}
	end.count = results_list_count(c->list);
	list_over(c);
	session_send(c, PROTOCOL_LISTED, &end, NULL);
	return false;
}

/* True if the front has more to take. */
static bool send_more(struct session *c)
{
	struct error e;
	bool more = false;
	int failed;

	c->s->io.fd = c->fd;
	failed = outbox_flush(&c->box, &c->s->io, &e);
	c->s->io.fd = -1;
	if (failed < 0) {
		session_end(c);
		return false;
	}
	if (c->box.first != NULL)
		return true;
	if (c->list != NULL && send_list(c))
		return true;
	for (int i = 0; i < CHUNKS_MAX && (more || i == 0); i++) {
		more = false;
		for (struct run *r = c->s->runs; r != NULL; r = r->next)
			if (r->session == c && run_stream(r))
				more = true;
	}
	return more || c->box.first != NULL;
}

static void session_ready(void *owner, uint32_t events)
{
	struct session *c = owner;
	bool more = (events & EPOLLOUT) != 0 && send_more(c);

	if (c->fd >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		read_one(c);
	if (c->fd < 0)
		return;
	if (c->leaving && c->box.first == NULL)
		session_end(c);
	else if (more || c->box.first != NULL || c->list != NULL)
		session_wake(c);
	else if ((events & EPOLLOUT) != 0)
		loop_change(&c->s->loop, &c->watch, EPOLLIN);
}

static int admit(struct supervisor *s, struct session *c, struct error *e)
{
	if (channel_peer(c->fd, &c->peer, e) < 0)
		return -1;
	if (c->peer.uid != s->owner.uid && c->peer.uid != 0 && !s->any_user)
		return FAIL(e, ERROR_DENIED, "another account's service");
	if (s->n_sessions >= SESSIONS_MAX)
		return FAIL(e, ERROR_LIMIT, "too many clients");
	return loop_add(&s->loop, &c->watch, c->fd, EPOLLIN, e);
}

void session_accept(struct supervisor *s)
{
	int fd =
	    accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct session *c = fd >= 0 ? calloc(1, sizeof(*c)) : NULL;
	struct error e;

	if (c == NULL) {
		own_close(&fd); /* -1 if nobody was there any more */
		return;
	}
	c->s = s;
	c->fd = fd;
	c->since_us = loop_now_us();
	c->watch = (struct watch){ -1, 0, session_ready, c };
	if (admit(s, c, &e) < 0) {
		own_close(&c->fd);
		free(c);
		return;
	}
	c->next = s->sessions;
	s->sessions = c;
	s->n_sessions++;
}

static void tell_stopped(struct session *c)
{
	struct protocol_stopped stopped = { c->stop_request, c->stop_count };

	c->wants_stop = false;
	c->leaving = true;
	session_send(c, PROTOCOL_STOPPED, &stopped, NULL);
	session_wake(c);
}

void session_sweep(struct supervisor *s)
{
	struct session **at = &s->sessions;

	while (*at != NULL) {
		struct session *c = *at;

		if (c->wants_stop && s->n_runs == 0)
			tell_stopped(c);
		if (!c->greeted && c->fd >= 0 &&
		    loop_now_us() - c->since_us > SESSION_HELLO_US)
			session_end(c);
		if (c->fd >= 0 || c->n_runs > 0) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		s->n_sessions--;
		if (s->n_sessions == 0)
			s->idle_since_us = loop_now_us();
		free(c);
	}
}
