/*
 * base/channel.h - one message at a time over a SOCK_SEQPACKET unix socket,
 * with descriptors by SCM_RIGHTS.  The kernel keeps message boundaries
 * (unix(7)), so no framing exists to get wrong.
 */
#ifndef BASE_CHANNEL_H
#define BASE_CHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/wire.h"

/* The longest message of any protocol; the default wmem_max carries it. */
#define CHANNEL_MESSAGE_MAX 131072
/* Descriptors in one message; the kernel's own bound is 253 (SCM_MAX_FD). */
#define CHANNEL_FDS_MAX 64
/* Supplementary groups of a peer that we carry; more is ERROR_LIMIT. */
#define CHANNEL_GROUPS_MAX 256

struct fd_list {
	size_t n;
	int fd[CHANNEL_FDS_MAX];
};

/* One end of a channel and its message buffer; owned by whoever embeds it. */
struct channel {
	int fd; /* owned; -1 when closed */
	/* Bytes of the message that came last, decoded or not; they lie in
	 * 'buffer' until the next call. */
	size_t received;
	uint8_t buffer[CHANNEL_MESSAGE_MAX];
};

/* Who is at the other end, by the kernel: SO_PEERCRED, SO_PEERGROUPS. */
struct channel_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	size_t n_groups;
	gid_t groups[CHANNEL_GROUPS_MAX];
};

/* A connected pair, both ends close-on-exec; both owned by the caller. */
int channel_pair(int ret_fds[2], struct error *e) MUST_CHECK;

struct channel_send {
	const struct wire_protocol *protocol;
	uint16_t verb;
	const void *message;
	const struct fd_list *fds;
};

/*
 * Send message 'verb' with 'fds' (NULL for none; they stay the caller's).
 * ERROR_SYSTEM with saved_errno EAGAIN when a non-blocking socket is full;
 * ERROR_CLOSED when the peer is gone.  Never raises SIGPIPE.
 */
int channel_send(struct channel *c, const struct channel_send *what,
    struct error *e) MUST_CHECK;

struct channel_receive {
	const struct wire_protocol *protocol;
	size_t max_fds;
	struct wire_target to;
};

/*
 * Receive and decode one message of 'protocol'.  *ret_fds receives what came
 * with it, close-on-exec, owned by the caller; at most 'max_fds', more is
 * ERROR_MALFORMED and all are closed.  ERROR_CLOSED at end of file; ERROR_SYSTEM
 * with EAGAIN when a non-blocking socket is empty.  On failure no descriptor
 * is left open and *ret_fds is untouched.
 */
int channel_receive(struct channel *c, const struct channel_receive *what,
    uint16_t *ret_verb, struct fd_list *ret_fds, struct error *e) MUST_CHECK;

/* Close every descriptor of the list and empty it. */
void fd_list_close(struct fd_list *fds);

int channel_peer(int fd, struct channel_peer *ret, struct error *e) MUST_CHECK;

#endif
