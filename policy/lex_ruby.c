/*
 * policy/lex_ruby.c - Ruby: strings with code in them, % literals that nest,
 * heredocs, regular expressions told from divisions, =begin.  Linked by
 * bailiff-screen and bailiff-policy; pure.
 *
 * Rules: docs.ruby-lang.org/en/3.1, doc/syntax/literals.rdoc and comments.rdoc.
 */
#include "policy/lex.h"

#define HEREDOCS_MAX 8

/* A string with code in it, or the code of one in which braces are open. */
struct frame {
	bool is_code;
	size_t depth; /* of braces, or of the string's own brackets */
	size_t end;   /* of a heredoc's body; 0: by 'close' */
	uint8_t open, close;
	bool codes; /* #{} is code */
};

struct heredoc {
	size_t from, len; /* its word */
	bool indented, codes;
};

struct ruby {
	struct lex *l;
	size_t n, n_heredocs;
	struct frame frames[LEX_DEPTH_MAX];
	struct heredoc heredocs[HEREDOCS_MAX];
};

static void push(struct ruby *r, struct frame f)
{
	if (r->n == LEX_DEPTH_MAX)
		lex_endless(r->l, r->l->i, LEXER_STRING);
	else
		r->frames[r->n++] = f;
}

/* Whether the string that 'f' is ends at 'i'. */
static bool ends(const struct lex *l, struct frame *f, size_t i)
{
	if (f->end > 0)
		return i >= f->end;
	if (l->t[i] == f->open && f->open != f->close) {
		f->depth++;
		return false;
	}
	if (l->t[i] != f->close)
		return false;
	if (f->depth == 0)
		return true;
	f->depth--;
	return false;
}

static void read_text(struct ruby *r)
{
	struct lex *l = r->l;
	struct frame *f = &r->frames[r->n - 1];
	size_t from = l->i;
	size_t i = from;

	while (i < l->n && !ends(l, f, i)) {
		if (f->codes && l->t[i] == '#' && l->t[i + 1] == '{') {
			lex_set(l, from, i, LEXER_STRING);
			l->i = i + 2;
			push(r, (struct frame){ .is_code = true });
			return;
		}
		i += l->t[i] == '\\' ? 2 : 1;
	}
	if (i >= l->n && f->end == 0) {
		lex_endless(l, from, LEXER_STRING);
		return;
	}
	if (i > l->n)
		i = l->n;
	if (f->end == 0)
		lex_string(l, from, i);
	else
		lex_set(l, from, i, LEXER_STRING);
	l->i = f->end > 0 ? i : i + 1;
	r->n--;
}

static void open_text(struct ruby *r, size_t from, struct frame f)
{
	r->l->i = from;
	push(r, f);
	if (r->l->i < r->l->n)
		read_text(r);
}

/*
 * Whether what begins at l->i, and goes on at 'behind', is a literal and no
 * operator.  Whether "a /x" is a call or a division depends on what a is: way 0
 * takes it for a call, way 1 for a variable.
 */
static bool is_literal(const struct lex *l, size_t behind)
{
	static const char *const words[] = { "if", "unless", "while", "until",
		"and", "or", "not", "return", "when", "in", "then", "else",
		"elsif", "do", "begin", "case", "puts", "print", "p", "raise",
		"require", "load", "eval", "system", "exec", "yield", NULL };
	bool gap;
	size_t last = lex_before(l, l->i, false, &gap);
	uint8_t c = l->t[last];

	if (last == l->n || c == '\n')
		return true;
	if (lex_is_word(c) || c == '?' || c == '!')
		return (l->way == 0 && gap && !lex_is_blank(l->t[behind]) &&
		           l->t[behind] != '\n' && l->t[behind] != '=') ||
		       lex_is_one_of(l, last, words);
	return strchr(")]}\"'`", c) == NULL;
}

static uint8_t partner(uint8_t c)
{
	switch (c) {
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	case '<':
		return '>';
	default:
		return c;
	}
}

/* %q(...), %(...), %w[...]. */
static void read_percent(struct ruby *r)
{
	struct lex *l = r->l;
	size_t i = l->i + 1;
	bool typed = l->t[i] != 0 && strchr("qQwWiIxrs", l->t[i]) != NULL;
	uint8_t kind = typed ? l->t[i] : 'Q';
	uint8_t open = l->t[i + (typed ? 1u : 0u)];

	if (i + 1 >= l->n || lex_is_word(open) || lex_is_blank(open) ||
	    open == '\n' || open == 0 || !is_literal(l, i)) {
		l->i++;
		return;
	}
	open_text(r, i + (typed ? 2u : 1u),
	    (struct frame){ .open = open,
	        .close = partner(open),
	        .codes = strchr("qwis", kind) == NULL });
}

static void read_slash(struct ruby *r)
{
	if (!is_literal(r->l, r->l->i + 1))
		r->l->i++;
	else
		open_text(r, r->l->i + 1,
		    (struct frame){ .open = '/', .close = '/', .codes = true });
}

/* Heredocs in the code of a heredoc would be looked for again and again. */
static bool in_heredoc(const struct ruby *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->frames[i].end > 0)
			return true;
	return false;
}

/* <<WORD, <<-WORD, <<~"WORD": its body begins on the next line. */
static void read_heredoc(struct ruby *r)
{
	struct lex *l = r->l;
	struct heredoc h = { .codes = true };
	size_t i = l->i + 2;
	uint8_t quote = 0;

	h.indented = l->t[i] == '-' || l->t[i] == '~';
	i += h.indented;
	if (l->t[i] == '"' || l->t[i] == '\'' || l->t[i] == '`')
		quote = l->t[i++];
	h.from = i;
	while (i < l->n && (quote != 0 ? l->t[i] != quote && l->t[i] != '\n'
	                               : lex_is_word(l->t[i])))
		i++;
	h.len = i - h.from;
	h.codes = quote != '\'';
	if ((!h.indented && !is_literal(l, h.from)) || h.len == 0 ||
	    r->n_heredocs == HEREDOCS_MAX || lex_is_digit(l->t[h.from]) ||
	    in_heredoc(r)) {
		l->i += 2;
		return;
	}
	r->heredocs[r->n_heredocs++] = h;
	l->i = quote != 0 && l->t[i] == quote ? i + 1 : i;
}

