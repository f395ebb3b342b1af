/*
 * policy/parse_language.c - a language data file.  Linked by bailiff-policy and
 * the supervisor; pure.  The file is ours, but is read as strictly as a policy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/parse_layers.h"
#include "policy/path.h"

static void take_name(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	(void)reader_name(r, node, l->name, sizeof(l->name));
}

static void take_source(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	if (reader_text(r, node, l->source, sizeof(l->source)) &&
	    !path_is_name(l->source))
		reader_fault(r, node, "not a file name such as \"main.py\"");
}

static void take_package(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	(void)reader_text(r, node, l->package, sizeof(l->package));
}

static void take_program(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	if (reader_text(r, node, l->program, sizeof(l->program)) &&
	    path_judge(l->program) != PATH_FINE)
		reader_fault(r, node, "not an absolute path without . and ..");
}

size_t parse_rows(struct reader *r, uint32_t node, struct parse_rows rows)
{
	size_t n = 0;

	if (!reader_is(r, node, SCAN_ARRAY))
		return 0;
	if (r->scan.nodes[node].n < rows.least ||
	    r->scan.nodes[node].n > rows.cap) {
		reader_fault(
		    r, node, "expected %zu to %zu items", rows.least, rows.cap);
		return 0;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		(void)reader_text(r, i, rows.at + n * rows.width, rows.width);
		n++;
	}
	return n;
}

static void take_aliases(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	l->n_aliases = parse_rows(r, node, PARSE_ROWS(l->aliases, 0));
}

static void take_run(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	l->n_argv = parse_rows(r, node, PARSE_ROWS(l->argv, 1));
}

static void take_compile(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	l->n_compile = parse_rows(r, node, PARSE_ROWS(l->compile, 1));
}

static void take_product(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	if (reader_text(r, node, l->product, sizeof(l->product)) &&
	    !path_is_name(l->product))
		reader_fault(r, node, "not a file name such as \"main\"");
}

static void take_probe(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	l->n_probe = parse_rows(r, node, PARSE_ROWS(l->probe, 1));
}

static void take_etc(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	l->n_etc = parse_rows(r, node, PARSE_ROWS(l->etc, 0));
	for (size_t i = 0; i < l->n_etc; i++) {
		char path[sizeof("/etc/") + sizeof(l->etc[0])];

		(void)snprintf(path, sizeof(path), "/etc/%s", l->etc[i]);
		if (path_judge(path) != PATH_FINE)
			reader_fault(r, node,
			    "\"%s\" is no clean path beneath /etc", l->etc[i]);
	}
}

static bool is_variable(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return name[0] != '\0' && strspn(name, letters) == strlen(name) &&
	       strchr("0123456789", name[0]) == NULL;
}

static int compare_rows(const void *a, const void *b)
{
	return strcmp(a, b);
}

void parse_env(struct reader *r, uint32_t node, struct parse_env to)
{
	*to.n = 0;
	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char name[SCAN_KEY_MAX + 1] = "";
		char value[PARSE_ENV_WIDTH];
		int len;

		if (*to.n == to.cap) {
			reader_fault(r, i, "more than %zu variables", to.cap);
			return;
		}
		if (!reader_text(r, i, value, sizeof(value)))
			continue;
		if (scan_key(&r->scan, i, name, sizeof(name)) < 0 ||
		    !is_variable(name))
			reader_fault(r, i, "not a variable; write A-Z, 0-9, _");
		/* The loader would obey these before the program does. */
		if (strncmp(name, "LD_", strlen("LD_")) == 0)
			reader_fault(r, i, "LD_ variables steer the loader");
		len = snprintf(
		    to.rows[*to.n], PARSE_ENV_WIDTH, "%s=%s", name, value);
		if (len < 0 || len >= PARSE_ENV_WIDTH)
			reader_fault(r, i, "name and value are too long");
		(*to.n)++;
	}
	qsort(to.rows, *to.n, PARSE_ENV_WIDTH, compare_rows);
}

static void take_env(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	parse_env(r, node, PARSE_ENV(l->env, &l->n_env));
}

static void take_plot_files(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	l->n_plot_files = parse_rows(r, node, PARSE_ROWS(l->plot_files, 1));
	for (size_t i = 0; i < l->n_plot_files; i++)
		if (!path_is_name(l->plot_files[i]))
			reader_fault(r, node, "\"%s\" is not a file name",
			    l->plot_files[i]);
}

static void take_plot_env(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	parse_env(r, node, PARSE_ENV(l->plot_env, &l->n_plot_env));
}

/* clang-format off */
static const struct reader_key plot_keys[] = {
	{ "files", take_plot_files, 0, true, NULL },
	{ "env",   take_plot_env,   0, true, NULL },
};
/* clang-format on */
const struct reader_keys parse_plot_keys = { "plots",
	sizeof(plot_keys) / sizeof(plot_keys[0]), plot_keys };

