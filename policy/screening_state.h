/*
 * policy/screening_state.h - compiled rules from inside.  Private to
 * policy/screening*.c.
 */
#ifndef POLICY_SCREENING_STATE_H
#define POLICY_SCREENING_STATE_H

#include <hs/hs.h>

#include "policy/lexer.h"
#include "policy/screening.h"

/* Sets of places: code, strings, comments in any union, and code with names;
 * for each the forms of imports together, which begin alike, and every pattern
 * alone: vectorscan leaves a text that one pattern has met, and is done with
 * one that it does not meet in a thirtieth of a millisecond. */
#define SCREENING_VIEWS_MAX (8 + POLICY_RULES_MAX)
/* What needs no lexer: all there is. */
#define SCREENING_ANY (LEXER_CODE | LEXER_STRING | LEXER_COMMENT)

struct screening_view {
	unsigned seen;           /* enum lexer_class */
	hs_database_t *database; /* owned */
};

struct screening {
	const struct lexer *lexer; /* NULL: every rule sees everything */
	size_t n;
	/* Sorted by 'seen': each text is made once. */
	struct screening_view views[SCREENING_VIEWS_MAX];
};

#endif
