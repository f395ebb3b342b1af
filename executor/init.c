/*
 * executor/init.c - pid 1 of a run once the program's process exists: tells
 * the supervisor of the stop, relays the gate, reaps, ends the run.  Linked by
 * bailiff-launch.  It holds no capability, few descriptors and its own filter
 * before there is a request, and sees none (but for one with directories).
 *
 * It ends when the program does, when the wall limit is over by a second, or
 * when the launcher is gone; the kernel then kills whatever is left in the pid
 * namespace.  Its uid is not the program's: it cannot be signalled or traced.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/event.h"
#include "executor/omit.h"
#include "executor/sandbox.h"
#include "executor/steps.h"

#define GRACE_MS       1000
#define REAPED_AT_ONCE 64

enum waited {
	ON_CHILD,
	ON_LAUNCHER,
	ON_GATE,
	ON_EXEC,
	WAITED_N
};

/* Pid 1's own state while the program runs. */
struct watch {
	struct sandbox *s;
	struct launch_stands stands; /* from the stop on */
	struct pollfd fds[WAITED_N];
	bool timed;
	uint64_t end_ms; /* on CLOCK_MONOTONIC */
	bool busy;       /* more children may be dead */
};

static _Noreturn void fail(struct sandbox *s, const char *name, struct error *e)
{
	/* Whose status channel it is tells the run. */
	struct launch_failed failed = { .run = 0 };
	struct error ignored;

	(void)steps_failed(name, "report this", e, &failed);
	(void)!sandbox_say(
	    s, s->status_fd, LAUNCH_STEP_FAILED, &failed, &ignored);
	_exit(1);
}

/* It may take for ever; without the launcher nobody will ask. */
static int await_report(const struct sandbox *s, struct error *e)
{
	struct pollfd fds[] = { { s->report_fd, POLLIN, 0 },
		{ s->liveness_fd, POLLIN, 0 } };

	while (poll(fds, 2, -1) < 0)
		if (errno != EINTR)
			return FAIL_SYS(e, "wait for the program's process");
	if (fds[1].revents != 0)
		_exit(1);
	return 0;
}

/* What the program's process reports: it stands, or which row failed. */
static int hear(struct sandbox *s, struct launch_stands *ret, struct error *e)
{
	union {
		struct launch_stands stands;
		struct launch_failed failed;
	} in;
	struct channel *c = &s->memory->channel;
	const struct channel_receive what = { .protocol =
		                                  &launch_status_protocol,
		.max_fds = 1,
		.to = { &in, sizeof(in) } };
	struct fd_list fds;
	uint16_t verb;
	char end;

	if (await_report(s, e) < 0)
		return -1;
	c->fd = s->report_fd;
	if (channel_receive(c, &what, &verb, &fds, e) < 0)
		return FAIL_IN(e, "hear of the program");
	s->listener_fd = fds.n == 1 ? fds.fd[0] : -1;
	if (verb == LAUNCH_STEP_FAILED) {
		(void)!sandbox_say(
		    s, s->status_fd, LAUNCH_STEP_FAILED, &in.failed, e);
		_exit(1);
	}
	if (verb != LAUNCH_STANDS)
		return FAIL(e, ERROR_STATE, "an unknown report");
	/* End of file: its report is closed, it stands at the gate. */
	if (read(s->report_fd, &end, 1) != 0)
		return FAIL(e, ERROR_STATE, "the program does not stop");
	(void)close(s->report_fd);
	*ret = in.stands;
	return 0;
}

static int close_rest(struct sandbox *s, int child_fd, struct error *e)
{
	int keep[] = { s->status_fd, s->gate_fd, s->liveness_fd, s->relay_fd,
		s->report_fd, s->program_pid_fd, child_fd };

	return sandbox_keep_only(keep, sizeof(keep) / sizeof(keep[0]), e);
}

