/*
 * policy/parse_modules.c - modules: what a language's data says of them, and
 * which ones a policy denies.  Linked by bailiff-policy and the supervisor;
 * pure.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/path.h"
#include "policy/shape.h"

#define NAME_MARK "{name}"

/* "ctypes", "xml.etree": what a program would import. */
static bool is_module(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	for (;;) {
		size_t n = strspn(name, letters);

		if (n == 0 || (name[0] >= '0' && name[0] <= '9'))
			return false;
		if (name[n] == '\0')
			return true;
		if (name[n] != '.')
			return false;
		name += n + 1;
	}
}

static bool take_module(
    struct reader *r, uint32_t node, char ret[POLICY_NAME_MAX])
{
	if (!reader_text(r, node, ret, POLICY_NAME_MAX))
		return false;
	if (is_module(ret))
		return true;
	reader_fault(
	    r, node, "not a module's name such as \"ctypes\" or \"xml.etree\"");
	return false;
}

static void take_directories(struct reader *r, uint32_t node, void *to)
{
	struct language_modules *m = to;

	m->n_directories = parse_rows(r, node, PARSE_ROWS(m->directories, 1));
	for (size_t i = 0; i < m->n_directories; i++)
		if (path_judge(m->directories[i]) != PATH_FINE)
			reader_fault(r, node,
			    "\"%s\" is no absolute path without . and ..",
			    m->directories[i]);
}

static void take_files(struct reader *r, uint32_t node, void *to)
{
	struct language_modules *m = to;

	m->n_files = parse_rows(r, node, PARSE_ROWS(m->files, 1));
	for (size_t i = 0; i < m->n_files; i++)
		if (strstr(m->files[i], NAME_MARK) == NULL)
			reader_fault(
			    r, node, "\"%s\" lacks " NAME_MARK, m->files[i]);
}

static void take_interpreters(struct reader *r, uint32_t node, void *to)
{
	struct language_modules *m = to;

	m->n_interpreters = parse_rows(r, node, PARSE_ROWS(m->interpreters, 0));
}

static void take_mark(struct reader *r, uint32_t node, void *to)
{
	struct language_modules *m = to;

	(void)reader_text(r, node, m->mark, sizeof(m->mark));
}

static void take_inside(struct reader *r, uint32_t node, void *to)
{
	struct language_modules *m = to;

	m->n_inside = parse_rows(r, node, PARSE_ROWS(m->inside, 0));
}

static int compare_answers(const void *a, const void *b)
{
	return strcmp(((const struct module_answer *)a)->module,
	    ((const struct module_answer *)b)->module);
}

static void take_answers(struct reader *r, uint32_t node, void *to)
{
	struct language_modules *m = to;

	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	if (r->scan.nodes[node].n > POLICY_ANSWERS_MAX) {
		reader_fault(
		    r, node, "more than %d modules", POLICY_ANSWERS_MAX);
		return;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		struct module_answer *answer = &m->answers[m->n_answers];

		if (scan_key(&r->scan, i, answer->module,
		        sizeof(answer->module)) < 0 ||
		    !is_module(answer->module))
			reader_fault(r, i, "not a module's name");
		if (reader_word(
		        r, i, &parse_capability_names, &answer->capability))
			m->n_answers++;
	}
	qsort(m->answers, m->n_answers, sizeof(m->answers[0]), compare_answers);
}

/* clang-format off */
static const struct reader_key file_keys[] = {
	{ "directories",  take_directories,  0, true, NULL },
	{ "files",        take_files,        0, true, NULL },
	{ "interpreters", take_interpreters, 0, false, NULL },
	{ "mark",         take_mark,         0, false, NULL },
	{ "inside",       take_inside,       0, false, NULL },
	{ "answers",      take_answers,      0, false, NULL },
};
/* clang-format on */
const struct reader_keys parse_language_module_keys = { "modules of a language",
	sizeof(file_keys) / sizeof(file_keys[0]), file_keys };

void parse_language_modules(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	reader_object(r, node, &parse_language_module_keys, &l->modules);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void take_deny(struct reader *r, uint32_t node, void *to)
{
	struct policy_language *l = to;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	if (r->scan.nodes[node].n > POLICY_DENIED_MAX) {
		reader_fault(
		    r, node, "more than %d modules", POLICY_DENIED_MAX);
		return;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char *name = l->denied[l->n_denied];

		if (!take_module(r, i, name))
			continue;
		for (size_t j = 0; j < l->n_denied; j++)
			if (strcmp(l->denied[j], name) == 0)
				reader_fault(
				    r, i, "this module stands here twice");
		l->n_denied++;
	}
	qsort(l->denied, l->n_denied, sizeof(l->denied[0]), compare_names);
}

/* The module itself, not one inside of another: what an import begins with. */
static void take_only(struct reader *r, uint32_t node, void *to)
{
	struct policy_language *l = to;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	if (r->scan.nodes[node].n > POLICY_ONLY_MAX) {
		reader_fault(r, node, "more than %d modules", POLICY_ONLY_MAX);
		return;
	}
	l->has_only = true;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char *name = l->only[l->n_only];

		if (!take_module(r, i, name))
			continue;
		if (strchr(name, '.') != NULL)
			reader_fault(
			    r, i, "a module inside of another; name that one");
		for (size_t j = 0; j < l->n_only; j++)
			if (strcmp(l->only[j], name) == 0)
				reader_fault(
				    r, i, "this module stands here twice");
		l->n_only++;
	}
	qsort(l->only, l->n_only, sizeof(l->only[0]), compare_names);
}

static const struct reader_key deny_keys[] = {
	{ "deny", take_deny, 0, false, &shape_denied },
	{ "only", take_only, 0, false, &shape_only_modules },
};
const struct reader_keys parse_module_keys = { "modules",
	sizeof(deny_keys) / sizeof(deny_keys[0]), deny_keys };

void parse_modules(struct reader *r, uint32_t node, struct policy_language *l)
{
	reader_object(r, node, &parse_module_keys, l);
}