static void take_plots(struct reader *r, uint32_t node, void *to)
{
	reader_object(r, node, &parse_plot_keys, to);
}

/* What of the two environments comes twice would depend on the order. */
static void judge_plots(struct reader *r, const struct language *l)
{
	for (size_t i = 0; i < l->n_plot_env; i++) {
		size_t n = strcspn(l->plot_env[i], "=") + 1;

		for (size_t j = 0; j < l->n_env; j++)
			if (strncmp(l->env[j], l->plot_env[i], n) == 0)
				reader_fault(r, 0,
				    "%.*s stands in env and in plots.env",
				    (int)n - 1, l->env[j]);
	}
}

static void take_needs(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;
	bool *const capabilities[] = { &l->needs.subprocess, &l->needs.threads,
		&l->needs.loopback, &l->needs.network, &l->needs.exec_memory,
		&l->needs.ipc };

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		size_t which;

		if (reader_word(r, i, &parse_capability_names, &which))
			*capabilities[which] = true;
	}
}

static void judge_star(
    struct reader *r, uint32_t node, const char *name, size_t least)
{
	size_t n = 0;

	for (const char *at = strchr(name, '*'); at != NULL;
	     at = strchr(at + 1, '*'))
		n++;
	if (n > 1 || n < least)
		reader_fault(r, node, "\"%s\": write one * in it", name);
}

static void take_version_package(struct reader *r, uint32_t node, void *to)
{
	struct language_packages *p = to;

	if (reader_text(r, node, p->version, sizeof(p->version)))
		judge_star(r, node, p->version, 0);
}

static void take_library_packages(struct reader *r, uint32_t node, void *to)
{
	struct language_packages *p = to;

	p->n_libraries = parse_rows(r, node, PARSE_ROWS(p->libraries, 1));
	for (size_t i = 0; i < p->n_libraries; i++)
		judge_star(r, node, p->libraries[i], 1);
}

/* clang-format off */
static const struct reader_key package_keys[] = {
	{ "version",   take_version_package,  0, false, NULL },
	{ "libraries", take_library_packages, 0, false, NULL },
};
/* clang-format on */
const struct reader_keys parse_language_package_keys = { "packages",
	sizeof(package_keys) / sizeof(package_keys[0]), package_keys };

static void take_packages(struct reader *r, uint32_t node, void *to)
{
	struct language *l = to;

	reader_object(r, node, &parse_language_package_keys, &l->packages);
}

/* clang-format off */
static const struct reader_key keys[] = {
	{ "version", parse_version, 0, true, NULL },
	{ "name",    take_name,     0, true, NULL },
	{ "aliases", take_aliases,  0, false, NULL },
	{ "source",  take_source,   0, true, NULL },
	{ "package", take_package,  0, true, NULL },
	{ "program", take_program,  0, true, NULL },
	{ "compile", take_compile,  0, false, NULL },
	{ "product", take_product,  0, false, NULL },
	{ "run",     take_run,      0, true, NULL },
	{ "probe",   take_probe,    0, true, NULL },
	{ "env",     take_env,      0, true, NULL },
	{ "etc",     take_etc,      0, false, NULL },
	{ "needs",   take_needs,    0, false, NULL },
	{ "modules", parse_language_modules, 0, false, NULL },
	{ "packages", take_packages, 0, false, NULL },
	{ "plots",   take_plots,    0, false, NULL },
	{ "installer", parse_installer, 0, false, NULL },
};
/* clang-format on */
const struct reader_keys parse_language_file_keys = { "a language file",
	sizeof(keys) / sizeof(keys[0]), keys };

int parse_language_file(
    struct reader *r, const struct policy_text *text, struct language *ret)
{
	size_t before = r->faults->n + r->faults->more;
	const char *base = strrchr(text->name, '/');

	memset(ret, 0, sizeof(*ret));
	if (reader_open(r, text) < 0)
		return -1;
	reader_object(r, 0, &parse_language_file_keys, ret);
	if ((ret->n_compile > 0) != (ret->product[0] != '\0'))
		reader_fault(r, 0,
		    "compile and product go together: write both or none");
	judge_plots(r, ret);
	base = base != NULL ? base + 1 : text->name;
	if (r->faults->n + r->faults->more == before) {
		size_t len = strlen(ret->name);

		if (strncmp(base, ret->name, len) != 0 ||
		    strcmp(base + len, ".json") != 0)
			reader_fault(r, 0, "the file of \"%s\" must be %s.json",
			    ret->name, ret->name);
	}
	return r->faults->n + r->faults->more == before ? 0 : -1;
}
