/*
 * policy/nearest.c - edit distance.  Linked by bailiff-policy and the
 * supervisor; pure.
 */
#include "policy/nearest.h"

#include <stdint.h>
#include <string.h>

#define EDIT 2u /* so that a wrong case can be half an edit */

/* The number of a letter, whatever its case; other bytes stay apart. */
static int lower(char c)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *at = c != '\0' ? strchr(upper, c) : NULL;

	return at != NULL ? 'a' + (int)(at - upper) : c;
}

static uint32_t cost(char a, char b)
{
	if (a == b)
		return 0;
	if (lower(a) == lower(b))
		return 1;
	return EDIT;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's, one row at a time. */
static uint32_t distance(const char *a, const char *b)
{
	uint32_t row[NEAREST_MAX + 1];
	size_t n_a = strnlen(a, NEAREST_MAX);
	size_t n_b = strnlen(b, NEAREST_MAX);

	for (size_t j = 0; j <= n_b; j++)
		row[j] = (uint32_t)j * EDIT;
	for (size_t i = 0; i < n_a; i++) {
		uint32_t diagonal = row[0];

		row[0] = (uint32_t)(i + 1) * EDIT;
		for (size_t j = 0; j < n_b; j++) {
			uint32_t next = least(diagonal + cost(a[i], b[j]),
			    least(row[j], row[j + 1]) + EDIT);

			diagonal = row[j + 1];
			row[j + 1] = next;
		}
	}
	return row[n_b];
}

size_t nearest_word(const char *word, const char *const *words, size_t n)
{
	size_t best = n;
	/* Up to a third of the letters wrong, and one at least. */
	uint32_t best_distance =
	    EDIT * (1 + (uint32_t)strnlen(word, NEAREST_MAX) / 3) + 1;

	for (size_t i = 0; i < n; i++) {
		uint32_t d = distance(word, words[i]);

		if (d < best_distance) {
			best = i;
			best_distance = d;
		}
	}
	return best;
}
