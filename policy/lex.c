/*
 * policy/lex.c - what the lexers share.  Linked by bailiff-screen and
 * bailiff-policy; pure.  The text is hostile.
 */
#include "policy/lex.h"

size_t lex_find(const struct lex *l, size_t at, uint8_t c)
{
	const uint8_t *found =
	    at < l->n ? memchr(l->t + at, c, l->n - at) : NULL;

	return found != NULL ? (size_t)(found - l->t) : l->n;
}

static bool is_name_byte(uint8_t c)
{
	return (lex_is_word(c) && c < 0x80) ||
	       (c != 0 && strchr("./:@-+", c) != NULL);
}

void lex_string(struct lex *l, size_t from, size_t to)
{
	bool is_name = to - from <= LEX_NAME_MAX;

	for (size_t i = from; is_name && i < to; i++)
		is_name = is_name_byte(l->t[i]);
	lex_set(l, from, to, LEXER_STRING | (is_name ? LEXER_NAME : 0u));
}

void lex_endless(struct lex *l, size_t from, unsigned class)
{
	lex_set(l, from, l->n, LEXER_CODE | class);
	l->i = l->n;
}

void lex_quoted(struct lex *l, uint8_t quote)
{
	size_t from = l->i + 1;
	size_t i = from;

	while (i < l->n && l->t[i] != quote && l->t[i] != '\n')
		i += l->t[i] == '\\' && i + 1 < l->n ? 2 : 1;
	if (i > l->n)
		i = l->n;
	lex_string(l, from, i);
	l->i = i < l->n && l->t[i] == quote ? i + 1 : i;
}

void lex_line_comment(struct lex *l)
{
	size_t end = lex_find(l, l->i, '\n');

	lex_set(l, l->i, end, LEXER_COMMENT);
	l->i = end;
}

size_t lex_before(const struct lex *l, size_t at, bool lines, bool *ret_gap)
{
	*ret_gap = false;
	while (at > 0) {
		uint8_t c = l->t[at - 1];

		if ((l->classes[at - 1] & LEXER_CODE) != 0 &&
		    !lex_is_blank(c) && !(c == '\n' && lines))
			return at - 1;
		*ret_gap = true;
		at--;
	}
	return l->n;
}

/* Longer words are in no list. */
#define WORD_MAX 16

bool lex_is_one_of(const struct lex *l, size_t last, const char *const *words)
{
	size_t len = 0;
	const char *word;

	while (len < WORD_MAX && len <= last && lex_is_word(l->t[last - len]))
		len++;
	if (len == 0 || len == WORD_MAX)
		return false;
	word = (const char *)l->t + last + 1 - len;
	for (; *words != NULL; words++)
		if ((*words)[0] == word[0] && strlen(*words) == len &&
		    memcmp(word, *words, len) == 0)
			return true;
	return false;
}
