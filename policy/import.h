/*
 * policy/import.h - what an import of a module looks like in each language.
 * Private to code screening.
 */
#ifndef POLICY_IMPORT_H
#define POLICY_IMPORT_H

#include <stddef.h>

#include "base/error.h"
#include "policy/lexer.h"

#define IMPORT_PATTERN_MAX 2048

/* One way to import; NULL ends a list. */
struct import_form {
	unsigned seen;       /* classes of bytes that it looks at */
	const char *pattern; /* "%M": the module */
};

/* The forms of a language, or NULL: none are known. */
const struct import_form *import_forms(const char *language);

struct import_text {
	char pattern[IMPORT_PATTERN_MAX];
};

/* 'form' for this module, as a pattern. */
int import_pattern(const char *language, const struct import_form *form,
    const char *module, struct import_text *ret, struct error *e) MUST_CHECK;

#endif
