/*
 * policy/lex.h - what the lexers share.  Private to policy/lex*.c.
 *
 * A text ends in LEXER_PAD bytes of 0, so a lexer looks that far ahead without
 * asking; what it skips it bounds by n.  Classes begin as LEXER_CODE.
 */
#ifndef POLICY_LEX_H
#define POLICY_LEX_H

#include <string.h>

#include "policy/lexer.h"

/* Nested strings and substitutions that are told apart; deeper ones are code
 * and string at once. */
#define LEX_DEPTH_MAX 48
/* The longest string that may be a name. */
#define LEX_NAME_MAX 64

struct lex {
	const uint8_t *t; /* borrowed */
	size_t n;
	uint8_t *classes; /* borrowed */
	size_t i;         /* the next byte to read */
	unsigned way;
};

void lex_python(struct lex *l);
void lex_c(struct lex *l);
void lex_cpp(struct lex *l);
void lex_java(struct lex *l);
void lex_go(struct lex *l);
void lex_javascript(struct lex *l);
void lex_r(struct lex *l);
void lex_ruby(struct lex *l);
void lex_bash(struct lex *l);

static inline bool lex_is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static inline bool lex_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline bool lex_is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r';
}

static inline bool lex_starts(const struct lex *l, size_t at, const char *word)
{
	size_t len = strlen(word);

	return at + len <= l->n && memcmp(l->t + at, word, len) == 0;
}

static inline void lex_set(
    struct lex *l, size_t from, size_t to, unsigned class)
{
	if (to > l->n)
		to = l->n;
	if (from < to)
		memset(l->classes + from, (int)class, to - from);
}

/* lex.c: a string's content [from, to), found to be a name or not. */
void lex_string(struct lex *l, size_t from, size_t to);
/* The next 'c' at or after 'at', or n. */
size_t lex_find(const struct lex *l, size_t at, uint8_t c);
/* No end was found: [from, n) is code as well as 'class'; reading is over. */
void lex_endless(struct lex *l, size_t from, unsigned class);
/*
 * A string from its quote at l->i to 'quote' on the same line; a backslash
 * protects any byte.  Without an end it stops before the new line.
 */
void lex_quoted(struct lex *l, uint8_t quote);
/* To the end of the line, which is a comment. */
void lex_line_comment(struct lex *l);
/* The last byte of code before 'at' that is no blank, or n; 'ret_gap': a blank
 * or comment lies between.  New lines count as blanks if 'lines'. */
size_t lex_before(const struct lex *l, size_t at, bool lines, bool *ret_gap);
/* Whether the word that ends at 'last' is one of the list, which ends in NULL. */
bool lex_is_one_of(const struct lex *l, size_t last, const char *const *words);

#endif
