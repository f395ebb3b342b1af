/*
 * policy/lex_python.c - Python: prefixes, triple quotes, f-strings with code in
 * them (as of 3.12, of which older rules are a part), lines joined by a
 * backslash.  Linked by bailiff-screen and bailiff-policy; pure.
 *
 * Rules: docs.python.org/3/reference/lexical_analysis.html and PEP 701.
 */
#include "policy/lex.h"

enum part {
	TEXT,  /* of an f-string */
	FIELD, /* code in braces */
	SPEC,  /* behind the ':' of a field */
};

struct frame {
	enum part part;
	size_t from;  /* where its text began */
	size_t depth; /* brackets open in a field */
	uint8_t quote;
	bool triple, raw;
};

struct python {
	struct lex *l;
	size_t n;
	struct frame frames[LEX_DEPTH_MAX];
};

static bool is_new_line(uint8_t c)
{
	return c == '\n' || c == '\r';
}

/* Whether a letter in front of a quote is a prefix of the string. */
static bool has_prefix(const struct lex *l, size_t quote, const char *letters)
{
	bool found = false;
	size_t at = quote;

	while (at > 0 && quote - at < 2 && l->t[at - 1] != 0 &&
	       strchr("rRbBuUfFtT", l->t[at - 1]) != NULL) {
		at--;
		found = found || strchr(letters, l->t[at]) != NULL;
	}
	return found && (at == 0 || !lex_is_word(l->t[at - 1]));
}

static bool closes(const struct lex *l, const struct frame *f, size_t i)
{
	return l->t[i] == f->quote &&
	       (!f->triple ||
	           (l->t[i + 1] == f->quote && l->t[i + 2] == f->quote));
}

/* In a raw string too a backslash protects the quote. */
static void plain_string(struct lex *l, const struct frame *f)
{
	size_t i = f->from;

	for (; i < l->n; i++) {
		if (l->t[i] == '\\')
			i++;
		else if (closes(l, f, i) ||
		         (!f->triple && is_new_line(l->t[i])))
			break;
	}
	if (i >= l->n) {
		lex_endless(l, f->from, LEXER_STRING);
		return;
	}
	lex_string(l, f->from, i);
	l->i = is_new_line(l->t[i]) ? i : i + (f->triple ? 3u : 1u);
}

static void push(struct python *p, struct frame f)
{
	if (p->n == LEX_DEPTH_MAX)
		lex_endless(p->l, p->l->i, LEXER_STRING);
	else
		p->frames[p->n++] = f;
}

static void open_string(struct python *p)
{
	struct lex *l = p->l;
	uint8_t quote = l->t[l->i];
	struct frame f = { .part = TEXT,
		.quote = quote,
		.triple = l->t[l->i + 1] == quote && l->t[l->i + 2] == quote,
		.raw = has_prefix(l, l->i, "rR") };
	bool has_fields = has_prefix(l, l->i, "fFtT");

	l->i += f.triple ? 3u : 1u;
	f.from = l->i;
	if (has_fields)
		push(p, f);
	else
		plain_string(l, &f);
}

/* What a backslash takes along: never a brace, but those of \N{NAME}. */
static size_t over_escape(const struct lex *l, const struct frame *f, size_t i)
{
	if (!f->raw && l->t[i + 1] == 'N' && l->t[i + 2] == '{')
		return i + 3;
	return l->t[i + 1] == '{' || l->t[i + 1] == '}' ? i + 1 : i + 2;
}

static bool is_literal_brace(
    const struct lex *l, const struct frame *f, size_t i)
{
	return f->part == TEXT && (l->t[i] == '{' || l->t[i] == '}') &&
	       l->t[i + 1] == l->t[i];
}

/* Where text of an f-string pauses: at a field, its end, a new line. */
static size_t text_end(const struct lex *l, const struct frame *f)
{
	size_t i = l->i;

	while (i < l->n) {
		uint8_t c = l->t[i];

		if (c == '\\')
			i = over_escape(l, f, i);
		else if (is_literal_brace(l, f, i))
			i += 2;
		else if (c == '{' || (c == '}' && f->part == SPEC) ||
		         closes(l, f, i) || (is_new_line(c) && !f->triple))
			break;
		else
			i++;
	}
	return i < l->n ? i : l->n;
}

static void read_text(struct python *p)
{
	struct lex *l = p->l;
	const struct frame f = p->frames[p->n - 1];
	size_t from = l->i;
	size_t end = text_end(l, &f);

	if (end == l->n) {
		lex_endless(l, from, LEXER_STRING);
		return;
	}
	if (l->t[end] != '{' && from == f.from && f.part == TEXT)
		lex_string(l, from, end);
	else
		lex_set(l, from, end, LEXER_STRING);
	l->i = end + 1;
	if (l->t[end] == '{') {
		push(p, (struct frame){ .part = FIELD });
	} else if (l->t[end] == '}') {
		p->n -= 2; /* the spec and its field */
	} else if (is_new_line(l->t[end])) {
		p->n = 0; /* broken: what follows is code again */
	} else {
		l->i = end + (f.triple ? 3u : 1u);
		p->n -= f.part == SPEC ? 3u : 1u;
	}
}

/* A byte of a field that may end it. */
static void read_bracket(struct python *p, struct frame *f)
{
	struct lex *l = p->l;
	uint8_t c = l->t[l->i++];

	if (c == '(' || c == '[' || c == '{') {
		f->depth++;
	} else if (c == ':' && f->depth == 0) {
		struct frame spec = p->frames[p->n - 2];

		spec.part = SPEC;
		push(p, spec);
	} else if (c != ':' && f->depth > 0) {
		f->depth--;
	} else if (c == '}') {
		p->n--;
	}
}

static void read_comment(struct lex *l)
{
	size_t i = l->i;

	while (i < l->n && !is_new_line(l->t[i]))
		i++;
	lex_set(l, l->i, i, LEXER_COMMENT);
	l->i = i;
}

static void join_lines(struct lex *l)
{
	size_t i = l->i + 1;

	if (l->t[i] == '\r')
		i++;
	if (l->t[i] == '\n')
		i++;
	if (i > l->i + 1)
		lex_set(l, l->i, i, LEXER_SPACE);
	l->i = i;
}

static void read_code(struct python *p)
{
	/* Bytes at which code stops being only code. */
	static const bool stops[256] = { ['"'] = true,
		['\''] = true,
		['#'] = true,
		['\\'] = true,
		['('] = true,
		[')'] = true,
		['['] = true,
		[']'] = true,
		['{'] = true,
		['}'] = true,
		[':'] = true };
	static const bool few[256] = {
		['"'] = true, ['\''] = true, ['#'] = true, ['\\'] = true
	};
	struct lex *l = p->l;
	const bool *stop = p->n > 0 ? stops : few;

	while (l->i < l->n && !stop[l->t[l->i]])
		l->i++;
	if (l->i >= l->n)
		return;
	switch (l->t[l->i]) {
	case '"':
	case '\'':
		open_string(p);
		return;
	case '#':
		read_comment(l);
		return;
	case '\\':
		join_lines(l);
		return;
	default:
		read_bracket(p, &p->frames[p->n - 1]);
	}
}

void lex_python(struct lex *l)
{
	struct python p = { .l = l };

	while (l->i < l->n)
		if (p.n > 0 && p.frames[p.n - 1].part != FIELD)
			read_text(&p);
		else
			read_code(&p);
}
