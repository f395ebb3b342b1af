/*
 * executor/outbox.h - messages that a peer was too slow to take.  Bounded: a
 * peer that never reads costs a fixed amount and nobody waits for it.
 */
#ifndef EXECUTOR_OUTBOX_H
#define EXECUTOR_OUTBOX_H

#include <stddef.h>

#include "base/channel.h"

#define OUTBOX_MESSAGES_MAX 512

struct outbox_item; /* opaque */

struct outbox {
	struct outbox_item *first, *last; /* owned */
	size_t n;
};

/*
 * Send now if nothing waits and the socket takes it, else keep a copy of the
 * message and of its descriptors.  ERROR_LIMIT when the box is full,
 * ERROR_CLOSED when the peer is gone.
 */
int outbox_send(struct outbox *o, struct channel *c,
    const struct channel_send *what, struct error *e) MUST_CHECK;

/* Send what waits, until the socket is full again; that is no error. */
int outbox_flush(
    struct outbox *o, struct channel *c, struct error *e) MUST_CHECK;

void outbox_clear(struct outbox *o); /* drops and closes what waits */

#endif
