/*
 * policy/parse.c - a policy text to struct policy, and the languages in it.
 * Linked by bailiff-policy and the supervisor; pure.  The text may be anything;
 * nothing is guessed.
 */
#include "policy/parse.h"
#include "policy/parse_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/shape.h"
#include "policy/tracing.h"

/* What silence means. */
#define QUEUE_DEFAULT        64
#define LINGER_DEFAULT_S     60
#define TICK_DEFAULT_S       600
#define LANDLOCK_DEFAULT_ABI 2

/* One member of "languages" while it is read. */
struct entry {
	struct parse *parse;
	struct policy_language *language;
};

static void take_entry_limits(struct reader *r, uint32_t node, void *to)
{
	struct entry *entry = to;

	parse_limits(r, node, entry->language->limits);
}

static void take_entry_capabilities(struct reader *r, uint32_t node, void *to)
{
	struct entry *entry = to;

	parse_capabilities(r, node, &entry->language->capabilities);
}

static void take_modules(struct reader *r, uint32_t node, void *to)
{
	struct entry *entry = to;

	parse_modules(r, node, entry->language);
}

static void take_rules(struct reader *r, uint32_t node, void *to)
{
	struct entry *entry = to;

	parse_rules(r, node, entry->language);
}

static void take_libraries(struct reader *r, uint32_t node, void *to)
{
	struct entry *entry = to;

	parse_libraries(r, node, entry->language);
}

static void take_compile_limits(struct reader *r, uint32_t node, void *to)
{
	struct entry *entry = to;

	parse_compile_limits(r, node, &entry->language->compile);
}

/* What is not said is the most that a request may ask for. */
static void settle_compiler(
    struct reader *r, uint32_t node, struct policy_language *l)
{
	for (size_t i = 0; i < LIMIT_N; i++) {
		if (!l->compile.is_said[i]) {
			l->compile.value[i] = l->limits[i].max;
			continue;
		}
		if (l->language.n_compile > 0)
			continue;
		reader_fault(r, node,
		    "%s compiles nothing; leave \"compile_limits\" out",
		    l->language.name);
		return;
	}
}

/* clang-format off */
static const struct reader_key entry_keys[] = {
	{ "limits",         take_entry_limits,       0, false, &shape_limits },
	{ "capabilities",   take_entry_capabilities, 0, false, &shape_capabilities },
	{ "modules",        take_modules,            0, false, &shape_modules },
	{ "rules",          take_rules,              0, false, &shape_rules },
	{ "libraries",      take_libraries,          0, false, &shape_libraries },
	{ "compile_limits", take_compile_limits,     0, false, &shape_compile_limits },
};
/* clang-format on */
const struct reader_keys parse_entry_keys = { "a language",
	sizeof(entry_keys) / sizeof(entry_keys[0]), entry_keys };

/* "/usr/share/bailiff/languages/python.json" is called "python". */
static bool stem_of(const char *path, char ret[POLICY_NAME_MAX])
{
	const char *base = strrchr(path, '/');
	const char *dot;

	base = base != NULL ? base + 1 : path;
	dot = strrchr(base, '.');
	if (dot == NULL || strcmp(dot, ".json") != 0 ||
	    (size_t)(dot - base) >= POLICY_NAME_MAX)
		return false;
	memcpy(ret, base, (size_t)(dot - base));
	ret[dot - base] = '\0';
	return true;
}

static const struct policy_text *find_file(
    const struct policy_sources *sources, const char *name)
{
	for (size_t i = 0; i < sources->n_languages; i++) {
		char stem[POLICY_NAME_MAX];

		if (stem_of(sources->languages[i].name, stem) &&
		    strcmp(stem, name) == 0)
			return &sources->languages[i];
	}
	return NULL;
}

static void fault_no_language(
    struct reader *r, uint32_t node, const struct policy_sources *sources)
{
	char stems[READER_KEYS_MAX][POLICY_NAME_MAX];
	struct reader_names names = { .n = 0 };

	for (size_t i = 0; i < sources->n_languages; i++)
		if (names.n < READER_KEYS_MAX &&
		    stem_of(sources->languages[i].name, stems[names.n])) {
			names.items[names.n] = stems[names.n];
			names.n++;
		}
	reader_unknown_key(r, node, "language", &names);
}

static void check_needs(
    struct reader *r, uint32_t node, const struct policy_language *l)
{
	const struct capabilities *needs = &l->language.needs;
	const struct capabilities *has = &l->capabilities;
	const bool missing[] = { needs->subprocess && !has->subprocess,
		needs->threads && !has->threads,
		needs->loopback && !has->loopback,
		needs->network && !has->network,
		needs->exec_memory && !has->exec_memory,
		needs->ipc && !has->ipc };

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (missing[i])
			reader_fault(r, node,
			    "%s cannot start without the capability \"%s\"",
			    l->language.name, parse_capability_names.items[i]);
}

