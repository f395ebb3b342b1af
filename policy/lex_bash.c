/*
 * policy/lex_bash.c - bash: quotes, substitutions with code in them, heredocs,
 * comments only where a word begins.  Linked by bailiff-screen and
 * bailiff-policy; pure.
 *
 * Rules: bash(1), QUOTING, EXPANSION, Here Documents.  A quoted word is still a
 * word: "curl" x runs curl, and is a string here all the same.
 */
#include "policy/lex.h"

#define HEREDOCS_MAX 8

enum part {
	DOUBLE,     /* "..." */
	COMMAND,    /* $(...) and (...) in it */
	BACK,       /* `...` */
	PARAMETER,  /* ${...} */
	ARITHMETIC, /* $((...)), ((...)) */
	BODY,       /* of a heredoc, up to 'end' */
};

struct frame {
	enum part part;
	size_t depth; /* brackets open in it */
	size_t from, end;
};

struct heredoc {
	size_t from, len;
	bool tabs, quoted;
};

struct bash {
	struct lex *l;
	size_t n, n_heredocs;
	struct frame frames[LEX_DEPTH_MAX];
	struct heredoc heredocs[HEREDOCS_MAX];
};

static void push(struct bash *b, enum part part, size_t len)
{
	struct lex *l = b->l;

	l->i += len;
	if (b->n == LEX_DEPTH_MAX)
		lex_endless(l, l->i, LEXER_STRING);
	else
		b->frames[b->n++] =
		    (struct frame){ .part = part, .from = l->i };
}

/* Open what begins with $ or a back quote; false: nothing does. */
static bool open_substitution(struct bash *b)
{
	const struct lex *l = b->l;

	if (l->t[l->i] == '`') {
		push(b, BACK, 1);
		return true;
	}
	if (l->t[l->i] != '$')
		return false;
	if (lex_starts(l, l->i, "$(("))
		push(b, ARITHMETIC, 3);
	else if (l->t[l->i + 1] == '(')
		push(b, COMMAND, 2);
	else if (l->t[l->i + 1] == '{')
		push(b, PARAMETER, 2);
	else
		return false;
	return true;
}

static void end_text(struct bash *b)
{
	b->l->i++;
	b->n--;
}

static bool pauses(const struct lex *l, const struct frame *f, size_t i)
{
	switch (l->t[i]) {
	case '"':
		return f->part == DOUBLE;
	case '`':
		return true;
	case '$':
		return l->t[i + 1] == '(' || l->t[i + 1] == '{';
	default:
		return false;
	}
}

/* The text of "..." or of a heredoc. */
static void read_text(struct bash *b)
{
	struct lex *l = b->l;
	struct frame *f = &b->frames[b->n - 1];
	size_t last = f->part == BODY ? f->end : l->n;
	size_t from = l->i;
	size_t i = from;

	while (i < last && !pauses(l, f, i))
		i += l->t[i] == '\\' ? 2 : 1;
	if (i >= last && f->part == DOUBLE) {
		lex_endless(l, f->from, LEXER_STRING);
		return;
	}
	if (i > last)
		i = last;
	if (from == f->from && f->part == DOUBLE && l->t[i] == '"')
		lex_string(l, from, i);
	else
		lex_set(l, from, i, LEXER_STRING);
	l->i = i;
	if (i >= last && f->part == BODY)
		b->n--;
	else if (l->t[i] == '"')
		end_text(b);
	else
		(void)open_substitution(b);
}

static void read_single(struct lex *l, size_t from, bool escapes)
{
	size_t i = from;

	while (i < l->n && l->t[i] != '\'')
		i += escapes && l->t[i] == '\\' ? 2 : 1;
	if (i >= l->n) {
		lex_endless(l, from, LEXER_STRING);
		return;
	}
	lex_string(l, from, i);
	l->i = i + 1;
}

static void read_dollar(struct bash *b)
{
	struct lex *l = b->l;

	if (open_substitution(b))
		return;
	if (l->t[l->i + 1] == '\'')
		read_single(l, l->i + 2, true);
	else if (l->t[l->i + 1] == '#' || l->t[l->i + 1] == '$')
		l->i += 2; /* $# is no comment */
	else
		l->i++;
}

/* A word begins here, so # does a comment. */
static bool begins_word(const struct lex *l)
{
	uint8_t c = l->i > 0 ? l->t[l->i - 1] : '\n';

	return c == '\n' || lex_is_blank(c) || strchr(";&|()`", c) != NULL;
}

static void read_comment(struct bash *b)
{
	struct lex *l = b->l;
	enum part in = b->n > 0 ? b->frames[b->n - 1].part : COMMAND;
	size_t i = l->i;

	if (!begins_word(l) || in == PARAMETER || in == ARITHMETIC) {
		l->i++;
		return;
	}
	while (i < l->n && l->t[i] != '\n' && (in != BACK || l->t[i] != '`'))
		i++;
	lex_set(l, l->i, i, LEXER_COMMENT);
	l->i = i;
}

/* "c\url" runs curl, and so does one that is cut by a new line. */
static void read_backslash(struct lex *l)
{
	if (l->t[l->i + 1] == '\n')
		lex_set(l, l->i, l->i + 2, LEXER_DROP);
	else if (lex_is_word(l->t[l->i + 1]))
		l->classes[l->i] = LEXER_DROP;
	l->i += 2;
}

static bool knows_heredocs(const struct bash *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->frames[i].part == BODY ||
		    b->frames[i].part == ARITHMETIC)
			return false;
	return b->n_heredocs < HEREDOCS_MAX;
}

