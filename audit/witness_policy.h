/*
 * audit/witness_policy.h - which witnesses a verifier wants to see: a C2SP
 * tlog-policy file, owned by the verifier.  Pure.
 *
 *   log VKEY [URL]                     ignored here: the pin decides
 *   witness NAME VKEY [URL]
 *   group NAME N|any|all MEMBER...     members: witnesses or groups above
 *   quorum NAME|none                   exactly once
 *
 * Lines beginning with '#' and empty lines say nothing.  A witness key counts
 * once, whatever its names: the same key under two names is an error.
 */
#ifndef AUDIT_WITNESS_POLICY_H
#define AUDIT_WITNESS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/note.h"
#include "base/error.h"

#define WITNESS_NAME_MAX  64
#define WITNESS_PARTS_MAX 64 /* witnesses and groups together */
#define WITNESS_BYTES_MAX 65536

struct witness_part {
	char name[WITNESS_NAME_MAX];
	bool group;
	struct note_key key; /* of a witness */
	uint64_t members;    /* of a group: a bit for each part above it */
	size_t threshold;    /* how many of them it needs */
};

struct witness_policy {
	struct witness_part parts[WITNESS_PARTS_MAX];
	size_t n_parts;
	bool none;     /* "quorum none" */
	size_t quorum; /* index of the part that must be satisfied */
};

/* ERROR_MALFORMED names the line that is off. */
int witness_policy_read(const char *text, size_t len,
    struct witness_policy *ret, struct error *e) MUST_CHECK;

/*
 * Do the cosignatures of a checkpoint satisfy the quorum?  A cosignature that
 * does not verify counts as none.  "none" is never satisfied: it asks nobody.
 */
bool witness_policy_holds(
    const struct witness_policy *p, const void *note, size_t len);

#endif
