/*
 * cli/front.h - a command's end of the channel to a service: found, or started
 * (DESIGN.md section 2), greeted, and then spoken to one message at a time.
 */
#ifndef CLI_FRONT_H
#define CLI_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/channel.h"
#include "executor/protocol.h"

/* Where the caller wants the service; NULL for what is usual. */
struct front_place {
	const char *state;  /* borrowed */
	const char *policy; /* borrowed */
};

/* Room for whatever a service may answer. */
union front_reply {
	struct protocol_welcome welcome;
	struct protocol_failed failed;
	struct protocol_decided decided;
	struct protocol_output output;
	struct protocol_finished finished;
	struct protocol_entry entry;
	struct protocol_listed listed;
	struct protocol_opened opened;
	struct protocol_stopped stopped;
	struct protocol_redacted redacted;
};

struct front {
	struct channel channel;
	union front_reply reply; /* of the last front_receive */
};

/*
 * The service of 'where', welcomed.  Without a state directory and a policy it
 * is the system service if there is one; otherwise an embedded service of this
 * account, started if nobody listens, and started anew, once, if it says that
 * its sources changed.  *ret is the caller's, to front_free.
 */
int front_open(const struct front_place *where, struct front **ret,
    struct error *e) MUST_CHECK;

/* Take over a connected socket and greet whatever service is there. */
int front_adopt(int take_fd, struct front **ret, struct error *e) MUST_CHECK;

void front_free(struct front *f); /* NULL is fine */

/* Send one message; 'fds' may be NULL and stay the caller's. */
int front_send(struct front *f, enum protocol_verb verb, const void *message,
    const struct fd_list *fds, struct error *e) MUST_CHECK;

/*
 * Wait for one message: *ret_verb, f->reply, and at most one descriptor
 * (-1 when none came; the caller's).  ERROR_CLOSED when the service is gone.
 */
int front_receive(struct front *f, uint16_t *ret_verb, int *ret_fd,
    struct error *e) MUST_CHECK;

/*
 * Wait for an answer 'verb' to a request; FAILED becomes an error with the
 * service's own kind and text, anything else ERROR_MALFORMED.
 */
int front_expect(struct front *f, enum protocol_reply_verb verb, int *ret_fd,
    struct error *e) MUST_CHECK;

/* What FAILED says, as an error; worth -1. */
int front_failed(const struct protocol_failed *failed, struct error *e);

#endif
