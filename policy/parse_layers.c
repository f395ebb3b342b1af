/*
 * policy/parse_layers.c - what is made for runs beforehand: "installer" of
 * a language file, "libraries" of a policy.  Linked by bailiff-policy and the
 * supervisor; pure.
 */
#include <regex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "policy/libraries.h"
#include "policy/parse.h"
#include "policy/parse_layers.h"
#include "policy/shape.h"

static void take_command(struct reader *r, uint32_t node, void *to)
{
	struct language_layer *layer = to;

	layer->n_argv = parse_rows(r, node, PARSE_ROWS(layer->argv, 1));
}

/* Lines, so that a program can be read in its file. */
static void take_code(struct reader *r, uint32_t node, void *to)
{
	struct language_layer *layer = to;
	size_t used = 0;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char line[512] = "";
		size_t len;

		if (!reader_is(r, i, SCAN_STRING))
			return;
		if (scan_string(&r->scan, i, line, sizeof(line), &len) < 0 ||
		    len != strlen(line) ||
		    used + len + 2 > sizeof(layer->code)) {
			reader_fault(r, i, "too long");
			return;
		}
		memcpy(layer->code + used, line, len);
		used += len;
		layer->code[used++] = '\n';
		layer->code[used] = '\0';
	}
}

static void take_making(struct reader *r, uint32_t node, void *to)
{
	struct language_layer *layer = to;

	parse_env(r, node, PARSE_ENV(layer->making, &layer->n_making));
}

static void take_env(struct reader *r, uint32_t node, void *to)
{
	struct language_layer *layer = to;

	parse_env(r, node, PARSE_ENV(layer->env, &layer->n_env));
}

static void take_files(struct reader *r, uint32_t node, void *to)
{
	struct language_installer *i = to;
	regex_t pattern;

	if (!reader_text(r, node, i->files, sizeof(i->files)))
		return;
	if (regcomp(&pattern, i->files, REG_EXTENDED) != 0) {
		reader_fault(r, node, "not an extended regular expression");
		return;
	}
	if (pattern.re_nsub < 2)
		reader_fault(r, node, "no (NAME) and (VERSION) in it");
	regfree(&pattern);
}

static void take_folds(struct reader *r, uint32_t node, void *to)
{
	struct language_installer *i = to;

	(void)reader_bool(r, node, &i->folds);
}

/* clang-format off */
static const struct reader_key installer_keys[] = {
	{ "command", take_command, offsetof(struct language_installer, layer), true,  NULL },
	{ "code",    take_code,    offsetof(struct language_installer, layer), false, NULL },
	{ "making",  take_making,  offsetof(struct language_installer, layer), false, NULL },
	{ "env",     take_env,     offsetof(struct language_installer, layer), true,  NULL },
	{ "files",   take_files,   0, true, NULL },
	{ "folds",   take_folds,   0, true, NULL },
};
/* clang-format on */
const struct reader_keys parse_installer_keys = { "an installer",
	sizeof(installer_keys) / sizeof(installer_keys[0]), installer_keys };

void parse_installer(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	reader_object(r, node, &parse_installer_keys, &l->installer);
}

/* As it is written; parse_libraries_settle makes a name of it. */
static bool take_library(struct reader *r, uint32_t node, struct library *ret)
{
	char text[LIBRARY_TEXT_MAX];
	struct library folded;
	size_t n;

	if (!reader_text(r, node, text, sizeof(text)))
		return false;
	/* Before the language is known: what any of them takes. */
	if (!library_parse(true, text, &folded)) {
		reader_fault(r, node,
		    "not a library such as \"six\" or \"six==1.16.0\"");
		return false;
	}
	n = strcspn(text, "=");
	memcpy(ret->name, text, n);
	ret->name[n] = '\0';
	memcpy(ret->version, folded.version, sizeof(ret->version));
	return true;
}

static void take_allow(struct reader *r, uint32_t node, void *to)
{
	struct policy_language *l = to;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	if (r->scan.nodes[node].n > POLICY_LIBRARIES_MAX) {
		reader_fault(
		    r, node, "more than %d libraries", POLICY_LIBRARIES_MAX);
		return;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		if (take_library(r, i, &l->libraries[l->n_libraries]))
			l->n_libraries++;
}

static void take_from(struct reader *r, uint32_t node, void *to)
{
	struct policy_language *l = to;

	(void)parse_root(r, node, l->libraries_from);
}

/* clang-format off */
static const struct reader_key library_keys[] = {
	{ "allow", take_allow, 0, true, &shape_library_names },
	{ "from",  take_from,  0, true, &shape_library_from },
};
/* clang-format on */
const struct reader_keys parse_library_keys = { "libraries",
	sizeof(library_keys) / sizeof(library_keys[0]), library_keys };

void parse_libraries(struct reader *r, uint32_t node, struct policy_language *l)
{
	l->n_libraries = 0;
	l->libraries_from[0] = '\0';
	if (r->scan.nodes[node].kind != SCAN_ARRAY)
		reader_object(r, node, &parse_library_keys, l);
	else if (r->scan.nodes[node].n > 0)
		reader_fault(r, node,
		    "write {\"allow\": [...], \"from\": \"/a/directory\"}");
}

static int compare_libraries(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct library));
}

void parse_libraries_settle(
    struct reader *r, uint32_t node, struct policy_language *l)
{
	if (l->n_libraries > 0 && l->language.installer.layer.n_argv == 0) {
		reader_fault(r, node,
		    "%s has no libraries that could be installed; leave them "
		    "out",
		    l->language.name);
		return;
	}
	for (size_t i = 0; i < l->n_libraries; i++) {
		char text[LIBRARY_TEXT_MAX];

		library_text(&l->libraries[i], text);
		memset(&l->libraries[i], 0, sizeof(l->libraries[i]));
		if (!library_parse(
		        l->language.installer.folds, text, &l->libraries[i]))
			reader_fault(r, node,
			    "\"%s\" is no library of %s; write it in lower "
			    "case",
			    text, l->language.name);
	}
	qsort(l->libraries, l->n_libraries, sizeof(l->libraries[0]),
	    compare_libraries);
	for (size_t i = 0; i + 1 < l->n_libraries; i++)
		if (compare_libraries(&l->libraries[i], &l->libraries[i + 1]) ==
		    0)
			reader_fault(r, node,
			    "the library \"%s\" stands here twice",
			    l->libraries[i].name);
}
