/*
 * tests/service/broken_syncer.c - stands in for bailiff-syncer in a copy of the
 * built tree: says that the disk failed.
 */
#include <stdlib.h>

#include "base/channel.h"
#include "executor/syncer.h"

int main(void)
{
	struct channel *c = calloc(1, sizeof(*c));
	struct syncer_sync in;
	struct channel_receive asked = { &syncer_protocol, 0,
		{ &in, sizeof(in) } };
	struct fd_list none;
	struct error e;
	uint16_t verb;

	if (c == NULL)
		return 1;
	c->fd = SYNCER_CHANNEL_FD;
	while (channel_receive(c, &asked, &verb, &none, &e) == 0) {
		struct syncer_synced out = { in.number, EIO };
		struct channel_send answer = { &syncer_reply_protocol,
			SYNCER_SYNCED, &out, NULL };

		if (channel_send(c, &answer, &e) < 0)
			return 1;
	}
	return 0;
}
