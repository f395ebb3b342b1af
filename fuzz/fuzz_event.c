/*
 * fuzz/fuzz_event.c - what a supervisor gone bad may send the signer: a message
 * that decodes becomes a record of profile c1 that our reader reads and whose
 * signature holds, or is refused by kind.  It never becomes anything else.
 */
#include <sodium.h>
#include <string.h>

#include "audit/dsse.h"
#include "audit/entry.h"
#include "audit/event.h"
#include "audit/record.h"
#include "base/channel.h"
#include "fuzz/fuzz.h"

#define LARGEST (512u << 10) /* struct of any message */

static int type_of(uint16_t verb)
{
	static const int types[] = {
		[EVENT_INTENT] = RECORD_INTENT,
		[EVENT_DENIAL] = RECORD_DENIAL,
		[EVENT_OUTCOME] = RECORD_OUTCOME,
		[EVENT_GAP] = RECORD_GAP,
		[EVENT_ACCESS] = RECORD_ACCESS,
		[EVENT_PRUNE] = RECORD_PRUNE,
	};

	/* The others are no record as they come. */
	if (verb >= sizeof(types) / sizeof(types[0]) || types[verb] == 0)
		return -1;
	return types[verb];
}

static void build(uint16_t verb, const void *event)
{
	static const uint8_t seed[crypto_sign_SEEDBYTES] = { 1 };
	static const uint8_t salt[RECORD_SALT] = { 2 };
	static char scratch[DSSE_PAE_MAX];
	static struct record_line line;
	const struct record_frame frame = { .epoch = 3, .seq = 7 };
	struct record r = { .frame = &frame, .salt = salt };
	uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[RECORD_SECRET];
	struct entry entry;
	struct error e = { 0 };
	int type = type_of(verb);

	if (type < 0)
		return;
	r.type = (enum record_type)type;
	/* The members of the union are pointers, all of them. */
	memcpy(&r.intent, &event, sizeof(event));
	MUST(crypto_sign_seed_keypair(key, secret, seed) == 0);
	if (record_build(&r, secret, &line, &e) < 0) {
		MUST(e.kind == ERROR_MALFORMED || e.kind == ERROR_LIMIT);
		return;
	}
	MUST(memchr(line.data, '\n', line.len) == NULL);
	MUST(entry_read(line.data, line.len, &entry, &e) == 0);
	MUST(entry.seq == frame.seq && entry.epoch == frame.epoch);
	MUST(entry_signed_by(&entry, key, scratch));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes_reader in = { 0 };
	uint8_t *target = malloc(LARGEST);
	struct error e = { 0 };
	uint16_t verb;

	MUST(target != NULL && sodium_init() >= 0);
	in.data = data;
	in.len = size;
	if (size <= CHANNEL_MESSAGE_MAX &&
	    wire_decode(&event_protocol, &in, &verb,
	        (struct wire_target){ target, LARGEST }, &e) == 0)
		build(verb, target);
	free(target);
	return 0;
}
