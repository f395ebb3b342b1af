/*
 * tests/unit/test_outbox.c - what a slow peer left unread comes in order, with
 * its descriptors, and costs a bounded amount.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "executor/outbox.h"
#include "executor/protocol.h"

struct pair {
	struct channel ours, theirs;
	struct outbox box;
	struct protocol_entry entry;
};

static struct pair *open_pair(void)
{
	struct pair *p = calloc(1, sizeof(*p));
	int ends[2];
	struct error e;

	assert_non_null(p);
	assert_int_equal(channel_pair(ends, &e), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	p->ours.fd = ends[0];
	p->theirs.fd = ends[1];
	return p;
}

static void close_pair(struct pair *p)
{
	outbox_clear(&p->box);
	(void)close(p->ours.fd);
	if (p->theirs.fd >= 0)
		(void)close(p->theirs.fd);
	free(p);
}

static int send_number(
    struct pair *p, uint64_t number, const struct fd_list *fds, struct error *e)
{
	const struct channel_send what = { &protocol_reply, PROTOCOL_ENTRY,
		&p->entry, fds };

	p->entry.request = number;
	memset(p->entry.name, 'n', sizeof(p->entry.name) - 1);
	return outbox_send(&p->box, &p->ours, &what, e);
}

/* The next number at their end; -1 when nothing is there. */
static int64_t next_number(struct pair *p, struct fd_list *ret_fds)
{
	const struct channel_receive what = { &protocol_reply, 4,
		{ &p->entry, sizeof(p->entry) } };
	struct error e;
	uint16_t verb;

	ret_fds->n = 0;
	if (channel_receive(&p->theirs, &what, &verb, ret_fds, &e) < 0)
		return -1;
	return (int64_t)p->entry.request;
}

static void messages_come_in_order_however_slow_the_peer(void **state)
{
	struct pair *p = open_pair();
	struct fd_list none;
	struct error e;
	uint64_t sent = 0;
	int64_t got = 0;

	(void)state;
	while (p->box.n < 100)
		assert_int_equal(send_number(p, sent++, NULL, &e), 0);
	while (got < (int64_t)sent) {
		int64_t number = next_number(p, &none);

		if (number < 0)
			assert_int_equal(
			    outbox_flush(&p->box, &p->ours, &e), 0);
		else
			assert_int_equal(number, got++);
	}
	assert_null(p->box.first);
	assert_int_equal(p->box.n, 0);
	close_pair(p);
}

static void descriptors_are_kept_with_their_message(void **state)
{
	struct pair *p = open_pair();
	struct fd_list fds = { .n = 1 };
	struct fd_list got;
	struct stat mine;
	struct stat theirs;
	struct error e;
	uint64_t sent = 0;
	int64_t number;

	(void)state;
	while (p->box.n == 0)
		assert_int_equal(send_number(p, sent++, NULL, &e), 0);
	fds.fd[0] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_true(fds.fd[0] >= 0);
	assert_int_equal(fstat(fds.fd[0], &mine), 0);
	assert_int_equal(send_number(p, sent, &fds, &e), 0);
	fd_list_close(&fds);
	do {
		number = next_number(p, &got);
		if (number < 0)
			assert_int_equal(
			    outbox_flush(&p->box, &p->ours, &e), 0);
	} while (number != (int64_t)sent);
	assert_int_equal(got.n, 1);
	assert_int_equal(fstat(got.fd[0], &theirs), 0);
	assert_int_equal(mine.st_rdev, theirs.st_rdev);
	fd_list_close(&got);
	close_pair(p);
}

static void a_peer_that_never_reads_costs_a_bounded_amount(void **state)
{
	struct pair *p = open_pair();
	struct error e = { 0 };
	uint64_t sent = 0;

	(void)state;
	while (send_number(p, sent, NULL, &e) == 0 && sent < 100000)
		sent++;
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_int_equal(p->box.n, OUTBOX_MESSAGES_MAX);
	close_pair(p);
}

static void a_peer_that_left_is_closed(void **state)
{
	struct pair *p = open_pair();
	struct error e = { 0 };

	(void)state;
	while (p->box.n == 0)
		assert_int_equal(send_number(p, 0, NULL, &e), 0);
	(void)close(p->theirs.fd);
	p->theirs.fd = -1;
	assert_int_equal(outbox_flush(&p->box, &p->ours, &e), -1);
	assert_int_equal(e.kind, ERROR_CLOSED);
	close_pair(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_in_order_however_slow_the_peer),
		cmocka_unit_test(descriptors_are_kept_with_their_message),
		cmocka_unit_test(
		    a_peer_that_never_reads_costs_a_bounded_amount),
		cmocka_unit_test(a_peer_that_left_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
