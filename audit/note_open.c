/*
 * audit/note_open.c - the reading of checkpoints, cosignatures and receipts.
 * Linked by signer and audit reader; every byte is hostile.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "audit/note.h"

#define DASH           "\u2014 " /* begins a signature line: EM DASH, space */
#define SIGNATURE_MAX  4096      /* bytes of a foreign signature */
#define SIGNATURES_MAX 100
#define PROOF_TITLE    "c2sp.org/tlog-proof@v1"

struct cursor {
	const char *at, *end;
};

struct line {
	const char *text;
	size_t len;
};

/* The next line without its LF; false where no LF is left. */
static bool next_line(struct cursor *c, struct line *ret)
{
	const char *lf = memchr(c->at, '\n', (size_t)(c->end - c->at));

	if (lf == NULL)
		return false;
	ret->text = c->at;
	ret->len = (size_t)(lf - c->at);
	c->at = lf + 1;
	return true;
}

/* 0 or digits without a leading zero, at most 2^53 - 1 as in a record. */
static bool read_number(const char *text, size_t len, uint64_t *ret)
{
	uint64_t value = 0;

	if (len == 0 || len > 16 || (text[0] == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*ret = value;
	return value < (uint64_t)1 << 53;
}

static bool read_hash(const struct line *line, uint8_t ret[TREE_HASH])
{
	char bytes[TREE_HASH + 1];
	struct text_out out = { bytes, sizeof(bytes), 0 };
	struct error ignored; /* the caller says which hash */

	if (line->len != 44 ||
	    text_base64_decode(line->text, line->len, &out, &ignored) < 0 ||
	    out.len != TREE_HASH)
		return false;
	memcpy(ret, bytes, TREE_HASH);
	return true;
}

static int read_text(struct cursor *c, const char *origin,
    struct tree_head *ret, struct error *e)
{
	struct line name, size, root, empty;

	if (!next_line(c, &name) || !next_line(c, &size) ||
	    !next_line(c, &root) || !next_line(c, &empty))
		return FAIL(
		    e, ERROR_TAMPERED, "checkpoint: fewer than four lines");
	if (name.len != strlen(origin) ||
	    memcmp(name.text, origin, name.len) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "checkpoint: its origin is not %s", origin);
	if (!read_number(size.text, size.len, &ret->size))
		return FAIL(e, ERROR_TAMPERED,
		    "checkpoint: size is not a plain number");
	if (!read_hash(&root, ret->root))
		return FAIL(e, ERROR_TAMPERED,
		    "checkpoint: root is not the base64 of 32 bytes");
	if (empty.len != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "checkpoint: text of more than three lines");
	return 0;
}

struct signature {
	size_t len; /* of 'bytes'; 0 when the name is another's */
	uint8_t bytes[SIGNATURE_MAX];
};

/* One signature line: its form, and its bytes if the key is 'key'. */
static int read_signature(const struct line *line, const struct note_key *key,
    struct signature *ret, struct error *e)
{
	size_t dash = strlen(DASH);
	size_t name_len = strlen(key->name);
	const char *name = line->text + dash;
	const char *end = line->text + line->len;
	const char *space;
	struct text_out out = { (char *)ret->bytes, sizeof(ret->bytes), 0 };

	if (line->len < dash || memcmp(line->text, DASH, dash) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "note: a signature line does not begin as one");
	space = memchr(name, ' ', (size_t)(end - name));
	if (space == NULL || space == name ||
	    text_base64_decode(space + 1, (size_t)(end - space - 1), &out, e) <
	        0 ||
	    out.len < sizeof(key->id) + 1)
		return FAIL(e, ERROR_TAMPERED,
		    "note: a signature line is not name and base64");
	ret->len = out.len;
	if ((size_t)(space - name) != name_len ||
	    memcmp(name, key->name, name_len) != 0 ||
	    memcmp(ret->bytes, key->id, sizeof(key->id)) != 0)
		ret->len = 0;
	return 0;
}

struct signed_text {
	const char *text;
	size_t len;
};

static bool log_signed(const struct signed_text *t, const struct note_key *key,
    const struct signature *sig)
{
	size_t id = sizeof(key->id);

	return sig->len == id + ED25519_SIG &&
	       ed25519_verify(
	           key->public_key, sig->bytes + id, t->text, t->len);
}

/* u64be(time) || signature over the time and the text. */
static bool witness_signed(const struct signed_text *t,
    const struct note_key *key, const struct signature *sig, uint64_t *ret_time)
{
	const uint8_t *from = sig->bytes + sizeof(key->id);
	char message[1024];
	uint64_t when = 0;
	int n;

	if (sig->len != sizeof(key->id) + 8 + ED25519_SIG)
		return false;
	for (size_t i = 0; i < 8; i++)
		when = when << 8 | from[i];
	n = snprintf(message, sizeof(message),
	    "cosignature/v1\ntime %" PRIu64 "\n%.*s", when, (int)t->len,
	    t->text);
	if (n < 0 || (size_t)n >= sizeof(message))
		return false;
	*ret_time = when;
	return ed25519_verify(key->public_key, from + 8, message, (size_t)n);
}

/* Go through the signature lines.  *ret_good: how many are of 'key'; one that
 * is and does not verify spoils the note. */
static int check_signatures(struct cursor *c, const struct signed_text *t,
    const struct note_key *key, uint64_t *ret_time, struct error *e)
{
	struct signature sig;
	struct line line;
	size_t n_good = 0;

	for (size_t i = 0; next_line(c, &line); i++) {
		bool good;

		if (i == SIGNATURES_MAX)
			return FAIL(e, ERROR_TAMPERED,
			    "note: more than %d signatures", SIGNATURES_MAX);
		if (read_signature(&line, key, &sig, e) < 0)
			return -1;
		if (sig.len == 0)
			continue;
		good = key->type == NOTE_LOG
		           ? log_signed(t, key, &sig)
		           : witness_signed(t, key, &sig, ret_time);
		if (!good)
			return FAIL(e, ERROR_TAMPERED,
			    "note: the signature of %s does not verify",
			    key->name);
		n_good++;
	}
	if (c->at != c->end)
		return FAIL(
		    e, ERROR_TAMPERED, "note: bytes after the last line");
	if (n_good == 0)
		return FAIL(
		    e, ERROR_STATE, "note: not signed by %s", key->name);
	return 0;
}

static int bound(size_t len, struct error *e)
{
	if (len > NOTE_BYTES_MAX)
		return FAIL(e, ERROR_TAMPERED, "note: more than %d bytes",
		    NOTE_BYTES_MAX);
	return 0;
}

int note_open(const void *data, size_t len, const struct note_key *pin,
    struct tree_head *ret, struct error *e)
{
	struct cursor c = { data, (const char *)data + len };
	struct signed_text t = { data, 0 };
	uint64_t when = 0;

	if (bound(len, e) < 0 || read_text(&c, pin->name, ret, e) < 0)
		return -1;
	t.len = (size_t)(c.at - t.text) - 1;
	if (check_signatures(&c, &t, pin, &when, e) < 0) {
		e->kind = ERROR_TAMPERED;
		return -1;
	}
	return 0;
}

int note_cosigned(const void *data, size_t len, const struct note_key *witness,
    uint64_t *ret_time, struct error *e)
{
	struct cursor c = { data, (const char *)data + len };
	struct signed_text t = { data, 0 };
	struct line line;

	if (bound(len, e) < 0)
		return -1;
	do {
		if (!next_line(&c, &line))
			return FAIL(e, ERROR_TAMPERED,
			    "note: no empty line after its text");
	} while (line.len > 0);
	t.len = (size_t)(c.at - t.text) - 1;
	return check_signatures(&c, &t, witness, ret_time, e);
}

static int read_path(struct cursor *c, struct tree_path *ret, struct error *e)
{
	struct line line;

	for (ret->n_hashes = 0; next_line(c, &line); ret->n_hashes++) {
		if (line.len == 0)
			return 0;
		if (ret->n_hashes == TREE_PROOF_MAX)
			return FAIL(e, ERROR_TAMPERED,
			    "tlog-proof: more than %d hashes", TREE_PROOF_MAX);
		if (!read_hash(&line, ret->hashes[ret->n_hashes]))
			return FAIL(e, ERROR_TAMPERED,
			    "tlog-proof: hash %zu is not the base64 of 32 "
			    "bytes",
			    ret->n_hashes);
	}
	return FAIL(e, ERROR_TAMPERED, "tlog-proof: no checkpoint");
}

int note_proof_open(const void *data, size_t len, const struct note_key *pin,
    struct note_proof *ret, struct error *e)
{
	struct cursor c = { data, (const char *)data + len };
	struct line line;

	if (bound(len, e) < 0)
		return -1;
	if (!next_line(&c, &line) || line.len != strlen(PROOF_TITLE) ||
	    memcmp(line.text, PROOF_TITLE, line.len) != 0)
		return FAIL(e, ERROR_TAMPERED,
		    "tlog-proof: does not begin with " PROOF_TITLE);
	if (!next_line(&c, &line) || line.len < 6 ||
	    memcmp(line.text, "index ", 6) != 0 ||
	    !read_number(line.text + 6, line.len - 6, &ret->index))
		return FAIL(e, ERROR_TAMPERED,
		    "tlog-proof: second line is not an index");
	if (read_path(&c, &ret->path, e) < 0)
		return -1;
	if (note_open(c.at, (size_t)(c.end - c.at), pin, &ret->head, e) < 0)
		return FAIL_IN(e, "tlog-proof");
	return 0;
}
