/*
 * policy/lex_c.c - the family of C: C, C++, Java, Go.  Linked by bailiff-screen
 * and bailiff-policy; pure.
 *
 * In C and C++ a backslash at the end of a line joins it to the next before
 * anything else is read (C17 5.1.1.2), inside words and comment marks too; GCC
 * lets blanks stand behind it.  In way 1 the trigraph ??/ is such a backslash.
 */
#include "policy/lex.h"

struct family {
	bool joins;      /* lines, by a backslash */
	bool directives; /* #include <a//b> */
	bool raw;        /* R"x(...)x" */
	bool back_quote; /* `...` */
	bool text_block; /* """...""" */
	bool returns;    /* a carriage return ends a line */
};

static bool ends_line(const struct family *f, uint8_t c)
{
	return c == '\n' || (c == '\r' && f->returns);
}

/* Bytes of a backslash at 'i', or 0. */
static size_t backslash(const struct lex *l, size_t i)
{
	if (l->t[i] == '\\')
		return 1;
	return l->way == 1 && lex_starts(l, i, "?\?/") ? 3 : 0;
}

/* Bytes of a backslash with its new line at 'i', or 0. */
static size_t joint(const struct lex *l, size_t i)
{
	size_t len = backslash(l, i);
	size_t end = i + len;

	if (len == 0)
		return 0;
	while (end < l->n && lex_is_blank(l->t[end]))
		end++;
	return end < l->n && l->t[end] == '\n' ? end + 1 - i : 0;
}

/* The first byte at or behind 'i' that is not joined away. */
static size_t over(const struct lex *l, const struct family *f, size_t i)
{
	size_t len;

	while (f->joins && i < l->n && (len = joint(l, i)) > 0)
		i += len;
	return i < l->n ? i : l->n;
}

static void line_comment(struct lex *l, const struct family *f)
{
	size_t i = l->i;

	while (i < l->n && !ends_line(f, l->t[i])) {
		size_t len = f->joins ? joint(l, i) : 0;

		i += len > 0 ? len : 1;
	}
	lex_set(l, l->i, i, LEXER_COMMENT);
	l->i = i < l->n ? i : l->n;
}

static void block_comment(struct lex *l, const struct family *f, size_t inside)
{
	size_t i = inside;

	for (;;) {
		i = lex_find(l, i, '*');
		if (i == l->n) {
			lex_endless(l, l->i, LEXER_COMMENT);
			return;
		}
		i = over(l, f, i + 1);
		if (l->t[i] == '/' && i < l->n)
			break;
	}
	lex_set(l, l->i, i + 1, LEXER_COMMENT);
	l->i = i + 1;
}

static void slash(struct lex *l, const struct family *f)
{
	size_t second = over(l, f, l->i + 1);

	if (l->t[second] == '/' && second < l->n)
		line_comment(l, f);
	else if (l->t[second] == '*' && second < l->n)
		block_comment(l, f, second + 1);
	else
		l->i++;
}

static void quoted(struct lex *l, const struct family *f)
{
	uint8_t quote = l->t[l->i];
	size_t from = l->i + 1;
	size_t i = from;

	while (i < l->n && l->t[i] != quote && !ends_line(f, l->t[i])) {
		size_t len = f->joins ? joint(l, i) : 0;

		if (len == 0 && backslash(l, i) > 0) {
			/* The protected byte may stand on the next line. */
			i = over(l, f, i + backslash(l, i));
			len = 1;
		}
		i += len > 0 ? len : 1;
	}
	if (i > l->n)
		i = l->n;
	lex_string(l, from, i);
	l->i = i < l->n && l->t[i] == quote ? i + 1 : i;
}

/* R"x( ... )x": nothing is joined or escaped in it. */
static bool raw_string(struct lex *l)
{
	size_t from = l->i + 1;
	size_t open = from;
	size_t end;

	while (open < l->n && open - from <= 16 && l->t[open] != '(')
		open++;
	if (open >= l->n || l->t[open] != '(')
		return false;
	for (end = open + 1;; end++) {
		end = lex_find(l, end, ')');
		if (end == l->n) {
			lex_endless(l, from, LEXER_STRING);
			return true;
		}
		if (end + 1 + (open - from) < l->n &&
		    memcmp(l->t + end + 1, l->t + from, open - from) == 0 &&
		    l->t[end + 1 + (open - from)] == '"')
			break;
	}
	lex_string(l, open + 1, end);
	l->i = end + 2 + (open - from);
	return true;
}

