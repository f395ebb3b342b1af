/*
 * policy/lexer.h - which bytes of a program text are code, string or comment.
 * One lexer for each language that code rules know; pure functions over bytes,
 * linear in their number, no allocation.  The text may be anything.
 *
 * A lexer is no compiler.  Where a language's own reading depends on what a
 * lexer cannot know (trigraphs, HTML-like comments), there are several ways to
 * read the text and all of them count; where a string or comment has no end,
 * its bytes are code as well.  Either may add a hit and never hides one.
 */
#ifndef POLICY_LEXER_H
#define POLICY_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readable bytes of 0 that must follow every text given to a lexer. */
#define LEXER_PAD 16

/* What a byte is; several bits where it cannot be told apart. */
enum lexer_class {
	LEXER_CODE = 1, /* the quotes of a string too */
	LEXER_STRING = 2,
	LEXER_COMMENT = 4,
	LEXER_NAME = 8, /* beside STRING: the whole string is one plain name */
	LEXER_SPACE = 16, /* joins two lines: stands for a space */
	LEXER_DROP = 32,  /* as if it were not there: "sys\<newline>tem" */
};

struct lexer;

/* By the name of a language ("python"), or NULL. */
const struct lexer *lexer_find(const char *language);

/*
 * What the language replaces before it reads anything: Java's \u0069.  Returns
 * the bytes written to 'to' (n of room and the padding), or 0 when the text
 * stands as it is.
 */
size_t lexer_unescape(
    const struct lexer *l, const uint8_t *text, size_t n, uint8_t *to);

/* Where byte 'at' of lexer_unescape's output comes from. */
size_t lexer_unescaped_from(const uint8_t *text, size_t n, size_t at);

/* In how many ways a text may be read, at least 1, at most LEXER_WAYS_MAX. */
#define LEXER_WAYS_MAX 2
unsigned lexer_ways(const struct lexer *l, const uint8_t *text, size_t n);

/* Set classes[0..n), reading the text in way 0, 1, ... */
void lexer_mark(const struct lexer *l, unsigned way, const uint8_t *text,
    size_t n, uint8_t *classes);

/*
 * Letters that a language takes for others (Python: full-width ones; JavaScript:
 * \u0065 in a name), in what lexer_mark called code: written into 'text', the
 * bytes too many become LEXER_DROP.  lexer_folds says whether there may be any.
 */
bool lexer_folds(const struct lexer *l, const uint8_t *text, size_t n);
void lexer_fold(
    const struct lexer *l, uint8_t *text, size_t n, uint8_t *classes);

/*
 * The text as rules see it: bytes without a class of 'wanted' are spaces (new
 * lines stay), dropped ones are gone.  'to' has room for n; returns the length.
 */
size_t lexer_view(const uint8_t *text, size_t n, const uint8_t *classes,
    unsigned wanted, uint8_t *to);

/* Where byte 'at' of a view comes from. */
size_t lexer_viewed_from(const uint8_t *classes, size_t n, size_t at);

/*
 * Whether the first lines declare an encoding in which other bytes than these
 * are the program (Python PEP 263, Ruby's magic comment): nothing can then be
 * said about it.
 */
bool lexer_is_encoded(const struct lexer *l, const uint8_t *text, size_t n);

#endif
