/*
 * mcp/loop.c - one thread that waits for all at once.  Linked by bailiff-mcp.
 * Reading and writing never block: what polls ready is read once, and written
 * in parts that a pipe takes at once.
 */
#include "mcp/loop.h"

#include <limits.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mcp/calls.h"
#include "mcp/link.h"

#define EOF_GRACE_MS 400 /* for what is nearly done */
#define END_GRACE_MS 700 /* for the records of what was killed */
#define FLUSH_MS     1000
#define WRITES_MAX   64 /* in one turn */
#define SOCKET_WRITE 262144

enum {
	POLL_IN,
	POLL_OUT,
	POLL_LINK,
	POLL_SIGNAL,
	POLL_N
};

uint64_t server_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* No answer can be given any more: kill what runs, wait for its records. */
static void lose(struct server *s)
{
	if (s->lost)
		return;
	s->lost = true;
	s->end_ms = server_now_ms() + END_GRACE_MS;
	calls_cancel_all(s);
}

static void read_input(struct server *s, const struct loop *l)
{
	const char *line;
	size_t len;
	char *to;
	struct error e;
	enum feed_event event;
	ssize_t got;

	if (feed_room(&s->feed, &to, &e) < 0) {
		lose(s);
		return;
	}
	got = read(l->in_fd, to, FEED_CHUNK);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		s->eof = true;
		s->end_ms = server_now_ms() + EOF_GRACE_MS;
		return;
	}
	feed_added(&s->feed, (size_t)got);
	while (!s->lost &&
	       (event = feed_next(&s->feed, &line, &len)) != FEED_NONE) {
		if (event == FEED_ONE)
			server_line(s, line, len);
		else
			server_line_too_long(s);
	}
}

static ssize_t write_part(const struct loop *l, const char *from, size_t n)
{
	if (l->out_is_socket)
		return send(l->out_fd, from,
		    n < SOCKET_WRITE ? n : SOCKET_WRITE,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(l->out_fd, from, n < PIPE_BUF ? n : PIPE_BUF);
}

static void write_output(struct server *s, const struct loop *l)
{
	struct pollfd p = { .fd = l->out_fd, .events = POLLOUT };

	for (int i = 0; i < WRITES_MAX && s->queue.len > s->queue_at; i++) {
		ssize_t wrote;

		if (poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT))
			break;
		wrote = write_part(
		    l, s->queue.data + s->queue_at, s->queue.len - s->queue_at);
		if (wrote < 0 && (errno == EINTR || errno == EAGAIN))
			return;
		if (wrote < 0) {
			lose(s);
			return;
		}
		s->queue_at += (size_t)wrote;
	}
	if (s->queue.len == s->queue_at) {
		page_clear(&s->queue);
		s->queue_at = 0;
	}
}

/* The client left: answers for what is nearly done, then the end. */
static bool is_over(struct server *s)
{
	uint64_t now_ms = server_now_ms();

	if (s->abandoned)
		return s->lost || s->queue.len == s->queue_at ||
		       now_ms >= s->end_ms;
	if (s->eof && !s->lost &&
	    (now_ms >= s->end_ms ||
	        (calls_pending(s) == 0 && s->queue.len == s->queue_at)))
		lose(s);
	return s->lost && (job_count_going(s) == 0 || now_ms >= s->end_ms);
}

static void abandon(struct server *s)
{
	s->abandoned = true;
	s->end_ms = server_now_ms() + FLUSH_MS;
	job_abandon_all(s);
	calls_abandon(s);
}

static int timeout_of(struct server *s)
{
	uint64_t now_ms = server_now_ms();
	uint64_t next_ms = s->lost ? s->end_ms : calls_tend(s, now_ms);

	if ((s->eof || s->abandoned) && s->end_ms < next_ms)
		next_ms = s->end_ms;
	if (next_ms == UINT64_MAX)
		return -1;
	if (next_ms <= now_ms)
		return 0;
	return next_ms - now_ms < INT_MAX ? (int)(next_ms - now_ms) : INT_MAX;
}

static void set_polls(
    const struct server *s, const struct loop *l, struct pollfd polls[POLL_N])
{
	bool reads = !s->eof && !s->lost && !s->abandoned &&
	             s->held.len - s->held_at < SERVER_HELD_MAX;
	bool writes = s->queue.len > s->queue_at && !s->lost;

	polls[POLL_IN] = (struct pollfd){ reads ? l->in_fd : -1, POLLIN, 0 };
	/* Its end is told without being asked for. */
	polls[POLL_OUT] = (struct pollfd){ s->lost ? -1 : l->out_fd,
		writes ? POLLOUT : 0, 0 };
	polls[POLL_LINK] =
	    (struct pollfd){ s->abandoned ? -1 : s->channel.fd, POLLIN, 0 };
	polls[POLL_SIGNAL] =
	    (struct pollfd){ s->lost ? -1 : l->signal_fd, POLLIN, 0 };
}

static int turn(struct server *s, const struct loop *l, struct error *e)
{
	struct pollfd polls[POLL_N];
	int timeout_ms = timeout_of(s); /* it may have something to say */

	set_polls(s, l, polls);
	if (poll(polls, POLL_N, timeout_ms) < 0 && errno != EINTR)
		return FAIL_SYS(e, "poll");
	if (polls[POLL_SIGNAL].revents != 0)
		lose(s);
	if (polls[POLL_OUT].revents & (POLLERR | POLLNVAL))
		lose(s);
	if (polls[POLL_LINK].revents != 0 && link_hear(s, e) < 0)
		abandon(s);
	if (polls[POLL_IN].revents != 0 && !s->lost && !s->abandoned)
		read_input(s, l);
	if (s->lost || s->abandoned) {
		if (!s->lost)
			write_output(s, l);
		return 0;
	}
	fetch_step(s);
	write_output(s, l);
	server_resume(s);
	fetch_step(s);
	job_tend(s);
	return 0;
}

int loop_run(struct server *s, const struct loop *l, struct error *e)
{
	while (!is_over(s))
		if (turn(s, l, e) < 0)
			return -1;
	if (s->abandoned)
		return FAIL_IN(e, "the service is gone");
	return 0;
}
