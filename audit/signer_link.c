/*
 * audit/signer_link.c - one channel of the signer: who may have it, what may
 * be said on it, and the answers.  Linked by the signer.  A peer is a
 * supervisor by its uid, and may still have gone bad: a message that is not of
 * the protocol ends its channel.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/recall.h"
#include "audit/signer.h"
#include "audit/signer_serve.h"
#include "base/own.h"

/* A supervisor never blocks for long; one that does not read its answers for
 * this time is stuck and is let go, so that it cannot stop the others. */
#define SEND_MS 1000

void signer_drop(struct signer_link *link)
{
	if (link->id == 0)
		return;
	(void)close(link->channel.fd);
	link->channel.fd = -1;
	link->id = 0;
	link->greeted = false;
	link->announced = false;
}

struct signer_link *signer_find(struct signer *s, uint64_t id)
{
	for (size_t i = 0; i < SIGNER_LINKS_MAX; i++)
		if (s->links[i].id == id)
			return &s->links[i];
	return NULL;
}

static bool may_speak(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	return cred.uid == 0 || cred.uid == geteuid() ||
	       cred.uid == SIGNER_CLIENT_UID;
}

void signer_accept(struct signer *s)
{
	for (;;) {
		AUTO_FD fd = accept4(
		    s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct signer_link *link = signer_find(s, 0);

		if (fd < 0)
			return;
		if (link == NULL || !may_speak(fd))
			continue; /* it sees its channel closed */
		link->id = ++s->last_link;
		link->greeted = false;
		link->readable = true;
		link->channel.fd = take_fd(&fd);
	}
}

static bool send_now(
    struct signer_link *link, uint16_t verb, const void *message)
{
	const struct channel_send send = { &event_reply_protocol, verb, message,
		NULL };
	struct pollfd p = { .fd = link->channel.fd, .events = POLLOUT };
	struct error e;

	for (int tries = 0; tries < 2; tries++) {
		if (channel_send(&link->channel, &send, &e) == 0)
			return true;
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN ||
		    poll(&p, 1, SEND_MS) <= 0)
			return false;
	}
	return false;
}

static void say(struct signer_link *link, uint16_t verb, const void *message)
{
	if (!send_now(link, verb, message))
		signer_drop(link);
}

static struct signer_pending *push(struct signer *s, uint64_t link)
{
	struct signer_pending *p = &s->pending[s->n_pending++];

	memset(p, 0, sizeof(*p));
	p->link = link;
	return p;
}

static void push_refused(
    struct signer *s, uint64_t link, uint64_t ticket, const struct error *why)
{
	struct signer_pending *p = push(s, link);

	p->answer = ANSWER_REFUSED;
	p->ticket = ticket;
	p->kind = why->kind;
	memcpy(p->text, why->text, sizeof(p->text));
}

static bool is_program(const char *name)
{
	if (*name == '\0' || (*name >= '0' && *name <= '9'))
		return false;
	for (; *name != '\0'; name++)
		if (!((*name >= 'a' && *name <= 'z') ||
		        (*name >= '0' && *name <= '9') || *name == '_'))
			return false;
	return true;
}

static int check_hello(const struct event_hello *h, struct error *e)
{
	static const uint8_t nobody[sizeof(h->instance)];

	if (h->version != EVENT_VERSION)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "this signer speaks version %d, the supervisor %u; stop "
		    "the older service",
		    EVENT_VERSION, h->version);
	if (promise_word(h->durability) == NULL)
		return FAIL(e, ERROR_MALFORMED, "durability %u is unknown",
		    h->durability);
	if (memcmp(h->instance, nobody, sizeof(nobody)) == 0)
		return FAIL(e, ERROR_MALFORMED, "instance id of zeros");
	for (uint64_t i = 0; i < h->builds.n; i++) {
		if (!is_program(h->builds.items[i].program))
			return FAIL(e, ERROR_MALFORMED,
			    "build of a program without a proper name");
		for (uint64_t k = 0; k < i; k++)
			if (strcmp(h->builds.items[i].program,
			        h->builds.items[k].program) == 0)
				return FAIL(e, ERROR_MALFORMED,
				    "two builds of one program");
	}
	return 0;
}

