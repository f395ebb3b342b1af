/*
 * policy/lex_javascript.c - JavaScript: templates with code in them, regular
 * expressions told from divisions, the HTML-like comments of scripts.  Linked
 * by bailiff-screen and bailiff-policy; pure.
 *
 * Rules: ECMA-262, 12 and B.1.1.  Way 0 reads a script, in which <!-- and a
 * line that begins with --> are comments; way 1 a module, which has none.
 */
#include "policy/lex.h"

struct javascript {
	struct lex *l;
	size_t n;
	size_t depth[LEX_DEPTH_MAX]; /* braces open in the code of templates */
	/* For each open parenthesis, whether a keyword stood in front of it that
	 * makes what follows its end a statement; the first 64 of them. */
	size_t n_open;
	uint64_t is_head;
	bool behind_head; /* the last parenthesis closed was such a one */
	/* The line on which slashes were no regular expressions, and how often:
	 * each was read to the line's end. */
	size_t line_end;
	unsigned n_failed;
};

#define FAILED_MAX 4

/* Bytes of the line terminator at 'i', or 0: U+2028 and U+2029 as well. */
static size_t line_end(const struct lex *l, size_t i)
{
	if (l->t[i] == '\n' || l->t[i] == '\r')
		return 1;
	return l->t[i] == 0xe2 && l->t[i + 1] == 0x80 &&
	               (l->t[i + 2] == 0xa8 || l->t[i + 2] == 0xa9)
	           ? 3
	           : 0;
}

static void read_comment(struct lex *l)
{
	size_t i = l->i;

	while (i < l->n && line_end(l, i) == 0)
		i++;
	lex_set(l, l->i, i, LEXER_COMMENT);
	l->i = i;
}

static void read_block(struct lex *l)
{
	size_t i = l->i + 2;

	do
		i = lex_find(l, i, '*') + 1;
	while (i < l->n && l->t[i] != '/');
	if (i >= l->n) {
		lex_endless(l, l->i, LEXER_COMMENT);
		return;
	}
	lex_set(l, l->i, i + 1, LEXER_COMMENT);
	l->i = i + 1;
}

/* Strings may hold U+2028 since 2019; only these two end a line in one. */
static void read_string(struct lex *l)
{
	uint8_t quote = l->t[l->i];
	size_t from = l->i + 1;
	size_t i = from;

	while (i < l->n && l->t[i] != quote && l->t[i] != '\n' &&
	       l->t[i] != '\r') {
		if (l->t[i] == '\\')
			i += l->t[i + 1] == '\r' && l->t[i + 2] == '\n';
		i += l->t[i] == '\\' || l->t[i] == '\r' ? 2 : 1;
	}
	if (i > l->n)
		i = l->n;
	lex_string(l, from, i);
	l->i = i < l->n && l->t[i] == quote ? i + 1 : i;
}

/* The text of a template up to ${ or its end. */
static void read_template(struct javascript *j)
{
	struct lex *l = j->l;
	size_t from = l->i;
	size_t i = from;

	while (i < l->n && l->t[i] != '`' &&
	       !(l->t[i] == '$' && l->t[i + 1] == '{'))
		i += l->t[i] == '\\' ? 2 : 1;
	if (i >= l->n) {
		lex_endless(l, from, LEXER_STRING);
		return;
	}
	lex_string(l, from, i);
	if (l->t[i] == '`') {
		l->i = i + 1;
		return;
	}
	l->i = i + 2;
	if (j->n == LEX_DEPTH_MAX)
		lex_endless(l, l->i, LEXER_STRING);
	else
		j->depth[j->n++] = 0;
}

/* The end of the regular expression at l->i, or 0: it has none on its line. */
static size_t regex_end(struct javascript *j)
{
	const struct lex *l = j->l;
	bool in_class = false;
	size_t i = l->i + 1;

	if (l->i >= j->line_end)
		j->n_failed = 0;
	if (j->n_failed == FAILED_MAX)
		return 0;
	for (; i < l->n && line_end(l, i) == 0; i++) {
		if (l->t[i] == '\\')
			i++;
		else if (l->t[i] == '[')
			in_class = true;
		else if (l->t[i] == ']')
			in_class = false;
		else if (l->t[i] == '/' && !in_class)
			return i;
	}
	j->n_failed++;
	j->line_end = i;
	return 0;
}

enum slash {
	SLASH_DIVIDES,
	SLASH_BEGINS,  /* no value can stand in front of it */
	SLASH_UNKNOWN, /* behind a block or an object, a condition or a call */
};

