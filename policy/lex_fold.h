/*
 * policy/lex_fold.h - one letter written as another.  Private to the lexers.
 */
#ifndef POLICY_LEX_FOLD_H
#define POLICY_LEX_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lex_folding {
	FOLD_NOTHING,
	FOLD_LOOK_ALIKE, /* Python: names are normalised (NFKC) */
	FOLD_ESCAPES,    /* JavaScript: \u0065 and \u{65} in names */
};

/* Sorted by 'point'. */
#define LEX_ALIKE_MAX 4
struct lex_alike {
	uint32_t point;
	char as[LEX_ALIKE_MAX]; /* no longer than the point in UTF-8 */
};
extern const struct lex_alike lex_alikes[];
extern const size_t lex_n_alikes;

bool fold_may(enum lex_folding f, const uint8_t *text, size_t n);
void fold_names(enum lex_folding f, uint8_t *text, size_t n, uint8_t *classes);

/* Java (JLS 3.3): \u0069, and \uuu0069, anywhere; not behind an odd number of
 * backslashes.  Writes at most 'max' bytes; returns how many. */
size_t fold_unescape(const uint8_t *text, size_t n, size_t max, uint8_t *to);
size_t fold_unescaped_from(const uint8_t *text, size_t n, size_t at);

#endif