/* R, uR, UR, LR, u8R, and no longer word. */
static bool is_raw(const struct lex *l, size_t quote)
{
	size_t at = quote;

	if (at == 0 || l->t[at - 1] != 'R')
		return false;
	at--;
	if (at >= 2 && memcmp(l->t + at - 2, "u8", 2) == 0)
		at -= 2;
	else if (at >= 1 && strchr("uUL", l->t[at - 1]) != NULL &&
	         l->t[at - 1] != 0)
		at--;
	return at == 0 || !lex_is_word(l->t[at - 1]);
}

/* Text up to 'end', in which a backslash protects a byte if 'escapes'. */
static void long_string(struct lex *l, const char *end, bool escapes)
{
	size_t from = l->i + strlen(end);
	size_t i = from;

	while (i < l->n && !lex_starts(l, i, end))
		i += escapes && l->t[i] == '\\' ? 2 : 1;
	if (i >= l->n) {
		lex_endless(l, from, LEXER_STRING);
		return;
	}
	lex_string(l, from, i);
	l->i = i + strlen(end);
}

/*
 * 1'000'000: between digits it is no quote.  'known' is where the last such
 * separator stood, so that a long number is not walked again for each.
 */
static bool is_separator(const struct lex *l, size_t at, size_t *known)
{
	size_t from = at;

	while (
	    from > 0 && (lex_is_word(l->t[from - 1]) || l->t[from - 1] == '.'))
		from--;
	if (from == at || !lex_is_word(l->t[at + 1]))
		return false;
	if (!lex_is_digit(l->t[from]) && !(from > 0 && *known == from - 1))
		return false;
	*known = at;
	return true;
}

/* Behind #include a name in <> is no place for comments. */
static void directive(struct lex *l)
{
	size_t i = l->i + 1;
	bool gap;
	size_t before = lex_before(l, l->i, false, &gap);

	l->i = i;
	if (before < l->n && l->t[before] != '\n')
		return;
	while (i < l->n && lex_is_blank(l->t[i]))
		i++;
	if (!lex_starts(l, i, "include") && !lex_starts(l, i, "import"))
		return;
	while (i < l->n && lex_is_word(l->t[i]))
		i++;
	while (i < l->n && lex_is_blank(l->t[i]))
		i++;
	if (i >= l->n || l->t[i] != '<')
		return;
	while (i < l->n && l->t[i] != '>' && l->t[i] != '\n')
		i++;
	l->i = i;
}

static void double_quote(struct lex *l, const struct family *f)
{
	if (f->text_block && l->t[l->i + 1] == '"' && l->t[l->i + 2] == '"')
		long_string(l, "\"\"\"", true);
	else if (!f->raw || !is_raw(l, l->i) || !raw_string(l))
		quoted(l, f);
}

static void join(struct lex *l, const struct family *f)
{
	size_t len = f->joins ? joint(l, l->i) : 0;

	lex_set(l, l->i, l->i + len, LEXER_DROP);
	l->i += len > 0 ? len : 1;
}

static void read_one(struct lex *l, const struct family *f, size_t *separator)
{
	switch (l->t[l->i]) {
	case '"':
		double_quote(l, f);
		return;
	case '\'':
		if (is_separator(l, l->i, separator))
			l->i++;
		else
			quoted(l, f);
		return;
	case '/':
		slash(l, f);
		return;
	case '`':
		if (f->back_quote)
			long_string(l, "`", false);
		else
			l->i++;
		return;
	case '#':
		if (f->directives)
			directive(l);
		else
			l->i++;
		return;
	default:
		join(l, f);
	}
}

static void lex_family(struct lex *l, const struct family *f)
{
	static const bool stops[256] = { ['"'] = true,
		['\''] = true,
		['/'] = true,
		['\\'] = true,
		['`'] = true,
		['#'] = true,
		['?'] = true };
	size_t separator = l->n;

	for (;;) {
		while (l->i < l->n && !stops[l->t[l->i]])
			l->i++;
		if (l->i >= l->n)
			return;
		read_one(l, f, &separator);
	}
}

void lex_c(struct lex *l)
{
	static const struct family c = { .joins = true, .directives = true };

	lex_family(l, &c);
}

void lex_cpp(struct lex *l)
{
	static const struct family cpp = {
		.joins = true, .directives = true, .raw = true
	};

	lex_family(l, &cpp);
}

void lex_java(struct lex *l)
{
	static const struct family java = { .text_block = true,
		.returns = true };

	lex_family(l, &java);
}

void lex_go(struct lex *l)
{
	static const struct family go = { .back_quote = true };

	lex_family(l, &go);
}