static enum slash judge_slash(const struct javascript *j)
{
	static const char *const words[] = { "return", "typeof", "case", "in",
		"of", "delete", "void", "throw", "new", "do", "else", "yield",
		"await", "instanceof", "default", NULL };
	const struct lex *l = j->l;
	bool gap;
	size_t last = lex_before(l, l->i, true, &gap);
	uint8_t c = l->t[last];

	if (last == l->n)
		return SLASH_BEGINS;
	if (c == '}' || (c == ')' && j->behind_head))
		return SLASH_UNKNOWN;
	if (lex_is_word(c) || c == '$')
		return lex_is_one_of(l, last, words) ? SLASH_BEGINS
		                                     : SLASH_DIVIDES;
	if ((c == '+' || c == '-') && last > 0 && l->t[last - 1] == c)
		return SLASH_DIVIDES; /* x++ */
	return strchr(")]\"'`", c) != NULL ? SLASH_DIVIDES : SLASH_BEGINS;
}

static void read_slash(struct javascript *j)
{
	struct lex *l = j->l;
	enum slash is;
	size_t end;

	if (l->t[l->i + 1] == '/') {
		read_comment(l);
		return;
	}
	if (l->t[l->i + 1] == '*') {
		read_block(l);
		return;
	}
	is = judge_slash(j);
	end = is != SLASH_DIVIDES ? regex_end(j) : 0;
	if (end > 0)
		lex_set(l, l->i + 1, end,
		    is == SLASH_UNKNOWN ? LEXER_STRING | LEXER_CODE
		                        : LEXER_STRING);
	l->i = end > 0 ? end + 1 : l->i + 1;
}

static void read_open(struct javascript *j)
{
	static const char *const heads[] = { "if", "while", "for", "with",
		NULL };
	bool gap;
	size_t last = lex_before(j->l, j->l->i, true, &gap);
	uint64_t bit = j->n_open < 64 ? UINT64_C(1) << j->n_open : 0;

	j->is_head &= ~bit;
	if (last < j->l->n && lex_is_one_of(j->l, last, heads))
		j->is_head |= bit;
	j->n_open++;
	j->l->i++;
}

static void read_close(struct javascript *j)
{
	if (j->n_open > 0)
		j->n_open--;
	j->behind_head = j->n_open < 64 && (j->is_head >> j->n_open & 1) != 0;
	j->l->i++;
}

static void read_brace(struct javascript *j)
{
	struct lex *l = j->l;
	uint8_t c = l->t[l->i++];

	if (j->n == 0)
		return;
	if (c == '{') {
		j->depth[j->n - 1]++;
	} else if (j->depth[j->n - 1] > 0) {
		j->depth[j->n - 1]--;
	} else {
		j->n--;
		read_template(j);
	}
}

static bool is_html_comment(const struct lex *l)
{
	bool gap;
	size_t last;

	if (l->way != 0)
		return false;
	if (lex_starts(l, l->i, "<!--"))
		return true;
	if (!lex_starts(l, l->i, "-->"))
		return false;
	last = lex_before(l, l->i, false, &gap);
	return last == l->n || l->t[last] == '\n';
}

static void read_other(struct javascript *j)
{
	if (is_html_comment(j->l) ||
	    (j->l->i == 0 && lex_starts(j->l, 0, "#!")))
		read_comment(j->l);
	else
		j->l->i++;
}

static void read_one(struct javascript *j)
{
	switch (j->l->t[j->l->i]) {
	case '"':
	case '\'':
		read_string(j->l);
		return;
	case '`':
		j->l->i++;
		read_template(j);
		return;
	case '/':
		read_slash(j);
		return;
	case '(':
		read_open(j);
		return;
	case ')':
		read_close(j);
		return;
	case '{':
	case '}':
		read_brace(j);
		return;
	default:
		read_other(j);
	}
}

void lex_javascript(struct lex *l)
{
	static const bool stops[256] = { ['"'] = true,
		['\''] = true,
		['`'] = true,
		['/'] = true,
		['('] = true,
		[')'] = true,
		['{'] = true,
		['}'] = true,
		['<'] = true,
		['-'] = true,
		['#'] = true };
	struct javascript j = { .l = l };

	for (;;) {
		while (l->i < l->n && !stops[l->t[l->i]])
			l->i++;
		if (l->i >= l->n)
			return;
		read_one(&j);
	}
}
