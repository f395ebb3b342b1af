/*
 * executor/syncer.c - main of bailiff-syncer: puts finished results on disk.
 *
 * Started by bailiff-supervisor under a uid of its own with a channel and one
 * directory descriptor (executor/syncer.h).  It trusts the supervisor for when
 * to sync and nobody for more: after the jail four system calls are left, on
 * these two descriptors.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/jail.h"
#include "executor/syncer.h"

static int enter_jail(struct error *e)
{
	static const struct jail_call calls[] = {
		{ __NR_syncfs, 0, SYNCER_FOLDER_FD },
		{ __NR_recvmsg, 0, SYNCER_CHANNEL_FD },
		{ __NR_sendmsg, 0, SYNCER_CHANNEL_FD },
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	const struct jail jail = {
		.read_fd = -1,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
	};

	return jail_enter(&jail, e);
}

static int serve_one(struct channel *c, struct error *e)
{
	struct syncer_sync in;
	struct syncer_synced out = { 0 };
	struct channel_receive asked = { &syncer_protocol, 0,
		{ &in, sizeof(in) } };
	struct channel_send answer = { &syncer_reply_protocol, SYNCER_SYNCED,
		&out, NULL };
	struct fd_list none;
	uint16_t verb;

	if (channel_receive(c, &asked, &verb, &none, e) < 0)
		return -1;
	out.number = in.number;
	if (syncfs(SYNCER_FOLDER_FD) < 0)
		out.saved_errno = (uint32_t)errno;
	return channel_send(c, &answer, e);
}

static int serve(struct channel *c, struct error *e)
{
	if (enter_jail(e) < 0)
		return -1;
	while (serve_one(c, e) == 0)
		continue;
	return e->kind == ERROR_CLOSED ? 0 : -1;
}

/* It has no standard streams: its end shows as a channel that closes. */
int main(void)
{
	struct channel *c = calloc(1, sizeof(*c));
	struct error e = { 0 };
	int failed;

	if (c == NULL)
		return EXIT_FAILURE;
	c->fd = SYNCER_CHANNEL_FD;
	failed = serve(c, &e);
	_exit(failed < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