/* The line that ends 'h' from 'at' on; *ret_next is behind it. */
static size_t heredoc_end(
    const struct lex *l, const struct heredoc *h, size_t at, size_t *ret_next)
{
	while (at < l->n) {
		size_t end = lex_find(l, at, '\n');
		size_t word = at;

		while (h->indented && word < end && lex_is_blank(l->t[word]))
			word++;
		*ret_next = end;
		if (word + h->len <= end &&
		    memcmp(l->t + word, l->t + h->from, h->len) == 0 &&
		    (word + h->len == end ||
		        (l->t[end - 1] == '\r' && word + h->len + 1 == end)))
			return at;
		at = end + 1;
	}
	*ret_next = l->n;
	return l->n;
}

static void read_bodies(struct ruby *r)
{
	struct lex *l = r->l;
	struct heredoc h = r->heredocs[0];
	size_t next;
	size_t end;

	r->n_heredocs--;
	memmove(r->heredocs, r->heredocs + 1,
	    r->n_heredocs * sizeof(r->heredocs[0]));
	end = heredoc_end(l, &h, l->i, &next);
	if (end == l->n) {
		/* Perhaps a shift: nothing is hidden. */
		lex_endless(l, l->i, LEXER_STRING);
	} else if (!h.codes || end == l->i) {
		lex_set(l, l->i, end, LEXER_STRING);
		l->i = next;
	} else {
		push(r, (struct frame){ .end = end, .codes = true });
	}
}

static bool is_line(const struct lex *l, size_t at, const char *word)
{
	uint8_t behind;

	if (!lex_starts(l, at, word))
		return false;
	behind = l->t[at + strlen(word)];
	return behind == 0 || lex_is_blank(behind) || behind == '\n';
}

static void read_begin(struct lex *l)
{
	size_t i = l->i;

	while (i < l->n && !is_line(l, i, "=end"))
		i = lex_find(l, i, '\n') + 1;
	if (i >= l->n) {
		lex_endless(l, l->i, LEXER_COMMENT);
		return;
	}
	i = lex_find(l, i, '\n');
	lex_set(l, l->i, i, LEXER_COMMENT);
	l->i = i;
}

/* At the first byte of a line. */
static void read_line_start(struct ruby *r)
{
	struct lex *l = r->l;

	if (r->n_heredocs > 0) {
		read_bodies(r);
	} else if (l->t[l->i] == '=' && is_line(l, l->i, "=begin")) {
		read_begin(l);
	} else if (r->n == 0 && l->t[l->i] == '_' &&
	           is_line(l, l->i, "__END__")) {
		lex_set(l, l->i, l->n, LEXER_COMMENT);
		l->i = l->n;
	}
}

/* ?" is a character; $" and $' are variables. */
static void read_sigil(struct lex *l)
{
	uint8_t next = l->t[l->i + 1];
	bool alone = !lex_is_word(l->t[l->i + 2]);

	if (l->t[l->i] == '$' ? next != 0 && strchr("\"'`/;,.<>", next) != NULL
	                      : alone && !lex_is_blank(next) && next != '\n' &&
	                            is_literal(l, l->i + 1))
		l->i++;
	l->i++;
}

static void read_brace(struct ruby *r)
{
	struct frame *f = r->n > 0 ? &r->frames[r->n - 1] : NULL;
	uint8_t c = r->l->t[r->l->i++];

	if (f == NULL)
		return;
	if (c == '{')
		f->depth++;
	else if (f->depth > 0)
		f->depth--;
	else
		r->n--;
}

static void read_one(struct ruby *r)
{
	struct lex *l = r->l;
	uint8_t c = l->t[l->i];

	switch (c) {
	case '#':
		lex_line_comment(l);
		return;
	case '"':
	case '`':
	case '\'':
		open_text(r, l->i + 1,
		    (struct frame){
		        .open = c, .close = c, .codes = c != '\'' });
		return;
	case '%':
		read_percent(r);
		return;
	case '/':
		read_slash(r);
		return;
	case '<':
		if (l->t[l->i + 1] == '<')
			read_heredoc(r);
		else
			l->i++;
		return;
	case '?':
	case '$':
		read_sigil(l);
		return;
	case '\n':
		l->i++;
		read_line_start(r);
		return;
	case '\\':
		if (l->t[l->i + 1] == '\n')
			lex_set(l, l->i, l->i + 2, LEXER_SPACE);
		l->i += 2;
		return;
	default:
		read_brace(r);
	}
}

void lex_ruby(struct lex *l)
{
	static const bool stops[256] = { ['"'] = true,
		['\''] = true,
		['`'] = true,
		['#'] = true,
		['/'] = true,
		['%'] = true,
		['<'] = true,
		['?'] = true,
		['$'] = true,
		['\n'] = true,
		['\\'] = true,
		['{'] = true,
		['}'] = true };
	struct ruby r = { .l = l };

	read_line_start(&r);
	while (l->i < l->n) {
		if (r.n > 0 && !r.frames[r.n - 1].is_code) {
			read_text(&r);
			continue;
		}
		while (l->i < l->n && !stops[l->t[l->i]])
			l->i++;
		if (l->i < l->n)
			read_one(&r);
	}
}
