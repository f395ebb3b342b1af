/*
 * policy/lexer.c - the table of lexers, and the text as rules see it.  Linked
 * by bailiff-screen and bailiff-policy; pure.  The text is hostile.
 */
#include "policy/lexer.h"

#include <string.h>

#include "policy/lex.h"
#include "policy/lex_fold.h"

#define UNSURE_MAX 4

struct lexer {
	const char *language;
	void (*mark)(struct lex *l);
	enum lex_folding folding;
	/* Texts that may be read either way. */
	const char *unsure[UNSURE_MAX];
	bool declares_encoding;
};

/* clang-format off */
static const struct lexer lexers[] = {
	{ "bash",       lex_bash,       FOLD_NOTHING,    { NULL },           false },
	{ "c",          lex_c,          FOLD_NOTHING,    { "?\?/", NULL },   false },
	{ "cpp",        lex_cpp,        FOLD_NOTHING,    { "?\?/", NULL },   false },
	{ "go",         lex_go,         FOLD_NOTHING,    { NULL },           false },
	{ "java",       lex_java,       FOLD_NOTHING,    { NULL },           false },
	{ "javascript", lex_javascript, FOLD_ESCAPES,    { "<!--", "-->" },  false },
	{ "python",     lex_python,     FOLD_LOOK_ALIKE, { NULL },           true },
	{ "r",          lex_r,          FOLD_NOTHING,    { NULL },           false },
	{ "ruby",       lex_ruby,       FOLD_NOTHING,
	    { " /", " %", " <<", " ?" }, true },
};
/* clang-format on */

const struct lexer *lexer_find(const char *language)
{
	for (size_t i = 0; i < sizeof(lexers) / sizeof(lexers[0]); i++)
		if (strcmp(lexers[i].language, language) == 0)
			return &lexers[i];
	return NULL;
}

unsigned lexer_ways(const struct lexer *l, const uint8_t *text, size_t n)
{
	for (size_t i = 0; i < UNSURE_MAX && l->unsure[i] != NULL; i++)
		if (memmem(text, n, l->unsure[i], strlen(l->unsure[i])) != NULL)
			return 2;
	return 1;
}

void lexer_mark(const struct lexer *l, unsigned way, const uint8_t *text,
    size_t n, uint8_t *classes)
{
	struct lex lex = { .t = text, .n = n, .classes = classes, .way = way };

	memset(classes, LEXER_CODE, n);
	l->mark(&lex);
}

bool lexer_folds(const struct lexer *l, const uint8_t *text, size_t n)
{
	return fold_may(l->folding, text, n);
}

void lexer_fold(
    const struct lexer *l, uint8_t *text, size_t n, uint8_t *classes)
{
	fold_names(l->folding, text, n, classes);
}

size_t lexer_unescape(
    const struct lexer *l, const uint8_t *text, size_t n, uint8_t *to)
{
	size_t len;

	if (l->mark != lex_java || memmem(text, n, "\\u", 2) == NULL)
		return 0;
	len = fold_unescape(text, n, n, to);
	memset(to + len, 0, LEXER_PAD);
	return len;
}

size_t lexer_unescaped_from(const uint8_t *text, size_t n, size_t at)
{
	return fold_unescaped_from(text, n, at);
}

/* No branch in the loop: a compiler makes it 16 bytes at a time. */
static void view_plain(const uint8_t *restrict text, size_t n,
    const uint8_t *restrict classes, uint8_t wanted, uint8_t *restrict to)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t keep =
		    (classes[i] & wanted) != 0 ||
		            (text[i] == '\n' && classes[i] != LEXER_SPACE)
		        ? 0xff
		        : 0;

		to[i] = (uint8_t)((text[i] & keep) | (' ' & ~keep));
	}
}

size_t lexer_view(const uint8_t *text, size_t n, const uint8_t *classes,
    unsigned wanted, uint8_t *to)
{
	size_t len = 0;

	view_plain(text, n, classes, (uint8_t)wanted, to);
	if (memchr(classes, LEXER_DROP, n) == NULL)
		return n;
	for (size_t i = 0; i < n; i++)
		if (classes[i] != LEXER_DROP)
			to[len++] = to[i];
	return len;
}

size_t lexer_viewed_from(const uint8_t *classes, size_t n, size_t at)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (classes[i] == LEXER_DROP)
			continue;
		if (len == at)
			return i;
		len++;
	}
	return n;
}

/* "coding: utf-8" and its kin: bytes mean what they do in ASCII. */
static bool is_plain_encoding(const uint8_t *name, size_t len)
{
	static const char *const plain[] = { "utf-8", "utf8", "utf_8", "ascii",
		"us-ascii", "latin-1", "latin1", "iso-8859-1", "utf-8-unix" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (len == strlen(plain[i]) &&
		    strncasecmp((const char *)name, plain[i], len) == 0)
			return true;
	return false;
}

static bool line_is_encoded(const uint8_t *line, size_t len)
{
	const uint8_t *hash = memchr(line, '#', len);
	const uint8_t *word;
	size_t at;
	size_t end;

	if (hash == NULL)
		return false;
	word = memmem(hash, len - (size_t)(hash - line), "coding", 6);
	if (word == NULL)
		return false;
	at = (size_t)(word - line) + 6;
	if (at >= len || (line[at] != ':' && line[at] != '='))
		return false;
	at++;
	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	end = at;
	while (end < len &&
	       (lex_is_word(line[end]) || line[end] == '-' || line[end] == '.'))
		end++;
	return end > at && !is_plain_encoding(line + at, end - at);
}

bool lexer_is_encoded(const struct lexer *l, const uint8_t *text, size_t n)
{
	size_t at = 0;

	for (int line = 0; l->declares_encoding && line < 2 && at < n; line++) {
		size_t end = at;

		while (end < n && text[end] != '\n' && text[end] != '\r')
			end++;
		if (line_is_encoded(text + at, end - at))
			return true;
		at = end + 1;
	}
	return false;
}
