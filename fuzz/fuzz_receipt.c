/*
 * fuzz/fuzz_receipt.c - what lies beside a result: an envelope, and a proof
 * behind the first empty line of ours.  An envelope that is taken is the one
 * spelling of its line; a proof is believed of the golden record alone.
 */
#include <string.h>

#include "audit/dsse.h"
#include "audit/entry.h"
#include "audit/prove.h"
#include "base/sha256.h"
#include "fuzz/fuzz.h"

#define LOG     "localhost/bailiff/6f1d2c3b4a5968778695a4b3c2d1e0f0+7115c1b9+"
#define LOG_KEY LOG "AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"

/* The same bytes again, but for the key id, which is a mere hint. */
static void same_again(
    const uint8_t *data, size_t size, const struct text_out *line)
{
	static const char member[] = "\"keyid\": \"";
	static char text[DSSE_ENVELOPE_MAX + 1];
	static const uint8_t key[32] = { 0 };
	struct text_out out = { text, sizeof(text), 0 };
	struct entry entry;
	const char *at;
	struct error e;
	size_t before, behind;

	/* What is no line at all is entry_read's to refuse. */
	if (dsse_envelope(line->data, line->len, key, &out, &e) < 0) {
		MUST(entry_read(line->data, line->len, &entry, &e) < 0);
		return;
	}
	at = memmem(text, out.len, member, sizeof(member) - 1);
	MUST(at != NULL);
	before = (size_t)(at - text) + sizeof(member) - 1;
	behind = out.len - before - (SHA256_HEX - 1);
	MUST(before + behind <= size);
	MUST(memcmp(text, data, before) == 0);
	MUST(
	    memcmp(text + out.len - behind, data + size - behind, behind) == 0);
}

static void check(const uint8_t *proof, size_t len, const struct entry *entry)
{
	struct note_key log, pin;
	struct note_proof said;
	struct error e;
	const struct prove_receipt r = { proof, len, entry, &log, NULL };

	MUST(note_key_parse(LOG_KEY, strlen(LOG_KEY), &log, &e) == 0);
	if (prove_check(&r, &said, &pin, &e) == 0)
		MUST(said.index == entry->seq && said.head.size <= 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[DSSE_LINE_MAX + 1];
	const uint8_t *lf = memchr(data, '\n', size);
	size_t len = lf != NULL ? (size_t)(lf - data) + 1 : size;
	struct text_out line = { text, sizeof(text), 0 };
	struct entry entry;
	struct error e;

	if (dsse_line(data, len, &line, &e) < 0)
		return 0;
	same_again(data, len, &line);
	if (entry_read(line.data, line.len, &entry, &e) == 0)
		check(data + len, size - len, &entry);
	return 0;
}
