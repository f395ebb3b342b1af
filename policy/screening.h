/*
 * policy/screening.h - code rules of one language, compiled, and what they find
 * in a program text.  For bailiff-screen and bailiff-policy; pure.
 *
 * A rule sees the text as policy/lexer.h divides it: bytes of the places it does
 * not look at are spaces.  Patterns are those of vectorscan (block mode), with
 * ^ and $ at lines: no look-around, no back reference, so that scanning is
 * linear by construction; what it cannot take is a fault of the policy.
 */
#ifndef POLICY_SCREENING_H
#define POLICY_SCREENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "policy/policy.h"

/* The most that the rules of one language may take in memory, compiled. */
#define SCREENING_BYTES_MAX 8388608

struct screening; /* opaque: one language */

struct screening_rules {
	const char *language;          /* borrowed */
	const struct code_rule *rules; /* borrowed */
	size_t n;                      /* at most POLICY_RULES_MAX */
};

/*
 * Compile.  ERROR_MALFORMED and *ret_rule: that rule, and in *e what is wrong
 * with its text; *ret is the caller's, to screening_free.
 */
int screening_compile(const struct screening_rules *rules,
    struct screening **ret, size_t *ret_rule, struct error *e) MUST_CHECK;
void screening_free(struct screening *s); /* NULL is fine */

/* Room to scan one text at a time, of at most 'cap' bytes, by any of 'of'. */
struct screening_room; /* opaque */
int screening_room(struct screening *const *of, size_t n, size_t cap,
    struct screening_room **ret, struct error *e) MUST_CHECK;
void screening_room_free(struct screening_room *room); /* NULL is fine */
/* Where the caller puts the text: 'cap' bytes. */
uint8_t *screening_text(struct screening_room *room);

struct screening_hit {
	uint32_t rule; /* index in the rules compiled */
	uint64_t line; /* from 1 */
	uint64_t at;   /* offset of the last byte of the first match */
};

struct screening_hits {
	size_t n; /* by offset; each rule once */
	struct screening_hit items[POLICY_RULES_MAX];
	/* The text declares that it means other bytes than these. */
	bool encoded;
};

/* Scan the first 'n' bytes of screening_text(room); nothing is allocated. */
int screening_scan(const struct screening *s, struct screening_room *room,
    size_t n, struct screening_hits *ret, struct error *e) MUST_CHECK;

#endif
