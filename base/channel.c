/*
 * base/channel.c - sendmsg and recvmsg, once.  Linked by every program that
 * has a channel.  What arrives is hostile until wire_decode accepted it.
 */
#include "base/channel.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header; /* for its alignment */
	char bytes[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
};

int channel_pair(int ret_fds[2], struct error *e)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return FAIL_SYS(e, "make a socket pair");
	ret_fds[0] = fds[0];
	ret_fds[1] = fds[1];
	return 0;
}

void fd_list_close(struct fd_list *fds)
{
	for (size_t i = 0; i < fds->n; i++)
		(void)close(fds->fd[i]);
	fds->n = 0;
}

static void attach(
    struct msghdr *msg, union control *control, const struct fd_list *fds)
{
	struct cmsghdr *c;
	size_t bytes = fds->n * sizeof(int);

	memset(control, 0, sizeof(*control));
	msg->msg_control = control->bytes;
	msg->msg_controllen = CMSG_SPACE(bytes);
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), fds->fd, bytes);
}

int channel_send(
    struct channel *c, const struct channel_send *what, struct error *e)
{
	struct bytes_writer w = { c->buffer, sizeof(c->buffer), 0, false };
	union control control;
	struct iovec iov;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	if (wire_encode(what->protocol, what->verb, what->message, &w, e) < 0)
		return -1;
	iov = (struct iovec){ w.data, w.len };
	if (what->fds != NULL && what->fds->n > CHANNEL_FDS_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d descriptors",
		    CHANNEL_FDS_MAX);
	if (what->fds != NULL && what->fds->n > 0)
		attach(&msg, &control, what->fds);
	do
		sent = sendmsg(c->fd, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
		return FAIL(e, ERROR_CLOSED, "peer closed the channel");
	if (sent < 0)
		return FAIL_SYS(e, "send %s %s", what->protocol->name,
		    wire_verb_name(what->protocol, what->verb));
	return 0;
}

/* Every SCM_RIGHTS part counts, however many a peer made of one message. */
static void detach(struct msghdr *msg, struct fd_list *fds)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n && fds->n < CHANNEL_FDS_MAX; i++)
			memcpy(&fds->fd[fds->n++],
			    CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
}

static int receive_bytes(struct channel *c, struct msghdr *msg, size_t *ret_len,
    struct fd_list *ret_fds, struct error *e)
{
	ssize_t got;

	do
		got = recvmsg(c->fd, msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == ECONNRESET)
		return FAIL(e, ERROR_CLOSED, "peer closed the channel");
	if (got < 0)
		return FAIL_SYS(e, "receive a message");
	c->received = (size_t)got;
	detach(msg, ret_fds);
	if (msg->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		fd_list_close(ret_fds);
		return FAIL(e, ERROR_MALFORMED,
		    "message or its descriptors exceed the bound");
	}
	/* A SEQPACKET peer that sends no bytes looks like one that left. */
	if (got == 0) {
		fd_list_close(ret_fds);
		return FAIL(e, ERROR_CLOSED, "peer closed the channel");
	}
	*ret_len = (size_t)got;
	return 0;
}

int channel_receive(struct channel *c, const struct channel_receive *what,
    uint16_t *ret_verb, struct fd_list *ret_fds, struct error *e)
{
	union control control;
	struct iovec iov = { c->buffer, sizeof(c->buffer) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct fd_list fds = { .n = 0 };
	struct bytes_reader in = { .data = c->buffer };

	if (receive_bytes(c, &msg, &in.len, &fds, e) < 0)
		return -1;
	if (fds.n > what->max_fds) {
		fd_list_close(&fds);
		return FAIL(e, ERROR_MALFORMED,
		    "%s: more than %zu descriptors in one message",
		    what->protocol->name, what->max_fds);
	}
	if (wire_decode(what->protocol, &in, ret_verb, what->to, e) < 0) {
		fd_list_close(&fds);
		return -1;
	}
	*ret_fds = fds;
	return 0;
}

int channel_peer(int fd, struct channel_peer *ret, struct error *e)
{
	struct channel_peer peer = { 0 };
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return FAIL_SYS(e, "read the peer's credentials");
	peer.pid = cred.pid;
	peer.uid = cred.uid;
	peer.gid = cred.gid;
	len = sizeof(peer.groups);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer.groups, &len) < 0) {
		if (errno == ERANGE)
			return FAIL(e, ERROR_LIMIT,
			    "the peer is in more than %d groups",
			    CHANNEL_GROUPS_MAX);
		return FAIL_SYS(e, "read the peer's groups");
	}
	peer.n_groups = len / sizeof(peer.groups[0]);
	*ret = peer;
	return 0;
}