static int confine_self(struct sandbox *s, struct error *e)
{
	int none;

	if (!omit_has("init-capabilities") && confine_drop_capabilities(e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return FAIL_SYS(e, "forbid new privileges");
	if (omit_has("init-filter"))
		return 0;
	return confine_filter_load(&s->init_filter, &none, e);
}

static int tell_stopped(
    struct sandbox *s, const struct launch_stands *stands, struct error *e)
{
	const struct launch_stopped stopped = { stands->landlock_abi,
		stands->steps };
	struct channel *c = &s->memory->channel;
	const struct fd_list program = { 1, { s->program_pid_fd } };
	const struct channel_send what = { .protocol = &launch_status_protocol,
		.verb = LAUNCH_STOPPED,
		.message = &stopped,
		.fds = &program };

	c->fd = s->status_fd;
	if (channel_send(c, &what, e) < 0)
		return -1;
	(void)close(s->program_pid_fd);
	s->program_pid_fd = -1;
	return 0;
}

static _Noreturn void end(struct sandbox *s, const struct launch_ended *ended)
{
	struct error e;

	(void)!sandbox_say(s, s->status_fd, LAUNCH_ENDED, ended, &e);
	_exit(0);
}

/*
 * True if the program's process left its last words, the error number of its
 * exec.  A byte of ours that it did not read any more is reported first, once,
 * as a reset.
 */
static bool last_words(struct sandbox *s, uint32_t *ret)
{
	ssize_t got = read(s->relay_fd, ret, sizeof(*ret));

	if (got < 0 && (errno == ECONNRESET || errno == EINTR))
		got = read(s->relay_fd, ret, sizeof(*ret));
	return got == (ssize_t)sizeof(*ret);
}

/* The program is dead. */
static _Noreturn void program_ended(const struct watch *w, const siginfo_t *how)
{
	struct sandbox *s = w->s;
	bool exited = how->si_code == CLD_EXITED;
	const struct launch_ended ended = { .exit_kind = exited ? EXIT_CODE
		                                                : EXIT_SIGNAL,
		.exit_value = (uint32_t)how->si_status };
	uint32_t why = 0;

	if (last_words(s, &why)) {
		struct error e = { 0 };

		errno = (int)why;
		(void)FAIL_SYS(&e, "execute %s", w->stands.program);
		fail(s, "exec", &e);
	}
	end(s, &ended);
}

/* A storm of orphans must not keep it from the clock and the launcher. */
static void reap(struct watch *w)
{
	struct signalfd_siginfo signals[4];

	(void)!read(w->fds[ON_CHILD].fd, signals, sizeof(signals));
	w->busy = true;
	for (int i = 0; i < REAPED_AT_ONCE; i++) {
		siginfo_t how;

		memset(&how, 0, sizeof(how));
		if (waitid(P_ALL, 0, &how, WEXITED | WNOHANG) < 0 ||
		    how.si_pid == 0) {
			w->busy = false;
			return;
		}
		if (how.si_pid == w->s->program)
			program_ended(w, &how);
	}
}

static uint64_t now_ms(void)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void start_clock(struct watch *w)
{
	uint64_t ms = w->stands.wall_ms;

	if (ms > UINT64_MAX / 2)
		return;
	w->timed = true;
	w->end_ms = now_ms() + ms + GRACE_MS;
}

/* One byte lets it go; the end of file closes its gate, and it ends. */
static void relay(struct watch *w)
{
	struct sandbox *s = w->s;
	struct error e = { 0 };
	ssize_t got;
	char go;

	do
		got = read(s->gate_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		(void)FAIL_SYS(&e, "read the gate");
		fail(s, "gate", &e);
	}
	if (got == 0) {
		static const struct launch_ended refused = {
			.exit_kind = EXIT_SIGNAL, .exit_value = SIGKILL
		};

		end(s, &refused);
	}
	start_clock(w);
	do
		got = write(s->relay_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1) {
		(void)FAIL_SYS(&e, "pass the gate on");
		fail(s, "gate", &e);
	}
	/* A negative number is passed over by poll(2). */
	w->fds[ON_GATE].fd = -1;
}

/*
 * The program asks to execute: the first to ask is still our own code.  With
 * the listener closed the kernel answers all others with ENOSYS.
 */
static void permit_exec(struct watch *w)
{
	struct pollfd *listener = &w->fds[ON_EXEC];
	struct seccomp_notif asked;
	struct seccomp_notif_resp yes = {
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE
	};

	memset(&asked, 0, sizeof(asked));
	if ((listener->revents & POLLIN) != 0 &&
	    ioctl(listener->fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) == 0) {
		yes.id = asked.id;
		(void)ioctl(listener->fd, SECCOMP_IOCTL_NOTIF_SEND, &yes);
	}
	(void)close(listener->fd);
	listener->fd = -1;
}

static int poll_ms(const struct watch *w)
{
	uint64_t now;

	if (w->busy)
		return 0;
	if (!w->timed)
		return -1;
	now = now_ms();
	if (now >= w->end_ms)
		return 0;
	/* Longer waits come back here. */
	return w->end_ms - now < INT_MAX ? (int)(w->end_ms - now) : INT_MAX;
}

static void wait_once(struct watch *w)
{
	static const struct launch_ended late = {
		.exit_kind = EXIT_SIGNAL, .exit_value = SIGKILL, .wall = 1
	};
	int n = poll(w->fds, WAITED_N, poll_ms(w));

	if (w->timed && now_ms() >= w->end_ms)
		end(w->s, &late);
	if (n < 0)
		return;
	if (w->fds[ON_LAUNCHER].revents != 0)
		_exit(1);
	if (w->fds[ON_EXEC].revents != 0)
		permit_exec(w);
	if (w->busy || w->fds[ON_CHILD].revents != 0)
		reap(w);
	if (w->fds[ON_GATE].revents != 0)
		relay(w);
}

/* All that it gives up goes before it hears of anything. */
static int confine(struct watch *w, struct error *e)
{
	struct sandbox *s = w->s;
	sigset_t mask;
	int child_fd;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	child_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child_fd < 0 || fcntl(s->relay_fd, F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "watch the program");
	w->fds[ON_CHILD] = (struct pollfd){ child_fd, POLLIN, 0 };
	w->fds[ON_LAUNCHER] = (struct pollfd){ s->liveness_fd, POLLIN, 0 };
	w->fds[ON_GATE] = (struct pollfd){ s->gate_fd, POLLIN, 0 };
	if (close_rest(s, child_fd, e) < 0)
		return -1;
	return confine_self(s, e);
}

void sandbox_wait(struct sandbox *s)
{
	struct watch w = { .s = s };
	struct error e = { 0 };

	if (confine(&w, &e) < 0)
		fail(s, "init", &e);
	if (hear(s, &w.stands, &e) < 0)
		fail(s, "confine", &e);
	w.fds[ON_EXEC] = (struct pollfd){ s->listener_fd, POLLIN, 0 };
	if (tell_stopped(s, &w.stands, &e) < 0)
		fail(s, "init", &e);
	for (;;)
		wait_once(&w);
}
