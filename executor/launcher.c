/*
 * executor/launcher.c - the loop of bailiff-launch: one message at a time, one
 * table of verbs.  Linked by bailiff-launch.
 */
#include "executor/launcher.h"

#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "executor/steps.h"

int launcher_reply(struct launcher *l, uint16_t verb, const struct fd_list *fds,
    struct error *e)
{
	const struct channel_send what = { .protocol = &launch_reply_protocol,
		.verb = verb,
		.message = &l->reply,
		.fds = fds };

	return channel_send(&l->channel, &what, e);
}

void launcher_break(struct launcher *l, const char *step, const struct error *e)
{
	if (l->broken)
		return;
	l->broken = true;
	l->why.run = 0;
	(void)steps_failed(step,
	    "see that the service starts as root with its capabilities, "
	    "limits and programs, and that the policy's view exists",
	    e, &l->why);
}

/* A view that lacks an entry is never built: BUILD answers with the reason. */
static int on_entry(struct launcher *l, struct error *e)
{
	struct error why = { 0 };
	int ret;

	(void)e;
	if (l->broken)
		return 0;
	if (l->built)
		ret = FAIL(&why, ERROR_STATE, "the view is built already");
	else if (l->given.n > 1)
		ret = FAIL(&why, ERROR_MALFORMED,
		    "an entry with %zu descriptors", l->given.n);
	else
		ret = view_entry(&l->view, &l->request.entry,
		    l->given.n == 1 ? l->given.fd[0] : -1, &why);
	if (ret < 0)
		launcher_break(l, "entry", &why);
	return 0;
}

struct verb {
	enum launch_verb verb;
	int (*act)(struct launcher *l, struct error *e);
};

static const struct verb verbs[] = {
	{ LAUNCH_ENTRY, on_entry },
	{ LAUNCH_BUILD, launcher_build },
	{ LAUNCH_RUN, launcher_run },
	{ LAUNCH_RELEASE, launcher_release },
	{ LAUNCH_HELPER, launcher_helper },
};

static int serve_message(struct launcher *l, struct error *e)
{
	const struct channel_receive what = { .protocol = &launch_protocol,
		.max_fds = LAUNCH_FDS_MAX,
		.to = { &l->request, sizeof(l->request) } };
	uint16_t verb;
	int ret = -1;

	if (channel_receive(&l->channel, &what, &verb, &l->given, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (verbs[i].verb == verb)
			ret = verbs[i].act(l, e);
	fd_list_close(&l->given);
	return ret;
}

enum {
	ON_SUPERVISOR,
	ON_CHILD,
	ON_SYNC
};

static nfds_t collect_fds(struct launcher *l, struct pollfd *fds,
    struct launched *of[ON_SYNC + LAUNCHER_SLOTS])
{
	nfds_t n = ON_SYNC;

	fds[ON_SUPERVISOR] = (struct pollfd){ l->channel.fd, POLLIN, 0 };
	fds[ON_CHILD] = (struct pollfd){ l->child_fd, POLLIN, 0 };
	for (size_t i = 0; i < LAUNCHER_SLOTS; i++) {
		int fd = launched_watch_fd(&l->runs[i]);

		if (fd < 0)
			continue;
		of[n] = &l->runs[i];
		fds[n++] = (struct pollfd){ fd, POLLIN, 0 };
	}
	return n;
}

static void on_children(struct launcher *l)
{
	struct signalfd_siginfo signals[8];

	(void)!read(l->child_fd, signals, sizeof(signals));
	launcher_reap_helpers(l);
}

/* Clones first: a message may free the slot that 'of' points to. */
static int turn(struct launcher *l, struct error *e)
{
	struct pollfd fds[ON_SYNC + LAUNCHER_SLOTS];
	struct launched *of[ON_SYNC + LAUNCHER_SLOTS];
	nfds_t n = collect_fds(l, fds, of);

	int ready = poll(fds, n, l->park ? 0 : -1);

	if (ready < 0)
		return errno == EINTR ? 0 : FAIL_SYS(e, "wait for messages");
	if (ready == 0) {
		launcher_park(l);
		return 0;
	}
	for (nfds_t i = ON_SYNC; i < n; i++)
		if (fds[i].revents != 0 && launcher_sync(l, of[i], e) < 0)
			return -1;
	if (fds[ON_CHILD].revents != 0)
		on_children(l);
	if (fds[ON_SUPERVISOR].revents != 0)
		return serve_message(l, e);
	return 0;
}

int launcher_serve(struct launcher *l, struct error *e)
{
	while (turn(l, e) == 0)
		continue;
	return e->kind == ERROR_CLOSED ? 0 : -1;
}

void launcher_close(struct launcher *l)
{
	struct error ignored;
	bool clean = true;

	for (size_t i = 0; i < LAUNCHER_SLOTS; i++)
		if (l->runs[i].state != RUN_FREE)
			clean = launched_end(l, &l->runs[i], &ignored) == 0 &&
			        clean;
	/* Root's lock comes before its groups: without it they are not ours. */
	if (l->rootless || l->instance_fd >= 0)
		clean =
		    cgroup_instance_end(&l->cgroups, &ignored) == 0 && clean;
	/* With groups left, the file stays for a sweeper to find them by. */
	if (clean && l->instance_fd >= 0 && !l->rootless)
		(void)unlinkat(l->instances_fd, l->cgroups.instance, 0);
}
