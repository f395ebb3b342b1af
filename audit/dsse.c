/*
 * audit/dsse.c - DSSE encodings.  Linked by signer, supervisor and audit
 * reader; trusts the caller's line in nothing but its frame.
 */
#include "audit/dsse.h"

#include <string.h>

#include "base/sha256.h"

int dsse_pae(
    const void *statement, size_t len, struct text_out *out, struct error *e)
{
	size_t before = out->len;

	if (text_printf(out, e, "DSSEv1 %zu " DSSE_TYPE " %zu ",
	        sizeof(DSSE_TYPE) - 1, len) < 0)
		return -1;
	if (len > out->cap - out->len) {
		out->len = before;
		return FAIL(e, ERROR_LIMIT, "statement does not fit");
	}
	memcpy(out->data + out->len, statement, len);
	out->len += len;
	return 0;
}

static int write_envelope(const char *line, size_t len, const char *key_id,
    struct text_out *out, struct error *e)
{
	if (text_printf(out, e, "{\"payload\": \"") < 0 ||
	    text_base64(line + DSSE_STMT_AT, len - DSSE_STMT_AT - 1, out, e) <
	        0)
		return -1;
	return text_printf(out, e,
	    "\", \"payloadType\": \"" DSSE_TYPE
	    "\", \"signatures\": [{\"keyid\": \"%s\", \"sig\": \"%.*s\"}]}\n",
	    key_id, DSSE_SIG_LEN, line + DSSE_SIG_AT);
}

int dsse_envelope(const void *line, size_t len, const uint8_t record_key[32],
    struct text_out *out, struct error *e)
{
	const char *from = line;
	size_t before = out->len;
	uint8_t digest[SHA256_BYTES];
	char key_id[SHA256_HEX];

	if (len < DSSE_LINE_MIN || len > DSSE_LINE_MAX ||
	    memcmp(from, "{\"sig\":\"", DSSE_SIG_AT) != 0 ||
	    memcmp(from + DSSE_SIG_AT + DSSE_SIG_LEN, "\",\"stmt\":", 9) != 0)
		return FAIL(e, ERROR_MALFORMED, "line is not a record");
	sha256_of(record_key, 32, digest);
	sha256_hex(digest, key_id);
	if (write_envelope(from, len, key_id, out, e) < 0) {
		out->len = before;
		return -1;
	}
	return 0;
}
