/*
 * executor/supervisor_loop.c - the supervisor after start: one thread, one
 * epoll loop, no handler that waits for anybody.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/run_steps.h"
#include "executor/session.h"

/* A front that asked to stop gets this long to take its answer. */
#define STOP_GRACE_US   UINT64_C(2000000)
#define FIRST_CLIENT_US UINT64_C(10000000)

int supervisor_receive(struct supervisor *s, int fd,
    const struct wire_protocol *p, struct supervisor_heard *ret,
    struct error *e)
{
	struct channel_receive what = { p, CHANNEL_FDS_MAX,
		{ s->in, sizeof(*s->in) } };
	int failed;

	ret->fds.n = 0;
	s->io.fd = fd;
	failed = channel_receive(&s->io, &what, &ret->verb, &ret->fds, e);
	s->io.fd = -1;
	return failed;
}

int supervisor_send(struct supervisor *s, int fd,
    const struct channel_send *what, struct error *e)
{
	int failed;

	s->io.fd = fd;
	failed = channel_send(&s->io, what, e);
	s->io.fd = -1;
	return failed;
}

void supervisor_policy(const struct supervisor *s, struct event_policy *ret)
{
	const struct policy *p = s->policy;

	(void)snprintf(ret->name, sizeof(ret->name), "%s", p->name);
	memcpy(ret->sha256, p->sha256, sizeof(ret->sha256));
	memcpy(ret->file, p->file_sha256, sizeof(ret->file));
}

void supervisor_lose(struct supervisor *s, const char *why)
{
	if (s->lost)
		return; /* the first one is the reason */
	s->lost = true;
	(void)snprintf(s->lost_text, sizeof(s->lost_text),
	    "%.200s; the log records the run as aborted; look at the log's "
	    "disk "
	    "and at dmesg, then try again",
	    why);
}

/* Best effort: whoever does not read now sees the channel close. */
static void tell_lost(struct supervisor *s)
{
	for (struct run *r = s->runs; r != NULL; r = r->next)
		if (r->session != NULL && r->stage != RUN_OVER)
			session_failed(r->session, r->request,
			    ERROR_UNAVAILABLE, s->lost_text);
}

void supervisor_lose_launcher(struct supervisor *s)
{
	if (s->launch_fd < 0)
		return;
	loop_remove(&s->loop, &s->launch_watch);
	own_close(&s->launch_fd);
	s->launch_fd = -1;
	outbox_clear(&s->launch_box);
	s->stopping = true;
	for (struct run *r = s->runs; r != NULL; r = r->next) {
		run_cancel(r, KILLER_SUPERVISOR);
		if (r->stage == RUN_ENDING)
			run_end(r);
	}
}

void supervisor_tell_launcher(struct supervisor *s, uint16_t verb,
    const void *message, const struct fd_list *fds)
{
	struct channel_send what = { &launch_protocol, verb, message, fds };
	struct error e;
	int failed;

	if (s->launch_fd < 0)
		return;
	s->io.fd = s->launch_fd;
	failed = outbox_send(&s->launch_box, &s->io, &what, &e);
	s->io.fd = -1;
	/* Gone or stuck: its end of file tells the loop, which cleans up. */
	if (failed < 0)
		(void)shutdown(s->launch_fd, SHUT_RDWR);
	else if (s->launch_box.first != NULL)
		loop_change(&s->loop, &s->launch_watch, EPOLLIN | EPOLLOUT);
}

/* The number is the first member of every answer. */
static void on_launch_answer(
    struct supervisor *s, uint16_t verb, struct fd_list *fds)
{
	struct run_message m = { ROLE_LAUNCHER, verb, s->in, fds };
	struct run *r;
	struct error e;

