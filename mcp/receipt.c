/*
 * mcp/receipt.c - a record found again.  Linked by bailiff-mcp.  The record
 * comes from the service, which wrote it.
 *
 * A line of the log is {"sig":"S","stmt":P}, its leaf SHA-256(0x00 || line)
 * without the line's end (docs/audit-log.md, "Records"); the envelope holds S
 * and P, so the line, and with it the leaf, is made anew.
 */
#include "mcp/receipt.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"

#define SIGNATURE_MAX 128 /* base64 of 64 bytes takes 88 */

static bool is_text(
    const struct scan *s, uint32_t object, const char *name, const char *wanted)
{
	char text[PROTOCOL_WORD_MAX];
	uint32_t node = scan_member(s, object, name);
	size_t len;

	return node != SCAN_NONE &&
	       scan_string(s, node, text, sizeof(text), &len) == 0 &&
	       strcmp(text, wanted) == 0;
}

/* Decode the statement of the envelope behind its base64, in one block of
 * twice the envelope's size; NULL if there is none. */
static const char *open_payload(
    const struct scan *s, char *block, size_t *ret_len)
{
	uint32_t node = scan_member(s, 0, "payload");
	size_t cap = s->len + 1;
	struct text_out out = { block + cap, cap, 0 };
	struct error e;
	size_t len;

	if (node == SCAN_NONE || scan_string(s, node, block, cap, &len) < 0 ||
	    text_base64_decode(block, len, &out, &e) < 0)
		return NULL;
	*ret_len = out.len;
	return out.data;
}

static bool open_signature(const struct scan *s, char ret[SIGNATURE_MAX])
{
	uint32_t list = scan_member(s, 0, "signatures");
	uint32_t first = list != SCAN_NONE ? scan_first(s, list) : SCAN_NONE;
	uint32_t node =
	    first != SCAN_NONE ? scan_member(s, first, "sig") : SCAN_NONE;
	size_t len;

	return node != SCAN_NONE &&
	       scan_string(s, node, ret, SIGNATURE_MAX, &len) == 0;
}

static void hash_line(
    const char *signature, const struct scan *statement, char ret[SHA256_HEX])
{
	static const char head[] = "{\"sig\":\"";
	static const char middle[] = "\",\"stmt\":";
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, "", 1);
	sha256_add(&h, head, sizeof(head) - 1);
	sha256_add(&h, signature, strlen(signature));
	sha256_add(&h, middle, sizeof(middle) - 1);
	sha256_add(&h, statement->text, statement->len);
	sha256_add(&h, "}", 1);
	sha256_done(&h, digest);
	sha256_hex(digest, ret);
}

static void recall(const struct page *text, const struct scan *room,
    char *block, struct facts *f)
{
	struct scan s = *room;
	char signature[SIGNATURE_MAX];
	const char *statement;
	uint32_t predicate;
	uint32_t seq;
	struct error e;

	s.text = text->data;
	s.len = text->len;
	if (scan_parse(&s, &e) < 0 || s.nodes[0].kind != SCAN_OBJECT ||
	    !open_signature(&s, signature))
		return;
	statement = open_payload(&s, block, &s.len);
	s.text = statement;
	if (statement == NULL || scan_parse(&s, &e) < 0 ||
	    s.nodes[0].kind != SCAN_OBJECT)
		return;
	predicate = scan_member(&s, 0, "predicate");
	if (predicate == SCAN_NONE ||
	    !is_text(&s, predicate, "type", "outcome") ||
	    !is_text(&s, predicate, "req", f->run_id))
		return;
	seq = scan_member(&s, predicate, "seq");
	if (seq == SCAN_NONE || !scan_u64(&s, seq, &f->audit.seq))
		return;
	hash_line(signature, &s, f->audit.leaf);
	f->audit.of_intent = false;
}

void receipt_recall(
    const struct page *text, const struct scan *room, struct facts *f)
{
	char *block = malloc(2 * (text->len + 1));

	if (block != NULL)
		recall(text, room, block, f);
	free(block);
}
