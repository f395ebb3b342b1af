/*
 * executor/supervisor_sync.c - results reach the disk within a second, off the
 * path of any run.  Linked by the supervisor.  See syncer.h for the
 * conversation.
 *
 * What cannot be synced is a loud failure: no run is accepted any more, whoever
 * asks for one is told why, and the service ends with an error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/account.h"
#include "executor/patience.h"
#include "executor/spawn.h"
#include "executor/supervisor.h"
#include "executor/uids.h"

#define EVERY_US 1000000

int supervisor_sync_start(struct supervisor *s, struct error *e)
{
	static const char *const argv[] = { "bailiff-syncer", NULL };
	char path[SERVICE_PATH_MAX];
	struct spawn what = { .path = path, .argv = argv, .n_fds = 2 };
	int ends[2];
	int failed;

	what.uid = account_spawn(UID_SYNCER);
	if (service_program_path(argv[0], path, e) < 0 ||
	    channel_pair(ends, e) < 0)
		return -1;
	s->syncing.fd = ends[0];
	what.fds[SYNCER_CHANNEL_FD - SPAWN_FIRST] = ends[1];
	what.fds[SYNCER_FOLDER_FD - SPAWN_FIRST] = s->state.results_fd;
	failed = spawn(&what, NULL, e);
	(void)close(ends[1]);
	if (failed == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return FAIL_SYS(e, "set up the syncer's channel");
	return failed;
}

static void give_up(struct supervisor *s, const char *why)
{
	loop_remove(&s->loop, &s->syncing.watch);
	own_close(&s->syncing.fd);
	s->syncing.fd = -1;
	if (s->broken[0] == '\0')
		(void)snprintf(s->broken, sizeof(s->broken),
		    "results cannot be put on disk: %.200s; look at the disk, "
		    "run bailiff stop, then try again",
		    why);
}

static void sync_ready(void *owner, uint32_t events)
{
	struct supervisor *s = owner;
	const struct syncer_synced *synced = &s->in->synced;
	struct supervisor_heard heard;
	struct error e;

	(void)events;
	if (supervisor_receive(
	        s, s->syncing.fd, &syncer_reply_protocol, &heard, &e) < 0) {
		if (e.kind != ERROR_SYSTEM || e.saved_errno != EAGAIN)
			give_up(s, "bailiff-syncer has ended");
		return;
	}
	fd_list_close(&heard.fds);
	if (synced->number != s->syncing.asked) {
		give_up(s, "bailiff-syncer answered what nobody asked");
	} else if (synced->saved_errno != 0) {
		errno = (int)synced->saved_errno;
		(void)FAIL_SYS(&e, "syncfs");
		give_up(s, e.text);
	} else {
		s->syncing.synced = synced->number;
	}
}

int supervisor_sync_watch(struct supervisor *s, struct error *e)
{
	s->syncing.watch = (struct watch){ -1, 0, sync_ready, s };
	/* What recovery has published at this start is not synced either. */
	s->syncing.published = 1;
	return loop_add(&s->loop, &s->syncing.watch, s->syncing.fd, EPOLLIN, e);
}

void supervisor_sync_published(struct supervisor *s)
{
	s->syncing.published++;
}

static void ask(struct supervisor *s, uint64_t now_us)
{
	struct syncing *y = &s->syncing;
	struct syncer_sync sync = { y->published };
	struct channel_send what = { &syncer_protocol, SYNCER_SYNC, &sync,
		NULL };
	struct error e;

	y->asked = y->published;
	y->asked_us = now_us;
	/* One message at most is in the socket, so it is never full. */
	if (supervisor_send(s, y->fd, &what, &e) < 0)
		give_up(s, "bailiff-syncer has ended");
}

uint64_t supervisor_sync_tend(struct supervisor *s, uint64_t now_us)
{
	struct syncing *y = &s->syncing;

	if (y->fd < 0 || y->published == y->synced)
		return UINT64_MAX;
	if (y->asked != y->synced) {
		if (now_us - y->asked_us < PATIENCE_SYNC)
			return y->asked_us + PATIENCE_SYNC;
		give_up(s, "syncfs does not come back (syncer.timeout)");
		return UINT64_MAX;
	}
	/* At our end the second that saves needless work saves nothing. */
	if (y->asked_us != 0 && y->hold_us == 0 &&
	    now_us - y->asked_us < EVERY_US)
		return y->asked_us + EVERY_US;
	ask(s, now_us);
	return UINT64_MAX; /* what is published meanwhile calls again */
}

uint64_t supervisor_sync_hold(
    struct supervisor *s, uint64_t end_us, uint64_t now_us)
{
	struct syncing *y = &s->syncing;

	if (s->lost || end_us > now_us || y->fd < 0 ||
	    y->published == y->synced) {
		y->hold_us = 0;
		return end_us;
	}
	if (y->hold_us == 0)
		y->hold_us = now_us;
	return y->hold_us + PATIENCE_LAST_SYNC;
}