static void take_language(struct reader *r, uint32_t node, struct parse *p)
{
	struct policy_language *l =
	    &p->policy->languages[p->policy->n_languages];
	struct entry entry = { p, l };
	const struct policy_text *file;
	char name[SCAN_KEY_MAX + 1] = "";

	if (scan_key(&r->scan, node, name, sizeof(name)) < 0)
		return;
	file = find_file(p->sources, name);
	if (file == NULL) {
		fault_no_language(r, node, p->sources);
		return;
	}
	if (p->policy->n_languages == POLICY_LANGUAGES_MAX) {
		reader_fault(
		    r, node, "more than %d languages", POLICY_LANGUAGES_MAX);
		return;
	}
	memcpy(l->limits, p->limits, sizeof(l->limits));
	l->capabilities = p->capabilities;
	reader_object(r, node, &parse_entry_keys, &entry);
	if (parse_language_file(p->language_reader, file, &l->language) < 0)
		return;
	check_needs(r, node, l);
	settle_compiler(r, node, l);
	parse_libraries_settle(r, node, l);
	if ((l->n_denied > 0 || l->has_only) &&
	    l->language.modules.n_directories == 0)
		reader_fault(r, node,
		    "%s has no modules that could be denied; leave them out",
		    l->language.name);
	p->policy->n_languages++;
}

static int compare_languages(const void *a, const void *b)
{
	const struct policy_language *l_a = a;
	const struct policy_language *l_b = b;

	return strcmp(l_a->language.name, l_b->language.name);
}

/* A name or alias must mean one language. */
static void check_aliases(struct reader *r, uint32_t node, struct policy *p)
{
	for (size_t i = 0; i < p->n_languages; i++) {
		const struct language *l = &p->languages[i].language;

		if (&policy_language_find(p, l->name)->language != l)
			reader_fault(
			    r, node, "\"%s\" means two languages", l->name);
		for (size_t j = 0; j < l->n_aliases; j++)
			if (&policy_language_find(p, l->aliases[j])->language !=
			    l)
				reader_fault(r, node,
				    "\"%s\" means two languages",
				    l->aliases[j]);
	}
}

void parse_languages(struct reader *r, uint32_t node, void *to)
{
	struct parse *p = to;

	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		take_language(r, i, p);
	qsort(p->policy->languages, p->policy->n_languages,
	    sizeof(p->policy->languages[0]), compare_languages);
	check_aliases(r, node, p->policy);
}

const struct policy_language *policy_language_find(
    const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->n_languages; i++) {
		const struct language *l = &p->languages[i].language;

		if (strcmp(l->name, name) == 0)
			return &p->languages[i];
		for (size_t j = 0; j < l->n_aliases; j++)
			if (strcmp(l->aliases[j], name) == 0)
				return &p->languages[i];
	}
	return NULL;
}

void policy_free(struct policy *p)
{
	if (p == NULL)
		return;
	/* A slot that was not counted may hold some as well. */
	for (size_t i = 0; i < POLICY_LANGUAGES_MAX; i++)
		free(p->languages[i].rules);
	free(p->effective);
	free(p);
}

int parse_fail(const struct policy_faults *faults, struct error *e)
{
	const struct policy_fault *f = &faults->items[0];
	char more[64] = "";

	if (faults->n + faults->more > 1)
		(void)snprintf(more, sizeof(more), " (and %zu more)",
		    faults->n + faults->more - 1);
	if (f->line == 0)
		return FAIL(
		    e, ERROR_MALFORMED, "%s: %s%s", f->file, f->text, more);
	return FAIL(e, ERROR_MALFORMED, "%.160s:%u:%u: %.100s: %.200s%s",
	    f->file, f->line, f->column,
	    f->pointer[0] != '\0' ? f->pointer : "/", f->text, more);
}

/* The heap blocks of one parse, in one place. */
struct work {
	struct reader policy;
	struct reader language;
	struct parse parse;
};

static int parse_into(const struct policy_sources *sources, struct policy *p,
    struct policy_faults *faults, struct error *e)
{
	struct work *work = calloc(1, sizeof(*work));

	if (work == NULL)
		return FAIL_SYS(e, "allocate to read a policy");
	work->policy.faults = faults;
	work->language.faults = faults;
	work->parse.sources = sources;
	work->parse.policy = p;
	work->parse.language_reader = &work->language;
	parse_limits_init(work->parse.limits);
	parse_capabilities_init(&work->parse.capabilities);
	if (reader_open(&work->policy, &sources->policy) == 0)
		reader_object(
		    &work->policy, 0, &parse_policy_keys, &work->parse);
	free(work);
	return faults->n == 0 ? 0 : parse_fail(faults, e);
}

int policy_parse(const struct policy_sources *sources, struct policy **ret,
    struct policy_faults *faults, struct error *e)
{
	struct policy *p = calloc(1, sizeof(*p));

	faults->n = 0;
	faults->more = 0;
	if (p == NULL)
		return FAIL_SYS(e, "allocate a policy");
	p->queue = QUEUE_DEFAULT;
	p->linger_s = LINGER_DEFAULT_S;
	memcpy(p->artifacts[p->n_artifacts++], "**", sizeof("**"));
	p->audit.keep_days = POLICY_UNLIMITED;
	p->audit.max_bytes = UINT64_MAX;
	p->audit.tick_s = TICK_DEFAULT_S;
	p->landlock_min_abi = LANDLOCK_DEFAULT_ABI;
	p->trace = tracing_default(sources->privileged);
	if (parse_into(sources, p, faults, e) < 0 ||
	    parse_effective(p, e) < 0) {
		policy_free(p);
		return -1;
	}
	sha256_of(sources->policy.data, sources->policy.len, p->file_sha256);
	*ret = p;
	return 0;
}
