/*
 * audit/verify_sign.c - which record signatures are checked, and how.  Linked
 * by the audit reader.
 *
 * The chain of 'prev' makes the last record of an epoch vouch for all of it,
 * so two signatures of each epoch are enough for a log below a signed
 * checkpoint: that of its last record and that of the epoch.open that follows.
 * Records above the checkpoint are checked one by one.
 */
#include <string.h>

#include "audit/verify_parts.h"

bool verify_signature(struct verify *v, const struct entry *entry,
    const uint8_t key[ED25519_PUBLIC], const struct report_place *place)
{
	v->summary->signatures++;
	if (!entry_signed_by(entry, key, v->scratch))
		return VERIFY_BAD(v, place, "record.sig",
		    "a signature of its epoch's record key",
		    "one that does not verify");
	return true;
}

bool verify_last_signature(struct verify *v)
{
	struct entry entry;
	struct error why;

	if (v->last_signed || v->tree.size == 0)
		return true;
	v->last_signed = true;
	if (entry_read(v->last_line, v->last_len, &entry, &why) < 0)
		return VERIFY_BAD(
		    v, &v->last_place, "record.form", NULL, "%s", why.text);
	return verify_signature(v, &entry, v->key, &v->last_place);
}
