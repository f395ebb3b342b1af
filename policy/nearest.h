/*
 * policy/nearest.h - which of some words a misspelt one was meant to be.
 */
#ifndef POLICY_NEAREST_H
#define POLICY_NEAREST_H

#include <stddef.h>

/* Longer words are compared by their beginning. */
#define NEAREST_MAX 64

/*
 * The index of the word nearest to 'word' by edits (case counts for half an
 * edit), or 'n' when none is near enough to be meant.
 */
size_t nearest_word(const char *word, const char *const *words, size_t n);

#endif
