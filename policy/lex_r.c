/*
 * policy/lex_r.c - R: raw strings, names in back quotes, operators in percent
 * signs.  Linked by bailiff-screen and bailiff-policy; pure.
 *
 * Rules: The R Language Definition, 10.3, and ?Quotes.
 */
#include "policy/lex.h"

/* Strings run over lines. */
static void read_string(struct lex *l)
{
	uint8_t quote = l->t[l->i];
	size_t from = l->i + 1;
	size_t i = from;

	while (i < l->n && l->t[i] != quote)
		i += l->t[i] == '\\' ? 2 : 1;
	if (i >= l->n) {
		lex_endless(l, from, LEXER_STRING);
		return;
	}
	lex_string(l, from, i);
	l->i = i + 1;
}

static uint8_t partner(uint8_t c)
{
	return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : 0;
}

/* r"--( ... )--": as many dashes as there are; false if it is no such. */
static bool raw_string(struct lex *l)
{
	size_t dashes = 0;
	size_t from;
	size_t i = l->i;
	uint8_t quote = l->t[i++];
	uint8_t close;

	while (i < l->n && l->t[i] == '-') {
		i++;
		dashes++;
	}
	close = partner(l->t[i]);
	if (close == 0)
		return false;
	from = ++i;
	for (;; i++) {
		size_t end;

		i = lex_find(l, i, close);
		for (end = i + 1;
		     end < l->n && end - i - 1 < dashes && l->t[end] == '-';
		     end++)
			continue;
		if (i == l->n) {
			lex_endless(l, from, LEXER_STRING);
			return true;
		}
		if (end < l->n && end - i - 1 == dashes && l->t[end] == quote) {
			lex_string(l, from, i);
			l->i = end + 1;
			return true;
		}
	}
}

static bool is_raw(const struct lex *l)
{
	return l->i > 0 && (l->t[l->i - 1] == 'r' || l->t[l->i - 1] == 'R') &&
	       (l->i == 1 ||
	           (!lex_is_word(l->t[l->i - 2]) && l->t[l->i - 2] != '.'));
}

/* `system`("x") calls system: the quotes are as if they were not there. */
static void quoted_name(struct lex *l)
{
	size_t end = l->i + 1;

	while (end < l->n && l->t[end] != '`')
		end += l->t[end] == '\\' ? 2 : 1;
	if (end >= l->n) {
		l->i++;
		return;
	}
	l->classes[l->i] = LEXER_DROP;
	l->classes[end] = LEXER_DROP;
	l->i = end + 1;
}

/* %in%, %'%: any operator, on one line. */
static void operator(struct lex *l)
{
	size_t end = l->i + 1;

	while (end < l->n && l->t[end] != '%' && l->t[end] != '\n')
		end++;
	l->i = end < l->n && l->t[end] == '%' ? end + 1 : l->i + 1;
}

void lex_r(struct lex *l)
{
	static const bool stops[256] = { ['"'] = true,
		['\''] = true,
		['#'] = true,
		['`'] = true,
		['%'] = true };

	for (;;) {
		while (l->i < l->n && !stops[l->t[l->i]])
			l->i++;
		if (l->i >= l->n)
			return;
		switch (l->t[l->i]) {
		case '#':
			lex_line_comment(l);
			break;
		case '`':
			quoted_name(l);
			break;
		case '%':
			operator(l);
			break;
		default:
			if (!is_raw(l) || !raw_string(l))
				read_string(l);
		}
	}
}
