/*
 * mcp/link.c - the channel to the service.  Linked by bailiff-mcp.  The service
 * is trusted to decide; what it sends is bounded by the codec.
 */
#include "mcp/link.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

#define DESCRIBE_WAIT_MS 30000
#define HEARD_MAX        64 /* messages in one turn */

int link_open(struct server *s, int take_fd, struct error *e)
{
	int flags = fcntl(take_fd, F_GETFL);

	s->channel.fd = take_fd;
	if (flags < 0 || fcntl(take_fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(take_fd, F_SETFD, FD_CLOEXEC) < 0)
		return FAIL_SYS(e, "the channel to the service");
	return 0;
}

uint64_t link_number(struct server *s)
{
	return ++s->last_request;
}

int link_send(struct server *s, enum protocol_verb verb, const void *message,
    const struct fd_list *fds, struct error *e)
{
	struct channel_send what = { &protocol, (uint16_t)verb, message, fds };

	return channel_send(&s->channel, &what, e);
}

static int receive(
    struct server *s, uint16_t *ret_verb, int *ret_fd, struct error *e)
{
	struct channel_receive what = { .protocol = &protocol_reply,
		.max_fds = 1,
		.to = { &s->reply, sizeof(s->reply) } };
	struct fd_list fds = { .n = 0 };

	if (channel_receive(&s->channel, &what, ret_verb, &fds, e) < 0)
		return -1;
	*ret_fd = fds.n > 0 ? fds.fd[0] : -1;
	return 0;
}

static int take_description(struct server *s, int fd, struct error *e)
{
	const struct protocol_described *d = &s->reply.described;
	const struct fetch_open text = { .fd = fd, .size = d->size };

	memcpy(s->about.name, d->name, sizeof(s->about.name));
	memcpy(s->about.sha256, d->sha256, sizeof(s->about.sha256));
	s->about.runs = d->runs;
	s->about.queue = d->queue;
	return fetch_read(&text, 0, PAGE_LINE_MAX, &s->about.text, e);
}

static int wait_readable(int fd, struct error *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ready;

	do
		ready = poll(&p, 1, DESCRIBE_WAIT_MS);
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return FAIL_SYS(e, "poll");
	if (ready == 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the service is silent for %d seconds; bailiff stop ends "
		    "it",
		    DESCRIBE_WAIT_MS / 1000);
	return 0;
}

int link_describe(struct server *s, struct error *e)
{
	struct protocol_describe ask = { .request = link_number(s) };

	if (link_send(s, PROTOCOL_DESCRIBE, &ask, NULL, e) < 0)
		return -1;
	for (;;) {
		AUTO_FD fd = -1;
		uint16_t verb;

		if (wait_readable(s->channel.fd, e) < 0 ||
		    receive(s, &verb, &fd, e) < 0)
			return FAIL_IN(e, "ask the service what it allows");
		if (verb == PROTOCOL_DESCRIBED)
			return take_description(s, fd, e);
		if (verb != PROTOCOL_LANGUAGE)
			return FAIL(e, ERROR_MALFORMED,
			    "the service said %s to describe",
			    wire_verb_name(&protocol_reply, verb));
		if (about_add(&s->about, &s->reply.language, e) < 0)
			return -1;
	}
}

int link_hear(struct server *s, struct error *e)
{
	for (int i = 0; i < HEARD_MAX; i++) {
		AUTO_FD fd = -1;
		uint16_t verb;

		if (receive(s, &verb, &fd, e) < 0)
			return e->kind == ERROR_SYSTEM &&
			               e->saved_errno == EAGAIN
			           ? 0
			           : -1;
		if (verb == PROTOCOL_FAILED && s->reply.failed.request == 0)
			return FAIL(
			    e, ERROR_CLOSED, "%s", s->reply.failed.text);
		if (!job_on_message(s, verb))
			(void)fetch_on_message(s, verb, &fd);
	}
	return 0;
}