/* A heredoc's word, in 'quote' or (0) in none. */
static bool ends_word(uint8_t c, uint8_t quote)
{
	if (c == '\n' || quote != 0)
		return c == '\n' || c == quote;
	return lex_is_blank(c) || (c != 0 && strchr(";&|()<>", c) != NULL);
}

/* <<WORD, <<-'WORD'; not <<<, nor a shift. */
static void read_heredoc(struct bash *b)
{
	struct lex *l = b->l;
	struct heredoc h = { .tabs = l->t[l->i + 2] == '-' };
	size_t i = l->i + (h.tabs ? 3u : 2u);
	uint8_t quote = 0;

	if (l->t[l->i + 1] != '<' || l->t[l->i + 2] == '<' ||
	    !knows_heredocs(b)) {
		while (l->i < l->n && l->t[l->i] == '<')
			l->i++;
		return;
	}
	while (l->t[i] == ' ' || l->t[i] == '\t')
		i++;
	if (l->t[i] == '"' || l->t[i] == '\'')
		quote = l->t[i];
	h.quoted = quote != 0 || l->t[i] == '\\';
	i += h.quoted;
	h.from = i;
	while (i < l->n && !ends_word(l->t[i], quote))
		i++;
	h.len = i - h.from;
	b->heredocs[b->n_heredocs++] = h;
	l->i = quote != 0 && l->t[i] == quote ? i + 1 : i;
}

/* The line that ends it, from 'at' on; *ret_next is behind it. */
static size_t heredoc_end(
    const struct lex *l, const struct heredoc *h, size_t at, size_t *ret_next)
{
	while (at < l->n) {
		size_t end = lex_find(l, at, '\n');
		size_t word = at;

		while (h->tabs && word < end && l->t[word] == '\t')
			word++;
		*ret_next = end;
		if (end - word == h->len &&
		    memcmp(l->t + word, l->t + h->from, h->len) == 0)
			return at;
		at = end + 1;
	}
	*ret_next = l->n;
	return l->n;
}

/* At the first byte of a line behind one with heredocs. */
static void read_bodies(struct bash *b)
{
	struct lex *l = b->l;
	struct heredoc h = b->heredocs[0];
	size_t next;
	size_t end = heredoc_end(l, &h, l->i, &next);

	b->n_heredocs--;
	memmove(b->heredocs, b->heredocs + 1,
	    b->n_heredocs * sizeof(b->heredocs[0]));
	if (end == l->n) {
		lex_endless(l, l->i, LEXER_STRING);
	} else if (h.quoted || end == l->i) {
		lex_set(l, l->i, next, LEXER_STRING);
		l->i = next;
	} else {
		push(b, BODY, 0);
		if (b->n > 0)
			b->frames[b->n - 1].end = end;
	}
}

/* A bracket in the innermost part, which it may end. */
static void count_bracket(struct bash *b, struct frame *f, uint8_t c)
{
	bool round = f->part == COMMAND || f->part == ARITHMETIC;

	if (c == (round ? '(' : '{')) {
		f->depth++;
		return;
	}
	if (c != (round ? ')' : '}'))
		return;
	if (f->depth > 0) {
		f->depth--;
		return;
	}
	if (f->part == BACK)
		return;
	if (f->part == ARITHMETIC)
		b->l->i += b->l->t[b->l->i] == ')';
	b->n--;
}

static void read_bracket(struct bash *b)
{
	struct lex *l = b->l;
	struct frame *f = b->n > 0 ? &b->frames[b->n - 1] : NULL;
	uint8_t c = l->t[l->i];

	if (c == '(' && l->t[l->i + 1] == '(' &&
	    (f == NULL || f->part != ARITHMETIC)) {
		push(b, ARITHMETIC, 2);
		return;
	}
	l->i++;
	if (f != NULL)
		count_bracket(b, f, c);
}

static void read_back_quote(struct bash *b)
{
	if (b->n > 0 && b->frames[b->n - 1].part == BACK) {
		b->l->i++;
		b->n--;
	} else {
		push(b, BACK, 1);
	}
}

static void read_one(struct bash *b)
{
	struct lex *l = b->l;

	switch (l->t[l->i]) {
	case '\'':
		read_single(l, l->i + 1, false);
		return;
	case '"':
		push(b, DOUBLE, 1);
		return;
	case '`':
		read_back_quote(b);
		return;
	case '$':
		read_dollar(b);
		return;
	case '#':
		read_comment(b);
		return;
	case '\\':
		read_backslash(l);
		return;
	case '<':
		read_heredoc(b);
		return;
	case '\n':
		l->i++;
		if (b->n_heredocs > 0)
			read_bodies(b);
		return;
	default:
		read_bracket(b);
	}
}

void lex_bash(struct lex *l)
{
	static const bool stops[256] = { ['\''] = true,
		['"'] = true,
		['`'] = true,
		['$'] = true,
		['#'] = true,
		['\\'] = true,
		['<'] = true,
		['\n'] = true,
		['('] = true,
		[')'] = true,
		['{'] = true,
		['}'] = true };
	struct bash b = { .l = l };

	while (l->i < l->n) {
		enum part in = b.n > 0 ? b.frames[b.n - 1].part : COMMAND;

		if (in == DOUBLE || in == BODY) {
			read_text(&b);
			continue;
		}
		while (l->i < l->n && !stops[l->t[l->i]])
			l->i++;
		if (l->i < l->n)
			read_one(&b);
	}
}
