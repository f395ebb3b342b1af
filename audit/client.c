/*
 * audit/client.c - the supervisor's end of the channel to the signer.  Linked
 * by the supervisor; trusts the signer's answers as far as their form goes.
 */
#include "audit/client.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WELCOME_MS 5000
#define MS_PER_S   1000
#define NS_PER_MS  1000000

struct audit_client {
	struct channel channel;
	struct event_welcome welcome;
	union audit_reply greeting; /* too large for a stack */
};

static long long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * MS_PER_S + t.tv_nsec / NS_PER_MS;
}

static int wait_readable(int fd, struct error *e)
{
	long long end = now_ms() + WELCOME_MS;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		long long left = end - now_ms();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return FAIL_SYS(e, "wait for the signer");
		if (n == 0)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "the signer did not answer within %d ms",
			    WELCOME_MS);
	}
}

static int greet(
    struct audit_client *a, const struct event_hello *hello, struct error *e)
{
	const struct channel_send send = { &event_protocol, EVENT_HELLO, hello,
		NULL };
	union audit_reply *reply = &a->greeting;
	uint16_t verb;

	if (channel_send(&a->channel, &send, e) < 0)
		return -1;
	if (wait_readable(a->channel.fd, e) < 0)
		return -1;
	if (audit_receive(a, &verb, reply, e) < 0)
		return -1;
	if (verb == EVENT_REFUSED)
		return FAIL(e, ERROR_STATE, "%s", reply->refused.text);
	if (verb != EVENT_WELCOME)
		return FAIL(e, ERROR_STATE, "the signer answered HELLO with %s",
		    wire_verb_name(&event_reply_protocol, verb));
	if (reply->welcome.version != EVENT_VERSION)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the signer speaks version %u, we speak %d; stop the old "
		    "service",
		    reply->welcome.version, EVENT_VERSION);
	a->welcome = reply->welcome;
	return 0;
}

int audit_open(int take_fd, const struct event_hello *hello,
    struct audit_client **ret, struct error *e)
{
	struct audit_client *a = calloc(1, sizeof(*a));
	int flags;

	if (a == NULL) {
		(void)close(take_fd);
		return FAIL_SYS(e, "allocate the channel to the signer");
	}
	a->channel.fd = take_fd;
	flags = fcntl(a->channel.fd, F_GETFL);
	/* Blocking for the greeting only, whatever came in. */
	if (flags < 0 ||
	    fcntl(a->channel.fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
		(void)FAIL_SYS(e, "set up the channel to the signer");
		audit_free(a);
		return -1;
	}
	if (greet(a, hello, e) < 0) {
		audit_free(a);
		return FAIL_IN(e, "signer");
	}
	if (fcntl(a->channel.fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		(void)FAIL_SYS(e, "set up the channel to the signer");
		audit_free(a);
		return -1;
	}
	*ret = a;
	return 0;
}

const struct event_welcome *audit_welcome(const struct audit_client *a)
{
	return &a->welcome;
}

int audit_fd(const struct audit_client *a)
{
	return a->channel.fd;
}

int audit_send(struct audit_client *a, enum event_verb verb, const void *event,
    struct error *e)
{
	const struct channel_send send = { &event_protocol, (uint16_t)verb,
		event, NULL };

	return channel_send(&a->channel, &send, e);
}

int audit_receive(struct audit_client *a, uint16_t *ret_verb,
    union audit_reply *ret, struct error *e)
{
	const struct channel_receive receive = { &event_reply_protocol, 0,
		{ ret, sizeof(*ret) } };
	struct fd_list none;

	return channel_receive(&a->channel, &receive, ret_verb, &none, e);
}

void audit_free(struct audit_client *a)
{
	if (a == NULL)
		return;
	if (a->channel.fd >= 0)
		(void)close(a->channel.fd);
	free(a);
}
