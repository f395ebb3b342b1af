/*
 * audit/note.c - verifier keys, and the writing of checkpoints and receipts.
 * Linked by signer and audit reader; trusts no text that it parses.
 */
#include "audit/note.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/sha256.h"

#define KEY_TYPED (1 + ED25519_PUBLIC)

static bool name_is_good(const char *name, size_t len)
{
	if (len == 0 || len >= NOTE_NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= 0x20 || name[i] > 0x7e ||
		    strchr("+\"\\", name[i]) != NULL)
			return false;
	return true;
}

/* The first four bytes of SHA-256(name LF type key). */
static void key_id(struct note_key *key)
{
	struct sha256 h;
	uint8_t digest[SHA256_BYTES];

	sha256_init(&h);
	sha256_add(&h, key->name, strlen(key->name));
	sha256_add(&h, "\n", 1);
	sha256_add(&h, &key->type, 1);
	sha256_add(&h, key->public_key, ED25519_PUBLIC);
	sha256_done(&h, digest);
	memcpy(key->id, digest, sizeof(key->id));
}

int note_key_make(const char *name, uint8_t type,
    const uint8_t public_key[ED25519_PUBLIC], struct note_key *ret,
    struct error *e)
{
	size_t len = strnlen(name, NOTE_NAME_MAX);

	if (!name_is_good(name, len))
		return FAIL(e, ERROR_MALFORMED,
		    "key name must be 1 to %d printable bytes without space, "
		    "'+', '\"' and '\\'",
		    NOTE_NAME_MAX - 1);
	if (type != NOTE_LOG && type != NOTE_WITNESS)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "signature type 0x%02x is not known here", type);
	if (!ed25519_key_is_good(public_key))
		return FAIL(e, ERROR_MALFORMED,
		    "public key is not a point of the prime-order group");
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->name, name, len);
	ret->type = type;
	memcpy(ret->public_key, public_key, ED25519_PUBLIC);
	key_id(ret);
	return 0;
}

/* The id as text; lower-case digits only. */
static bool id_matches(const struct note_key *key, const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (len != 2 * sizeof(key->id))
		return false;
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = key->id[i / 2];

		if (text[i] != digits[i % 2 == 0 ? byte >> 4 : byte & 15])
			return false;
	}
	return true;
}

int note_key_parse(
    const void *text, size_t len, struct note_key *ret, struct error *e)
{
	const char *from = text;
	const char *end = from + len;
	const char *id, *key;
	char name[NOTE_NAME_MAX];
	uint8_t typed[KEY_TYPED + 3];
	struct text_out out = { (char *)typed, sizeof(typed), 0 };

	if (len > 0 && end[-1] == '\n')
		end--;
	id = memchr(from, '+', (size_t)(end - from));
	key = id != NULL ? memchr(id + 1, '+', (size_t)(end - id - 1)) : NULL;
	if (key == NULL)
		return FAIL(
		    e, ERROR_MALFORMED, "verifier key must be name+id+key");
	if (!name_is_good(from, (size_t)(id - from)))
		return FAIL(e, ERROR_MALFORMED, "verifier key: bad name");
	memset(name, 0, sizeof(name));
	memcpy(name, from, (size_t)(id - from));
	if (text_base64_decode(key + 1, (size_t)(end - key - 1), &out, e) < 0)
		return FAIL_IN(e, "verifier key");
	if (out.len >= 1 && typed[0] != NOTE_LOG && typed[0] != NOTE_WITNESS)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "verifier key: signature type 0x%02x is not known here",
		    typed[0]);
	if (out.len != KEY_TYPED)
		return FAIL(e, ERROR_MALFORMED, "verifier key: wrong length");
	if (note_key_make(name, typed[0], typed + 1, ret, e) < 0)
		return FAIL_IN(e, "verifier key");
	if (!id_matches(ret, id + 1, (size_t)(key - id - 1)))
		return FAIL(e, ERROR_MALFORMED,
		    "verifier key: the id is not that of the name and key");
	return 0;
}

int note_key_format(
    const struct note_key *key, struct text_out *out, struct error *e)
{
	uint8_t typed[KEY_TYPED] = { key->type };
	size_t before = out->len;

	memcpy(typed + 1, key->public_key, ED25519_PUBLIC);
	if (text_printf(out, e, "%s+%02x%02x%02x%02x+", key->name, key->id[0],
	        key->id[1], key->id[2], key->id[3]) < 0 ||
	    text_base64(typed, sizeof(typed), out, e) < 0 ||
	    text_printf(out, e, "\n") < 0) {
		out->len = before;
		return -1;
	}
	return 0;
}

int note_text(const char *origin, const struct tree_head *head,
    struct text_out *out, struct error *e)
{
	size_t before = out->len;

	if (text_printf(out, e, "%s\n%" PRIu64 "\n", origin, head->size) < 0 ||
	    text_base64(head->root, TREE_HASH, out, e) < 0 ||
	    text_printf(out, e, "\n") < 0) {
		out->len = before;
		return -1;
	}
	return 0;
}

static int put_signature(const struct note_signer *signer, const void *text,
    size_t len, struct text_out *out, struct error *e)
{
	const struct note_key *key = signer->key;
	uint8_t sig[sizeof(key->id) + ED25519_SIG];

	memcpy(sig, key->id, sizeof(key->id));
	ed25519_sign(signer->secret_key, text, len, sig + sizeof(key->id));
	if (text_printf(out, e, "\u2014 %s ", key->name) < 0 ||
	    text_base64(sig, sizeof(sig), out, e) < 0)
		return -1;
	return text_printf(out, e, "\n");
}

int note_write(const struct note_signer *signers, size_t n_signers,
    const struct tree_head *head, struct text_out *out, struct error *e)
{
	size_t before = out->len;
	size_t len;
	int done;

	if (note_text(signers[0].key->name, head, out, e) < 0)
		return -1;
	len = out->len - before;
	done = text_printf(out, e, "\n");
	for (size_t i = 0; done == 0 && i < n_signers; i++)
		done =
		    put_signature(&signers[i], out->data + before, len, out, e);
	if (done < 0)
		out->len = before;
	return done;
}

int note_proof_write(uint64_t index, const struct tree_path *path,
    const struct text_out *checkpoint, struct text_out *out, struct error *e)
{
	size_t before = out->len;
	int done = text_printf(
	    out, e, "c2sp.org/tlog-proof@v1\nindex %" PRIu64 "\n", index);

	for (size_t i = 0; done == 0 && i < path->n_hashes; i++) {
		done = text_base64(path->hashes[i], TREE_HASH, out, e);
		if (done == 0)
			done = text_printf(out, e, "\n");
	}
	if (done == 0)
		done = text_printf(
		    out, e, "\n%.*s", (int)checkpoint->len, checkpoint->data);
	if (done < 0)
		out->len = before;
	return done;
}
