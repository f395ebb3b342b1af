/*
 * tests/unit/test_channel.c - messages and descriptors over a real socket
 * pair, from peers that keep to the rules and from peers that do not.
 */
#include "base/channel.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"

struct note {
	uint64_t number;
};

static const struct wire_field note_rows[] = {
	WIRE_ROW_U64(note, number),
};
static const struct wire_layout note = WIRE_LAYOUT(note, note_rows);
static const struct wire_message messages[] = { { 1, "note", &note } };
static const struct wire_protocol test_protocol = { "test", 1, messages };

struct pair {
	struct channel ours, theirs;
	struct note got;
};

static int open_pair(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct error e;
	int fds[2];

	if (p == NULL || channel_pair(fds, &e) < 0)
		return -1;
	p->ours.fd = fds[0];
	p->theirs.fd = fds[1];
	*state = p;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *p = *state;

	(void)close(p->ours.fd);
	if (p->theirs.fd >= 0)
		(void)close(p->theirs.fd);
	free(p);
	return 0;
}

static size_t count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		n++;
	(void)closedir(folder);
	return n;
}

static int send_note(struct pair *p, const struct fd_list *fds, struct error *e)
{
	struct note n = { 7 };
	struct channel_send what = { &test_protocol, 1, &n, fds };

	return channel_send(&p->theirs, &what, e);
}

static int receive_note(
    struct pair *p, size_t max_fds, struct fd_list *ret, struct error *e)
{
	struct channel_receive what = { &test_protocol, max_fds,
		{ &p->got, sizeof(p->got) } };
	uint16_t verb = 0;
	int result = channel_receive(&p->ours, &what, &verb, ret, e);

	if (result == 0)
		assert_int_equal(verb, 1);
	return result;
}

/* A message of our own making: bytes, and 'n' copies of descriptor 'fd'. */
static void send_raw(struct pair *p, struct iovec bytes, int fd, size_t n)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int) * 200)];
	} control = { .room = { 0 } };
	struct msghdr msg = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (n > 0) {
		struct cmsghdr *c = &control.header;

		msg.msg_control = control.room;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		for (size_t i = 0; i < n; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	}
	assert_int_equal(
	    sendmsg(p->theirs.fd, &msg, MSG_NOSIGNAL), (ssize_t)bytes.iov_len);
}

static void a_message_arrives_with_its_descriptors(void **state)
{
	struct pair *p = *state;
	AUTO_FD fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fd_list out = { 2, { fd, fd } };
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };

	assert_int_equal(send_note(p, &out, &e), 0);
	assert_int_equal(receive_note(p, 2, &in, &e), 0);
	assert_true(p->got.number == 7);
	assert_int_equal(in.n, 2);
	for (size_t i = 0; i < in.n; i++)
		assert_int_not_equal(fcntl(in.fd[i], F_GETFD) & FD_CLOEXEC, 0);
	fd_list_close(&in);
	assert_int_equal(in.n, 0);
}

static void messages_keep_their_boundaries(void **state)
{
	struct pair *p = *state;
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };

	for (int i = 0; i < 3; i++)
		assert_int_equal(send_note(p, NULL, &e), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(receive_note(p, 0, &in, &e), 0);
}

