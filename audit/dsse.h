/*
 * audit/dsse.h - the DSSE view of a record: what its signature covers, and the
 * standard envelope that any DSSE tool reads.
 *
 * Pure, no crypto: the supervisor links this to write record.dsse.json from
 * the signer's answer; signer and audit reader link it too.
 *
 * A record is {"sig":"<88 base64>","stmt":<statement>}; both parts stand at
 * fixed offsets.
 */
#ifndef AUDIT_DSSE_H
#define AUDIT_DSSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define DSSE_TYPE         "application/vnd.in-toto+json"
#define DSSE_LINE_MAX     65535 /* a record without its LF */
#define DSSE_SIG_AT       8     /* offset of the signature in a line */
#define DSSE_SIG_LEN      88    /* its base64 digits */
#define DSSE_STMT_AT      105   /* offset of the statement */
#define DSSE_LINE_MIN     (DSSE_STMT_AT + 3)
#define DSSE_PAE_MAX      (DSSE_LINE_MAX + 64)
#define DSSE_ENVELOPE_MAX 90000 /* of the largest record */

/* Append PAE(DSSE_TYPE, statement), the bytes that are signed. */
int dsse_pae(const void *statement, size_t len, struct text_out *out,
    struct error *e) MUST_CHECK;

/*
 * Append the envelope of one record line (without LF), with one LF behind.
 * 'record_key' gives the key id, a mere hint.  ERROR_MALFORMED if the line
 * lacks the frame above.
 */
int dsse_envelope(const void *line, size_t len, const uint8_t record_key[32],
    struct text_out *out, struct error *e) MUST_CHECK;

/*
 * The reverse: append the record line (without LF) of an envelope that has the
 * one spelling that dsse_envelope writes.  The key id is not looked at.
 * ERROR_MALFORMED for any other spelling.
 */
int dsse_line(const void *envelope, size_t len, struct text_out *out,
    struct error *e) MUST_CHECK;

#endif
