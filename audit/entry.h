/*
 * audit/entry.h - one record as read: the frame and the common fields checked,
 * the others found.
 *
 * Pure; allocates nothing.  An entry points into the line it was read from.
 * What a record means in its place in the log is judged in audit/verify.h.
 */
#ifndef AUDIT_ENTRY_H
#define AUDIT_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "audit/c1.h"
#include "audit/dsse.h"
#include "audit/ed25519.h"
#include "audit/tree.h"
#include "base/error.h"

#define ENTRY_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define ENTRY_PREDICATE_TYPE "urn:bailiff:record:v1"
#define ENTRY_LOG_BYTES      16 /* a log id, a boot id, a run id */
#define ENTRY_TIME_LEN       27 /* RFC 3339, 6 decimals, Z */

/* Fields of a predicate that somebody asks for, sorted by name. */
enum entry_field {
	ENTRY_ALG,
	ENTRY_ARGS,
	ENTRY_BEFORE,
	ENTRY_BOOT,
	ENTRY_CODE,
	ENTRY_DECISION,
	ENTRY_DURABILITY,
	ENTRY_ENV,
	ENTRY_EPOCH,
	ENTRY_INPUTS,
	ENTRY_INTENT,
	ENTRY_KEYS,
	ENTRY_KILLED_BY,
	ENTRY_LIMITS,
	ENTRY_LOG,
	ENTRY_LOGKEY,
	ENTRY_MANIFEST,
	ENTRY_MONO,
	ENTRY_NEXT,
	ENTRY_ORIGIN,
	ENTRY_PHASE,
	ENTRY_POLICY,
	ENTRY_POP,
	ENTRY_PREV,
	ENTRY_PRINCIPAL,
	ENTRY_PROFILE,
	ENTRY_REASONS,
	ENTRY_RECKEY,
	ENTRY_RECORDS,
	ENTRY_REQ,
	ENTRY_RULES,
	ENTRY_SANDBOX,
	ENTRY_SEQ,
	ENTRY_STATUS,
	ENTRY_STDERR,
	ENTRY_STDIN,
	ENTRY_STDOUT,
	ENTRY_TIME,
	ENTRY_TRACE,
	ENTRY_TYPE,
	ENTRY_V,
	ENTRY_FIELDS,
};

struct entry {
	const char *line; /* borrowed; without LF */
	size_t len;
	struct c1_value statement; /* what is signed */
	struct c1_value statement_type, predicate_type, subject, predicate;
	struct c1_value fields[ENTRY_FIELDS]; /* C1_ABSENT where absent */
	uint8_t sig[ED25519_SIG];
	/* The common fields: each record has them, of any type and version. */
	uint64_t seq, epoch, v;
	uint8_t prev[TREE_HASH];
	uint8_t log[ENTRY_LOG_BYTES];
	uint8_t boot[ENTRY_LOG_BYTES];
};

/*
 * Read one line.  ERROR_MALFORMED names what is off: the frame, the profile, a
 * common field that is missing or of another kind.
 */
int entry_read(const char *line, size_t len, struct entry *ret,
    struct error *e) MUST_CHECK;

/* "r_" and 32 hex digits. */
bool entry_run_id(const struct c1_value *v, uint8_t ret[ENTRY_LOG_BYTES]);

/* Is its signature that of 'record_key'? */
bool entry_signed_by(const struct entry *entry,
    const uint8_t record_key[ED25519_PUBLIC], char scratch[DSSE_PAE_MAX]);

#endif
