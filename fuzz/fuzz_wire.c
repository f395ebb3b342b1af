/*
 * fuzz/fuzz_wire.c - the codec of every channel: what decodes encodes to the
 * same bytes, so there is one spelling of each message.  The first byte of an
 * input chooses the protocol.
 */
#include <string.h>

#include "audit/event.h"
#include "base/channel.h"
#include "executor/collect.h"
#include "executor/launch.h"
#include "executor/opener.h"
#include "executor/protocol.h"
#include "executor/screen.h"
#include "fuzz/fuzz.h"

#define LARGEST (512u << 10) /* struct of any message */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct wire_protocol *const all[] = { &protocol,
		&protocol_reply, &launch_protocol, &launch_reply_protocol,
		&launch_status_protocol, &opener_protocol,
		&opener_reply_protocol, &collect_protocol,
		&collect_reply_protocol, &event_protocol, &event_reply_protocol,
		&screen_protocol, &screen_reply_protocol,
		&screen_rule_protocol };
	const struct wire_protocol *p;
	struct bytes_reader in = { 0 };
	struct bytes_writer out = { .cap = CHANNEL_MESSAGE_MAX };
	uint8_t *target = malloc(LARGEST + CHANNEL_MESSAGE_MAX);
	struct error e = { 0 };
	uint16_t verb;

	MUST(target != NULL);
	if (size > 0 && size <= CHANNEL_MESSAGE_MAX) {
		p = all[data[0] % (sizeof(all) / sizeof(all[0]))];
		in.data = data + 1;
		in.len = size - 1;
		out.data = target + LARGEST;
		if (wire_decode(p, &in, &verb,
		        (struct wire_target){ target, LARGEST }, &e) == 0) {
			MUST(wire_encode(p, verb, target, &out, &e) == 0);
			MUST(out.len == size - 1);
			MUST(memcmp(out.data, data + 1, out.len) == 0);
		} else {
			MUST(e.kind == ERROR_MALFORMED);
		}
	}
	free(target);
	return 0;
}
