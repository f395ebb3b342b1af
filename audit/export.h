/*
 * audit/export.h - records in the formats that other tools read.  Pure.
 *
 *   dsse  one DSSE envelope a line (in-toto), signature and all
 *   csv   RFC 4180, one row a record; a cell that a spreadsheet would take for
 *         a formula gets an apostrophe in front
 *   ocsf  OCSF 1.3.0, one JSON object a line: Process Activity (1007) for
 *         intent, denial and outcome, Base Event (0) for the rest
 */
#ifndef AUDIT_EXPORT_H
#define AUDIT_EXPORT_H

#include "audit/entry.h"
#include "base/text.h"

enum export_format {
	EXPORT_DSSE,
	EXPORT_CSV,
	EXPORT_OCSF,
	EXPORT_FORMATS,
};

/* "dsse", ...; by enum export_format. */
extern const char *const export_words[EXPORT_FORMATS];

struct export
{
	enum export_format format;
	uint8_t record_key[ED25519_PUBLIC]; /* of the open epoch */
};

#define EXPORT_RECORD_MAX 200000 /* bytes of one record in any format */

/* What stands before the first record. */
int export_begin(
    const struct export *x, struct text_out *out, struct error *e) MUST_CHECK;

/* Show it each record from the first on, exported or not: the keys of epochs
 * stand in some.  ERROR_MALFORMED where such a record has none. */
int export_see(
    struct export *x, const struct entry *entry, struct error *e) MUST_CHECK;

/* Append one record. */
int export_record(const struct export *x, const struct entry *entry,
    struct text_out *out, struct error *e) MUST_CHECK;

#endif
