/*
 * fuzz/fuzz_lexer.c - the lexers of all languages: every byte gets a class that
 * there is, views keep their promises, and every way leads back into the text.
 * The first byte of an input chooses the language.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "policy/lexer.h"

static void try_way(const struct lexer *l, unsigned way, uint8_t *text,
    size_t n, uint8_t *classes)
{
	uint8_t *view = calloc(1, n + 1);
	size_t lines = 0;
	size_t len;

	MUST(view != NULL);
	lexer_mark(l, way, text, n, classes);
	for (size_t i = 0; i < n; i++)
		MUST(classes[i] != 0 && classes[i] <= LEXER_DROP);
	if (lexer_folds(l, text, n))
		lexer_fold(l, text, n, classes);
	len = lexer_view(text, n, classes, LEXER_CODE, view);
	MUST(len <= n);
	for (size_t i = 0; i < n; i++)
		lines += classes[i] == LEXER_DROP;
	MUST(len + lines == n);
	MUST(lexer_viewed_from(classes, n, len) == n);
	MUST(len == 0 || lexer_viewed_from(classes, n, len - 1) < n);
	/* All bytes together are the text again. */
	len = lexer_view(text, n, classes,
	    LEXER_CODE | LEXER_STRING | LEXER_COMMENT | LEXER_SPACE, view);
	for (size_t i = 0, at = 0; i < n; i++)
		if (classes[i] != LEXER_DROP)
			MUST(view[at++] == text[i]);
	free(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const languages[] = { "bash", "c", "cpp", "go",
		"java", "javascript", "python", "r", "ruby" };
	const struct lexer *l;
	uint8_t *text;
	uint8_t *made;
	uint8_t *classes;
	size_t n;

	if (size == 0)
		return 0;
	n = size - 1;
	l = lexer_find(
	    languages[data[0] % (sizeof(languages) / sizeof(languages[0]))]);
	text = calloc(1, n + LEXER_PAD);
	made = calloc(1, n + LEXER_PAD);
	classes = calloc(1, n + 1);
	MUST(text != NULL && made != NULL && classes != NULL);
	memcpy(text, data + 1, n);
	(void)lexer_is_encoded(l, text, n);
	size = lexer_unescape(l, text, n, made);
	MUST(size <= n);
	MUST(size == 0 || lexer_unescaped_from(text, n, size - 1) < n);
	for (unsigned way = 0; way < lexer_ways(l, text, n); way++)
		try_way(l, way, size > 0 ? made : text, size > 0 ? size : n,
		    classes);
	free(text);
	free(made);
	free(classes);
	return 0;
}
