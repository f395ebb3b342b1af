/*
 * policy/import.c - what an import of a module looks like in each language.
 * Linked by bailiff-screen and bailiff-policy; pure.
 *
 * A form looks at code, or at code and those strings that are a plain name; so
 * neither a comment nor a text that speaks of an import is one.  A name that is
 * made at run time is none either: that is for the sandbox.
 */
#include "policy/import.h"

#include <stdio.h>
#include <string.h>

#define CODE  LEXER_CODE
#define NAMES (LEXER_CODE | LEXER_NAME)
/* A Python name with its dots and what may stand between. */
#define PY  "[\\w.\\x80-\\xff \\t\\f]"
#define GAP "[ \\t\\f]"

static const struct import_form python[] = {
	/* import a, b as c, M; from x import M: M comes with x. */
	{ CODE, "\\bimport" GAP "+(" PY "+," GAP "*)*%M\\b" },
	{ CODE, "\\bimport\\s*\\([\\w.\\x80-\\xff\\s,]*\\b%M\\b" },
	{ CODE, "\\bfrom" GAP "+%M\\b" },
	{ NAMES,
	    "\\b(__import__|import_module|load_module|find_spec)\\s*\\(\\s*"
	    "[rRuUbB]?[\"']{1,3}%M[\"'.]" },
	{ NAMES, "\\bmodules\\s*\\[\\s*[rRuUbB]?[\"']{1,3}%M[\"'.]" },
	{ 0, NULL },
};

static const struct import_form javascript[] = {
	{ NAMES, "\\b(require|import|from|getBuiltinModule|binding)\\s*"
	         "(\\?\\.)?\\s*\\(?\\s*[\"'`](node:)?%M(/[^\"'`]*)?[\"'`]" },
	{ 0, NULL },
};

static const struct import_form java[] = {
	/* With its package a class needs no import. */
	{ CODE, "(^|[^\\w.$\\x80-\\xff])%M\\b" },
	{ NAMES, "\\b(forName|loadClass)\\s*\\(\\s*\"%M[\".]" },
	{ 0, NULL },
};

static const struct import_form c[] = {
	{ NAMES,
	    "^\\s*(#|%%:|\\?\\?=)\\s*(include|include_next|import|define)\\b"
	    "[^\\n]*[<\"]%M[>\"]" },
	{ NAMES, "\\bimport\\s*[<\"]%M[>\"]" },
	{ 0, NULL },
};

static const struct import_form go[] = {
	{ NAMES, "\\bimport\\s*([\\w.]+\\s*)?[\"`]%M(/[^\"`\\n]*)?[\"`]" },
	{ NAMES, "\\bimport\\s*\\([^)]*[\"`]%M(/[^\"`\\n]*)?[\"`]" },
	{ 0, NULL },
};

static const struct import_form r[] = {
	{ NAMES, "\\b(library|require|requireNamespace|loadNamespace|"
	         "attachNamespace|getNamespace)\\s*\\(\\s*"
	         "((package|ns|namespace)\\s*=\\s*)?[\"']?%M[\"'\\s,)]" },
	{ NAMES, "(^|[^\\w.])[\"']?%M[\"']?\\s*::" },
	{ 0, NULL },
};

static const struct import_form ruby[] = {
	{ NAMES,
	    "\\b(require|require_relative|load|autoload|gem)\\b\\s*\\(?\\s*"
	    "(:\\w+\\s*,\\s*)?(%%[qQ]?[^\\w\\s]|[\"'])%M(\\.rb)?"
	    "(/[\\w./-]*)?[\"')\\]}>|!/]" },
	{ 0, NULL },
};

/* A module of bash is a command. */
static const struct import_form bash[] = {
	{ NAMES, "(^|[\\s;&|(`{\"'=!])(/[\\w./-]*/)?%M([\\s;&|)`<>}\"']|$)" },
	{ 0, NULL },
};

static const struct {
	const char *language;
	const struct import_form *forms;
	const char *dot; /* between the parts of a name */
} languages[] = {
	{ "bash", bash, "\\." },
	{ "c", c, "\\." },
	{ "cpp", c, "\\." },
	{ "go", go, "\\." },
	{ "java", java, "\\s*\\.\\s*" },
	{ "javascript", javascript, "\\." },
	{ "python", python, GAP "*\\." GAP "*" },
	{ "r", r, "\\." },
	{ "ruby", ruby, "\\." },
};

const struct import_form *import_forms(const char *language)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		if (strcmp(languages[i].language, language) == 0)
			return languages[i].forms;
	return NULL;
}

static const char *dot_of(const char *language)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		if (strcmp(languages[i].language, language) == 0)
			return languages[i].dot;
	return "\\.";
}

struct writer {
	char *to;
	size_t len;
};

static void put(struct writer *w, const char *text, size_t n)
{
	if (w->len + n < IMPORT_PATTERN_MAX) {
		memcpy(w->to + w->len, text, n);
		w->to[w->len + n] = '\0';
	}
	w->len += n; /* beyond the end: too long */
}

static void put_module(struct writer *w, const char *module, const char *dot)
{
	for (; *module != '\0'; module++) {
		if (*module == '.')
			put(w, dot, strlen(dot));
		else if (strchr("+-", *module) != NULL)
			put(w, "\\", 1);
		if (*module != '.')
			put(w, module, 1);
	}
}

int import_pattern(const char *language, const struct import_form *form,
    const char *module, struct import_text *ret, struct error *e)
{
	struct writer w = { ret->pattern, 0 };

	for (const char *at = form->pattern; *at != '\0'; at++) {
		if (*at == '%' && at[1] == 'M')
			put_module(&w, module, dot_of(language));
		else
			put(&w, at, 1);
		at += *at == '%';
	}
	if (w.len >= IMPORT_PATTERN_MAX)
		return FAIL(e, ERROR_LIMIT, "the module's name is too long");
	return 0;
}
