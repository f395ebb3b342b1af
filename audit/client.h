/*
 * audit/client.h - a supervisor's end of the channel to the signer.
 *
 * Sending never waits: the answer arrives as a message that the caller's event
 * loop receives with audit_receive when 'fd' becomes readable.
 */
#ifndef AUDIT_CLIENT_H
#define AUDIT_CLIENT_H

#include "audit/event.h"
#include "base/channel.h"

struct audit_client; /* opaque */

union audit_reply {
	struct event_welcome welcome;
	struct event_stored stored;
	struct event_refused refused;
};

/*
 * Take over 'take_fd' (a connected SOCK_SEQPACKET socket), send HELLO and wait
 * at most five seconds for WELCOME.  Then the socket is non-blocking.
 * ERROR_STATE with the signer's own text if it refuses.
 */
int audit_open(int take_fd, const struct event_hello *hello,
    struct audit_client **ret, struct error *e) MUST_CHECK;

const struct event_welcome *audit_welcome(const struct audit_client *a);
int audit_fd(const struct audit_client *a); /* to poll; stays ours */

/*
 * Send one event.  ERROR_SYSTEM with EAGAIN when the signer is behind: the
 * caller keeps the event and tries again when the fd is writable.
 */
int audit_send(struct audit_client *a, enum event_verb verb, const void *event,
    struct error *e) MUST_CHECK;

/* One answer.  ERROR_CLOSED when the signer is gone: nothing may run on. */
int audit_receive(struct audit_client *a, uint16_t *ret_verb,
    union audit_reply *ret, struct error *e) MUST_CHECK;

void audit_free(struct audit_client *a); /* NULL is fine */

#endif