/* The builds of this link; our own we measured ourselves. */
static void adopt_builds(
    struct signer *s, struct signer_link *link, const struct event_hello *h)
{
	static const size_t most =
	    sizeof(h->builds.items) / sizeof(h->builds.items[0]);
	struct event_hello *to = &link->hello;
	uint64_t at = 0;

	*to = *h;
	while (at < to->builds.n &&
	       strcmp(to->builds.items[at].program, "signer") != 0)
		at++;
	if (at == most)
		return;
	if (at == to->builds.n)
		to->builds.n++;
	(void)snprintf(to->builds.items[at].program,
	    sizeof(to->builds.items[at].program), "signer");
	memcpy(to->builds.items[at].sha256, s->build, sizeof(s->build));
}

/*
 * The first supervisor of our life also brings the records that a crash made
 * due, for only it can say which builds the new epoch is of.
 */
static int greet(struct signer *s, struct signer_link *link, struct error *e)
{
	if (check_hello(&s->event.hello, e) < 0)
		return -1;
	adopt_builds(s, link, &s->event.hello);
	if (!s->chain.state.ours)
		s->chain.hello = link->hello;
	if (!s->recovered) {
		if (chain_recover(&s->chain, e) < 0 ||
		    chain_abort(&s->chain, 0, e) < 0)
			return -1;
		s->recovered = true;
		s->recovering = true;
	}
	memcpy(link->instance, s->event.hello.instance, sizeof(link->instance));
	link->promise = (enum promise)s->event.hello.durability;
	link->greeted = true;
	push(s, link->id)->answer = ANSWER_WELCOME;
	return 0;
}

static int take_event(
    struct signer *s, struct signer_link *link, uint16_t verb, struct error *e)
{
	struct chain_sender from = { .link = link->id,
		.promise = link->promise,
		.hello = &link->hello,
		.announced = link->announced };
	struct signer_pending *p;
	const struct chain_event what = { (enum event_verb)verb, &s->event };
	size_t index;

	memcpy(from.instance, link->instance, sizeof(from.instance));
	if (chain_add(&s->chain, &from, &what, &index, e) < 0) {
		if (e->kind != ERROR_STATE && e->kind != ERROR_MALFORMED &&
		    e->kind != ERROR_LIMIT)
			return -1;
		if (e->kind == ERROR_LIMIT &&
		    (verb == EVENT_INTENT || verb == EVENT_DENIAL))
			chain_refused(&s->chain);
		push_refused(s, link->id, s->event.ticket, e);
		return 0;
	}
	if (verb == EVENT_INTENT || verb == EVENT_DENIAL)
		link->announced = true;
	p = push(s, link->id);
	p->answer = ANSWER_STORED;
	p->ticket = s->event.ticket;
	p->index = index;
	p->receipt = verb == EVENT_OUTCOME;
	p->request = verb == EVENT_INTENT || verb == EVENT_DENIAL;
	return 0;
}

/* Refuse the channel itself and let it go. */
static void turn_away(struct signer_link *link, const struct error *why)
{
	struct event_refused refused = { .kind = (uint32_t)why->kind };

	memcpy(refused.text, why->text, sizeof(refused.text));
	say(link, EVENT_REFUSED, &refused);
	signer_drop(link);
}

/*
 * At once, beside the group being built: nothing is recorded.  It reads the
 * log from the front and keeps the others waiting, but is asked only by the
 * successor of a supervisor that was killed.
 */
static int recall(struct signer *s, struct signer_link *link, struct error *e)
{
	const struct recall what = { s->chain.store.log_dir_fd,
		s->chain.state.tree.size, &s->event.recall };
	struct event_stored *m = &s->stored;
	struct text_out proof = { (char *)m->proof.data, sizeof(m->proof.data),
		0 };
	struct event_refused refused = { .ticket = s->event.ticket };
	struct text_out note = { s->chain.note, sizeof(s->chain.note), 0 };
	struct tree_path path;

	if (recall_find(&what, m, &path, e) == 0) {
		/* It syncs: as with any group, failing is for good. */
		if (chain_publish(&s->chain, STORE_LAZY, e) < 0)
			return -1;
		note.len = s->chain.note_len;
		if (note_proof_write(m->seq, &path, &note, &proof, e) == 0) {
			m->ticket = s->event.ticket;
			m->proof.len = proof.len;
			say(link, EVENT_STORED, m);
			return 0;
		}
	}
	refused.kind = (uint32_t)e->kind;
	memcpy(refused.text, e->text, sizeof(refused.text));
	say(link, EVENT_REFUSED, &refused);
	return 0;
}

