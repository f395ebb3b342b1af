/*
 * cli/follow.c - the loop of `bailiff run`.  Linked by `bailiff`.
 */
#include "cli/follow.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/own.h"

/* No policy keeps more of a stream: policy/limits.h. */
#define KEPT_MAX 1073741824U

static int open_signals(int *ret_fd, struct error *e)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct sigaction now;

		/* nohup(1) and shells ignore some on purpose. */
		if (sigaction(wanted[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			(void)sigaddset(&set, wanted[i]);
	}
	if (sigaction(SIGPIPE, &ignore, NULL) < 0 ||
	    pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return FAIL_SYS(e, "block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return FAIL_SYS(e, "watch signals");
	*ret_fd = fd;
	return 0;
}

static int cancel(struct follow *f, struct error *e)
{
	struct protocol_cancel message = { .request = f->request };

	return front_send(f->front, PROTOCOL_CANCEL, &message, NULL, e);
}

static int act_signal(struct follow *f, int signal_fd, struct error *e)
{
	struct signalfd_siginfo info;
	ssize_t got = read(signal_fd, &info, sizeof(info));

	if (got != (ssize_t)sizeof(info))
		return 0;
	if (f->signal != 0)
		return FAIL(e, ERROR_CLOSED, "left before the run ended");
	f->signal = (int)info.ssi_signo;
	return cancel(f, e);
}

/* Our own output is gone: nobody reads, so nothing more is worth running. */
static int act_write(struct follow *f, struct stream *s, struct error *e)
{
	if (stream_write(s, e) == 0)
		return 0;
	f->output_errno = e->saved_errno;
	f->out.len = 0;
	f->err.len = 0;
	return f->has_finished ? 0 : cancel(f, e);
}

static int keep(
    struct follow_kept *k, const struct protocol_output *o, struct error *e)
{
	if (o->data.len > k->cap - k->len) {
		size_t cap = k->cap < 65536 ? 65536 : 2 * k->cap;
		uint8_t *more = cap <= KEPT_MAX ? realloc(k->data, cap) : NULL;

		if (more == NULL)
			return FAIL(e, ERROR_LIMIT, "too much output to keep");
		k->data = more;
		k->cap = cap;
	}
	memcpy(k->data + k->len, o->data.data, o->data.len);
	k->len += o->data.len;
	return 0;
}

static int act_output(struct follow *f, struct error *e)
{
	const struct protocol_output *o = &f->front->reply.output;
	bool is_out = o->stream == PROTOCOL_STDOUT;

	if (f->mode == FOLLOW_KEEP)
		return keep(is_out ? &f->kept_out : &f->kept_err, o, e);
	if (f->output_errno == 0)
		stream_put(
		    is_out ? &f->out : &f->err, o->data.data, o->data.len);
	return 0;
}

static int act_finished(struct follow *f)
{
	f->finished = f->front->reply.finished;
	f->has_finished = true;
	if (f->mode == FOLLOW_KEEP || f->output_errno != 0)
		return 0;
	stream_end(&f->out);
	stream_end(&f->err);
	return 0;
}

static int act_message(struct follow *f, struct error *e)
{
	AUTO_FD fd = -1;
	uint16_t verb;

	if (front_receive(f->front, &verb, &fd, e) < 0)
		return e->kind == ERROR_CLOSED ? FAIL(e, ERROR_CLOSED,
		                                     "the service ended before "
		                                     "the run did; the log "
		                                     "records it as aborted")
		                               : -1;
	switch (verb) {
	case PROTOCOL_FAILED:
		return front_failed(&f->front->reply.failed, e);
	case PROTOCOL_DECIDED:
		f->decided = f->front->reply.decided;
		f->has_decided = true;
		return 0;
	case PROTOCOL_OUTPUT:
		return act_output(f, e);
	case PROTOCOL_FINISHED:
		return act_finished(f);
	default:
		return FAIL(e, ERROR_MALFORMED, "the service said %s in a run",
		    wire_verb_name(&protocol_reply, verb));
	}
}

static bool is_over(const struct follow *f)
{
	if (stream_waits(&f->out) || stream_waits(&f->err))
		return false;
	return f->has_finished || (f->has_decided && f->decided.allow == 0);
}

/* One message at a time: while its bytes wait, the service waits. */
static int turn(struct follow *f, int signal_fd, struct error *e)
{
	struct stream *waiting = stream_waits(&f->out)   ? &f->out
	                         : stream_waits(&f->err) ? &f->err
	                                                 : NULL;
	struct pollfd p[] = {
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = waiting != NULL ? waiting->fd : f->front->channel.fd,
		    .events = waiting != NULL ? POLLOUT : POLLIN },
	};

	if (poll(p, 2, -1) < 0)
		return errno == EINTR ? 0 : FAIL_SYS(e, "poll");
	if (p[0].revents != 0 && act_signal(f, signal_fd, e) < 0)
		return -1;
	if (p[1].revents == 0)
		return 0;
	return waiting != NULL ? act_write(f, waiting, e) : act_message(f, e);
}

int follow_run(struct follow *f, const struct protocol_run *run,
    const struct fd_list *fds, struct error *e)
{
	AUTO_FD signal_fd = -1;

	if (open_signals(&signal_fd, e) < 0)
		return -1;
	if (front_send(f->front, PROTOCOL_RUN, run, fds, e) < 0)
		return FAIL_IN(e, "ask for a run");
	while (!is_over(f))
		if (turn(f, signal_fd, e) < 0)
			return -1;
	return 0;
}

void follow_done(struct follow *f)
{
	free(f->kept_out.data);
	free(f->kept_err.data);
	f->kept_out = (struct follow_kept){ 0 };
	f->kept_err = (struct follow_kept){ 0 };
}