static void descriptors_nobody_asked_for_are_closed(void **state)
{
	struct pair *p = *state;
	AUTO_FD fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fd_list out = { 3, { fd, fd, fd } };
	struct fd_list in = { .n = 77 };
	struct error e = { 0 };
	size_t before = count_fds();

	assert_int_equal(send_note(p, &out, &e), 0);
	assert_int_equal(receive_note(p, 2, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
	assert_int_equal(in.n, 77);
	assert_int_equal(count_fds(), before);
}

static void more_descriptors_than_a_message_holds_are_closed(void **state)
{
	struct pair *p = *state;
	AUTO_FD fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };
	char text[10] = { 1, 0, 7 };
	size_t before = count_fds();

	send_raw(p, (struct iovec){ text, sizeof(text) }, fd, 200);
	assert_int_equal(receive_note(p, CHANNEL_FDS_MAX, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
	assert_int_equal(count_fds(), before);
}

static void descriptors_of_a_malformed_message_are_closed(void **state)
{
	struct pair *p = *state;
	AUTO_FD fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };
	char text[3] = { 1, 0, 7 };
	size_t before = count_fds();

	send_raw(p, (struct iovec){ text, sizeof(text) }, fd, 2);
	assert_int_equal(receive_note(p, 2, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
	assert_int_equal(count_fds(), before);
}

static void a_message_longer_than_any_is_malformed(void **state)
{
	struct pair *p = *state;
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };
	char *text = calloc(1, CHANNEL_MESSAGE_MAX + 1);

	assert_non_null(text);
	send_raw(p, (struct iovec){ text, CHANNEL_MESSAGE_MAX + 1 }, -1, 0);
	assert_int_equal(receive_note(p, 0, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
	free(text);
}

static void a_message_of_no_bytes_looks_like_the_end(void **state)
{
	struct pair *p = *state;
	AUTO_FD fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };
	size_t before = count_fds();

	send_raw(p, (struct iovec){ NULL, 0 }, fd, 1);
	assert_int_equal(receive_note(p, 1, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_CLOSED);
	assert_int_equal(count_fds(), before);
}

static void a_peer_that_left_is_closed(void **state)
{
	struct pair *p = *state;
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };
	struct note n = { 7 };
	struct channel_send what = { &test_protocol, 1, &n, NULL };

	(void)close(p->theirs.fd);
	p->theirs.fd = -1;
	assert_int_equal(receive_note(p, 0, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_CLOSED);
	assert_int_equal(channel_send(&p->ours, &what, &e), -1);
	assert_int_equal(e.kind, ERROR_CLOSED);
}

static void a_full_or_empty_socket_says_so(void **state)
{
	struct pair *p = *state;
	struct fd_list in = { .n = 0 };
	struct error e = { 0 };

	assert_int_equal(fcntl(p->ours.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(p->theirs.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(receive_note(p, 0, &in, &e), -1);
	assert_int_equal(e.kind, ERROR_SYSTEM);
	assert_int_equal(e.saved_errno, EAGAIN);
	while (send_note(p, NULL, &e) == 0)
		;
	assert_int_equal(e.kind, ERROR_SYSTEM);
	assert_int_equal(e.saved_errno, EAGAIN);
}

static void too_many_descriptors_of_ours_are_refused(void **state)
{
	struct pair *p = *state;
	struct fd_list out = { .n = CHANNEL_FDS_MAX + 1 };
	struct error e = { 0 };

	assert_int_equal(send_note(p, &out, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
}

static void the_peer_is_known_by_the_kernel(void **state)
{
	struct pair *p = *state;
	struct channel_peer peer;
	struct error e = { 0 };

	assert_int_equal(channel_peer(p->ours.fd, &peer, &e), 0);
	assert_int_equal(peer.uid, geteuid());
	assert_int_equal(peer.gid, getegid());
	assert_int_equal(peer.pid, getpid());
	assert_int_equal(channel_peer(-1, &peer, &e), -1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_message_arrives_with_its_descriptors),
		CASE(messages_keep_their_boundaries),
		CASE(descriptors_nobody_asked_for_are_closed),
		CASE(more_descriptors_than_a_message_holds_are_closed),
		CASE(descriptors_of_a_malformed_message_are_closed),
		CASE(a_message_longer_than_any_is_malformed),
		CASE(a_message_of_no_bytes_looks_like_the_end),
		CASE(a_peer_that_left_is_closed),
		CASE(a_full_or_empty_socket_says_so),
		CASE(too_many_descriptors_of_ours_are_refused),
		CASE(the_peer_is_known_by_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
