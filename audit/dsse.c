/*
 * audit/dsse.c - DSSE encodings.  Linked by signer, supervisor and audit
 * reader; trusts the caller's line in nothing but its frame.
 */
#include "audit/dsse.h"

#include <stdbool.h>
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

/* The pieces around payload, key id and signature. */
#define HEAD "{\"payload\": \""
#define MIDDLE                              \
	"\", \"payloadType\": \"" DSSE_TYPE \
	"\", \"signatures\": [{\"keyid\": \""
#define BEHIND "\", \"sig\": \""
#define TAIL   "\"}]}\n"

static int write_envelope(const char *line, size_t len, const char *key_id,
    struct text_out *out, struct error *e)
{
	if (text_printf(out, e, HEAD) < 0 ||
	    text_base64(line + DSSE_STMT_AT, len - DSSE_STMT_AT - 1, out, e) <
	        0)
		return -1;
	return text_printf(out, e, MIDDLE "%s" BEHIND "%.*s" TAIL, key_id,
	    DSSE_SIG_LEN, line + DSSE_SIG_AT);
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

/* Take 'text' off the front. */
static bool skip(const char **at, size_t *len, const char *text)
{
	size_t n = strlen(text);

	if (*len < n || memcmp(*at, text, n) != 0)
		return false;
	*at += n;
	*len -= n;
	return true;
}

struct piece {
	const char *at; /* borrowed */
	size_t len;
};

/* Take all up to the next quote off the front. */
static bool take(const char **at, size_t *len, struct piece *ret)
{
	const char *quote = memchr(*at, '"', *len);

	if (quote == NULL)
		return false;
	*ret = (struct piece){ *at, (size_t)(quote - *at) };
	*at = quote;
	*len -= ret->len;
	return true;
}

int dsse_line(
    const void *envelope, size_t len, struct text_out *out, struct error *e)
{
	const char *at = envelope;
	struct piece payload, key_id, sig;
	size_t before = out->len;

	if (!skip(&at, &len, HEAD) || !take(&at, &len, &payload) ||
	    !skip(&at, &len, MIDDLE) || !take(&at, &len, &key_id) ||
	    !skip(&at, &len, BEHIND) || !take(&at, &len, &sig) ||
	    sig.len != DSSE_SIG_LEN || !skip(&at, &len, TAIL) || len != 0)
		return FAIL(e, ERROR_MALFORMED,
		    "not a DSSE envelope as results hold them");
	if (text_printf(out, e, "{\"sig\":\"%.*s\",\"stmt\":", DSSE_SIG_LEN,
	        sig.at) == 0 &&
	    text_base64_decode(payload.at, payload.len, out, e) == 0 &&
	    text_printf(out, e, "}") == 0)
		return 0;
	out->len = before;
	return FAIL_IN(e, "DSSE envelope");
}