	if (verb == LAUNCH_FAILED && s->in->launch_failed.run == 0)
		return; /* a helper: its own channel has been closed */
	r = run_of_number(s, verb == LAUNCH_STARTED  ? s->in->started.run
	                     : verb == LAUNCH_FAILED ? s->in->launch_failed.run
	                                             : s->in->released.run);
	if (r == NULL)
		return;
	if (verb == LAUNCH_RELEASED ||
	    (verb == LAUNCH_FAILED && r->stage >= RUN_RECORDING)) {
		run_released(r);
		/* Given up before it started: nothing of it is left now. */
		if (r->stage == RUN_ENDING) {
			r->dead = true;
			run_end(r);
		}
		return;
	}
	if (run_handle(r, &m, &e) < 0) {
		run_fail(r, PHASE_SETUP, "launch", &e);
		run_end(r);
	}
}

static void launch_ready(void *owner, uint32_t events)
{
	struct supervisor *s = owner;
	struct supervisor_heard heard;
	struct error e;

	if ((events & EPOLLOUT) != 0) {
		s->io.fd = s->launch_fd;
		if (outbox_flush(&s->launch_box, &s->io, &e) < 0)
			(void)shutdown(s->launch_fd, SHUT_RDWR);
		s->io.fd = -1;
		if (s->launch_box.first == NULL)
			loop_change(&s->loop, &s->launch_watch, EPOLLIN);
	}
	if ((events & ~(uint32_t)EPOLLOUT) == 0)
		return;
	if (supervisor_receive(
	        s, s->launch_fd, &launch_reply_protocol, &heard, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			supervisor_lose_launcher(s);
		return;
	}
	on_launch_answer(s, heard.verb, &heard.fds);
	fd_list_close(&heard.fds);
}

/* An event that the signer refuses has no record: its run cannot be. */
static void on_refused(struct supervisor *s)
{
	struct run *r = run_of_number(s, s->in->audit.refused.ticket);
	struct error e;

	if (r == NULL || r->stage >= RUN_RECORDING) {
		supervisor_lose(s, s->in->audit.refused.text);
		return;
	}
	error_fill(&e, ERROR_STATE, 0, "%s", s->in->audit.refused.text);
	if (r->stage == RUN_DENYING) {
		run_refuse(r, "audit", &e);
		return;
	}
	run_unrecorded(r, &e);
}

static void audit_ready(void *owner, uint32_t events)
{
	struct supervisor *s = owner;
	struct fd_list none = { .n = 0 };
	struct run_message m = { ROLE_SIGNER, 0, s->in, &none };
	struct error e;
	struct run *r;

	if ((events & EPOLLOUT) != 0) {
		loop_change(&s->loop, &s->audit_watch, EPOLLIN);
		for (r = s->runs; r != NULL; r = r->next)
			if (r->event_waits)
				run_send_event(r);
		note_flush(s);
	}
	if ((events & ~(uint32_t)EPOLLOUT) == 0)
		return;
	if (audit_receive(s->audit, &m.verb, &s->in->audit, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			supervisor_lose(s, "the signer is gone");
		return;
	}
	if (note_heard(s, m.verb))
		return;
	if (m.verb == EVENT_REFUSED) {
		on_refused(s);
		return;
	}
	r = run_of_number(s, s->in->audit.stored.ticket);
	if (r == NULL || run_handle(r, &m, &e) < 0)
		supervisor_lose(s, "the signer answered what nobody asked");
}

static void listen_ready(void *owner, uint32_t events)
{
	(void)events;
	session_accept(owner);
}

static void signal_ready(void *owner, uint32_t events)
{
	struct supervisor *s = owner;
	struct signalfd_siginfo info;

	(void)events;
	if (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		supervisor_stop(s);
}

void supervisor_stop(struct supervisor *s)
{
	s->stopping = true;
	for (struct run *r = s->runs; r != NULL; r = r->next)
		run_cancel(r, KILLER_CLIENT);
}

void supervisor_stale(struct supervisor *s)
{
	s->stale = true;
	if (s->listen_fd < 0)
		return;
	/* Connecting is refused now; then the successor may have the lock. */
	loop_remove(&s->loop, &s->listen_watch);
	own_close(&s->listen_fd);
	s->listen_fd = -1;
	own_close(&s->lock_fd);
	s->lock_fd = -1;
}

static int watch_all(struct supervisor *s, struct error *e)
{
	s->listen_watch = (struct watch){ -1, 0, listen_ready, s };
	s->signal_watch = (struct watch){ -1, 0, signal_ready, s };
	s->audit_watch = (struct watch){ -1, 0, audit_ready, s };
	s->launch_watch = (struct watch){ -1, 0, launch_ready, s };
	if (loop_add(&s->loop, &s->listen_watch, s->listen_fd, EPOLLIN, e) <
	        0 ||
	    loop_add(&s->loop, &s->signal_watch, s->signal_fd, EPOLLIN, e) <
	        0 ||
	    loop_add(
	        &s->loop, &s->audit_watch, audit_fd(s->audit), EPOLLIN, e) < 0)
		return -1;
	if (loop_add(&s->loop, &s->launch_watch, s->launch_fd, EPOLLIN, e) < 0)
		return -1;
	if (supervisor_trace_watch(s, e) < 0 ||
	    supervisor_screen_watch(s, e) < 0)
		return -1;
	return supervisor_sync_watch(s, e);
}

/* When the service may end, by what is left to do; UINT64_MAX: not yet. */
static uint64_t end_at(const struct supervisor *s)
{
	uint64_t linger_us = (uint64_t)s->policy->linger_s * 1000000;

	if (s->lost)
		return 0;
	if (s->n_runs > 0)
		return UINT64_MAX;
	if (s->n_sessions > 0)
		return s->stopping || s->stale
		           ? s->quiet_since_us + STOP_GRACE_US
		           : UINT64_MAX;
	return s->stopping || s->stale ? 0 : s->idle_since_us + linger_us;
}

static int timeout_ms(uint64_t now_us, uint64_t at_us)
{
	uint64_t ms;

	if (at_us <= now_us)
		return 0;
	ms = (at_us - now_us + 999) / 1000;
	/* Greetings that are late are looked for once a second. */
	return ms < 1000 ? (int)ms : 1000;
}

static uint64_t sooner(uint64_t a_us, uint64_t b_us)
{
	return a_us < b_us ? a_us : b_us;
}

/* A service manager hears of what went wrong by our exit status. */
static int how_it_ended(struct supervisor *s, struct error *e)
{
	if (s->lost) {
		tell_lost(s);
		return FAIL(e, ERROR_CLOSED, "%s", s->lost_text);
	}
	if (s->broken[0] != '\0')
		return FAIL(e, ERROR_UNAVAILABLE, "%s", s->broken);
	return 0;
}

int supervisor_serve(struct supervisor *s, struct error *e)
{
	bool looked = false;

	if (watch_all(s, e) < 0)
		return -1;
	/* Who started us is about to connect; lingering begins after that. */
	s->idle_since_us = loop_now_us() + FIRST_CLIENT_US;
	for (;;) {
		uint64_t next = run_tend(s);
		uint64_t end;
		uint64_t now_us;

		session_sweep(s);
		now_us = loop_now_us();
		if (s->n_runs > 0)
			s->quiet_since_us = now_us;
		end = keep_hold(s, end_at(s), now_us);
		next = sooner(next, keep_tend(s, now_us));
		end = supervisor_sync_hold(s, end, now_us);
		next = sooner(next, supervisor_sync_tend(s, now_us));
		next = sooner(next, supervisor_screen_tend(s, now_us));
		/* Whoever connected meanwhile waits in the backlog: look. */
		if (end <= now_us && (looked || s->lost))
			break;
		looked = end <= now_us;
		next = sooner(next, end);
		if (loop_turn(&s->loop, timeout_ms(now_us, next), e) < 0)
			return -1;
	}
	return how_it_ended(s, e);
}