void signer_receive(
    struct signer *s, struct signer_link *link, int *ret_fatal, struct error *e)
{
	const struct channel_receive receive = { &event_protocol, 0,
		{ &s->event, sizeof(s->event) } };
	struct fd_list none;
	uint16_t verb;

	if (channel_receive(&link->channel, &receive, &verb, &none, e) < 0) {
		if (e->kind == ERROR_SYSTEM && e->saved_errno == EAGAIN)
			link->readable = false;
		else if (e->kind == ERROR_MALFORMED)
			turn_away(link, e);
		else
			signer_drop(link);
		return;
	}
	if (link->greeted == (verb == EVENT_HELLO)) {
		(void)FAIL(e, ERROR_STATE,
		    "a channel begins with HELLO, and only once");
		turn_away(link, e);
		return;
	}
	if (verb == EVENT_RECALL) {
		*ret_fatal = recall(s, link, e);
		return;
	}
	if (verb != EVENT_HELLO) {
		*ret_fatal = take_event(s, link, verb, e);
		return;
	}
	if (greet(s, link, e) == 0)
		return;
	if (e->kind == ERROR_MALFORMED || e->kind == ERROR_UNAVAILABLE ||
	    e->kind == ERROR_LIMIT)
		turn_away(link, e);
	else
		*ret_fatal = -1;
}

static void answer_stored(
    struct signer *s, struct signer_link *link, const struct signer_pending *p)
{
	struct event_stored *m = &s->stored;
	struct store_bytes line = chain_line(&s->chain, p->index);
	struct text_out proof = { (char *)m->proof.data, sizeof(m->proof.data),
		0 };
	struct error e;

	m->ticket = p->ticket;
	m->seq = s->chain.before.size + p->index;
	memcpy(m->leaf, s->chain.leaves[p->index], sizeof(m->leaf));
	memset(m->record_key, 0, sizeof(m->record_key));
	m->line.len = 0;
	m->proof.len = 0;
	if (p->receipt) {
		memcpy(m->line.data, line.data, line.len);
		m->line.len = line.len;
		memcpy(m->record_key, s->chain.state.record_key,
		    sizeof(m->record_key));
		if (s->chain.note_len > 0 &&
		    chain_proof(&s->chain, p->index, &proof, &e) < 0) {
			signer_drop(link);
			return;
		}
		m->proof.len = proof.len;
	}
	say(link, EVENT_STORED, m);
}

static void answer_welcome(struct signer *s, struct signer_link *link)
{
	struct event_welcome m = { .version = EVENT_VERSION,
		.size = s->chain.state.tree.size,
		.sealed = s->chain.keys.sealed };

	memcpy(m.log, s->chain.keys.log_id, sizeof(m.log));
	say(link, EVENT_WELCOME, &m);
}

void signer_answer_all(struct signer *s)
{
	struct event_refused refused;

	for (size_t i = 0; i < s->n_pending; i++) {
		const struct signer_pending *p = &s->pending[i];
		struct signer_link *link = signer_find(s, p->link);

		if (link == NULL)
			continue;
		if (p->answer == ANSWER_STORED) {
			answer_stored(s, link, p);
		} else if (p->answer == ANSWER_WELCOME) {
			answer_welcome(s, link);
		} else {
			memset(&refused, 0, sizeof(refused));
			refused.ticket = p->ticket;
			refused.kind = (uint32_t)p->kind;
			memcpy(refused.text, p->text, sizeof(refused.text));
			say(link, EVENT_REFUSED, &refused);
		}
	}
	s->n_pending = 0;
}
