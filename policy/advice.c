/*
 * policy/advice.c - looks for what a policy says in vain.  Linked by
 * bailiff-policy; pure.
 */
#include "policy/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/path.h"

#define WHAT_MAX  256
#define WHY_MAX   (POLICY_PATH_MAX + 128)
#define RUNS_AUTO 64 /* at most, of "auto" */

struct advisor {
	const struct policy *p;
	const struct advice_host *host;
	const struct advice_sink *sink;
	char who[WHAT_MAX / 2]; /* "python" or "bash and 2 more" */
};

static void tell(const struct advisor *a, const char *what, const char *format,
    ...) PRINTF_LIKE(3, 4);

static void tell(
    const struct advisor *a, const char *what, const char *format, ...)
{
	char why[WHY_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	a->sink->take(a->sink->context, what, why);
}

static void tell_limit(const struct advisor *a, enum limit_id id,
    const char *which, const char *why)
{
	char what[WHAT_MAX];

	(void)snprintf(what, sizeof(what), "%s: limits.%s.%s", a->who,
	    limit_table[id].name, which);
	tell(a, what, "%s", why);
}

/* The first is never reached when its max is above the second's. */
static const struct {
	enum limit_id never, first;
} pairs[] = {
	{ LIMIT_SCRATCH_BYTES, LIMIT_MEMORY }, /* its pages count as memory */
	{ LIMIT_FILE_SIZE, LIMIT_SCRATCH_BYTES },
	{ LIMIT_STDOUT, LIMIT_OUTPUT },
	{ LIMIT_STDERR, LIMIT_OUTPUT },
	{ LIMIT_ARTIFACTS, LIMIT_SCRATCH_INODES },
	{ LIMIT_ARTIFACT_BYTES, LIMIT_SCRATCH_BYTES },
	{ LIMIT_PLOT_BYTES, LIMIT_SCRATCH_BYTES },
};

static void advise_pairs(const struct advisor *a, const struct limit *limits)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct limit_info *first = &limit_table[pairs[i].first];
		uint64_t never = limits[pairs[i].never].max;
		uint64_t max = limits[pairs[i].first].max;
		char why[WHAT_MAX];

		/* Unlimited says that another limit is meant to hold. */
		if (never == LIMIT_UNLIMITED || never <= max)
			continue;
		(void)snprintf(why, sizeof(why),
		    "%" PRIu64 " is never reached: %s.max is %" PRIu64, never,
		    first->name, max);
		tell_limit(a, pairs[i].never, "max", why);
	}
}

static void advise_memory(const struct advisor *a, const struct limit *limits)
{
	const struct limit *memory = &limits[LIMIT_MEMORY];
	bool is_default = memory->value > a->host->memory;
	char why[WHAT_MAX];

	if (a->host->memory == 0 || memory->max <= a->host->memory)
		return;
	(void)snprintf(why, sizeof(why),
	    "%" PRIu64 " is above the memory of this host, %" PRIu64,
	    is_default ? memory->value : memory->max, a->host->memory);
	tell_limit(a, LIMIT_MEMORY, is_default ? "default" : "max", why);
}

static bool is_parallel(const struct policy_language *l)
{
	return l->capabilities.threads || l->capabilities.subprocess;
}

/* Time on all processors cannot pass faster than their number. */
static void advise_cpu(const struct advisor *a, const struct policy_language *l)
{
	uint64_t n =
	    is_parallel(l) && a->host->processors > 0 ? a->host->processors : 1;
	uint64_t wall = l->limits[LIMIT_WALL_MS].max;
	uint64_t cpu = l->limits[LIMIT_CPU_MS].max;
	char why[WHAT_MAX];

	if (cpu <= wall * n)
		return;
	(void)snprintf(why, sizeof(why),
	    "%" PRIu64 " is never reached: wall_ms.max is %" PRIu64
	    ", and %" PRIu64 " processor%s",
	    cpu, wall, n, n == 1 ? " is used" : "s are there");
	tell_limit(a, LIMIT_CPU_MS, "max", why);
}

static void advise_zero(const struct advisor *a, const struct limit *limits)
{
	if (limits[LIMIT_CODE].max == 0)
		tell_limit(a, LIMIT_CODE, "max",
		    "0 lets no code in, so nothing can run");
	if (limits[LIMIT_INPUTS].max == 0 && a->p->n_read_roots > 0)
		tell_limit(a, LIMIT_INPUTS, "max",
		    "0 lets no request name a file: paths.read never matches");
	if (limits[LIMIT_INPUTS].max > 0 && limits[LIMIT_INPUT_BYTES].max == 0)
		tell_limit(
		    a, LIMIT_INPUT_BYTES, "max", "0 lets in empty files alone");
	if (limits[LIMIT_ARTIFACTS].max > 0 &&
	    limits[LIMIT_ARTIFACT_BYTES].max == 0)
		tell_limit(a, LIMIT_ARTIFACT_BYTES, "max",
		    "0 keeps empty files alone");
}

static bool is_alike(
    const struct policy_language *l, const struct policy_language *m)
{
	return memcmp(l->limits, m->limits, sizeof(l->limits)) == 0 &&
	       is_parallel(l) == is_parallel(m);
}

/* Languages with the same limits are told about once. */
static void advise_limits(struct advisor *a, size_t which)
{
	const struct policy_language *l = &a->p->languages[which];
	size_t more = 0;

	for (size_t i = 0; i < a->p->n_languages; i++) {
		if (i == which || !is_alike(l, &a->p->languages[i]))
			continue;
		if (i < which)
			return;
		more++;
	}
	(void)snprintf(a->who, sizeof(a->who), "%s", l->language.name);
	if (more > 0)
		(void)snprintf(a->who, sizeof(a->who), "%s and %zu more",
		    l->language.name, more);
	advise_memory(a, l->limits);
	advise_cpu(a, l);
	advise_pairs(a, l->limits);
	advise_zero(a, l->limits);
}

/* Whether denying 'outer' denies 'inner' as well: a package and what is in it,
 * a module and its half with an underscore. */
static bool is_covered(const char *outer, const char *inner)
{
	size_t n = strlen(outer);

	if (inner[0] == '_' && strcmp(outer, inner + 1) == 0)
		return true;
	return strncmp(outer, inner, n) == 0 && inner[n] == '.';
}

static void advise_modules(
    const struct advisor *a, const struct policy_language *l)
{
	char what[WHAT_MAX];

	for (size_t i = 0; i < l->n_denied; i++)
		for (size_t j = 0; j < l->n_denied; j++) {
			if (!is_covered(l->denied[j], l->denied[i]))
				continue;
			(void)snprintf(what, sizeof(what),
			    "%s: modules.deny: %s", l->language.name,
			    l->denied[i]);
			tell(
			    a, what, "is denied with %s already", l->denied[j]);
		}
}

/* Of two rules that look for the same, one says nothing more. */
static void advise_rules(
    const struct advisor *a, const struct policy_language *l)
{
	char what[WHAT_MAX];

	for (size_t i = 0; i < l->n_rules; i++)
		for (size_t j = 0; j < i; j++) {
			const struct code_rule *first = &l->rules[j];
			const struct code_rule *twin = &l->rules[i];

			if (first->is_module != twin->is_module ||
			    (first->places & twin->places) != twin->places ||
			    strcmp(first->text, twin->text) != 0)
				continue;
			(void)snprintf(what, sizeof(what), "%s: rules: %s",
			    l->language.name, twin->id);
			tell(a, what, "looks for nothing that %s does not",
			    first->id);
		}
}

static void advise_roots(const struct advisor *a)
{
	const struct policy *p = a->p;

	for (size_t i = 0; i < p->n_read_roots; i++)
		for (size_t j = 0; j < p->n_read_roots; j++)
			if (path_beneath(p->read_roots[j].path,
			        p->read_roots[i].path) != NULL)
				tell(a, p->read_roots[i].path,
				    "gives nothing that %s does not give",
				    p->read_roots[j].path);
}

static uint64_t runs_at_once(const struct advisor *a)
{
	uint64_t automatic = 2 * (uint64_t)a->host->processors;

	if (a->p->runs_at_once > 0)
		return a->p->runs_at_once;
	return automatic < RUNS_AUTO ? automatic : RUNS_AUTO;
}

static void advise_concurrency(const struct advisor *a)
{
	uint64_t runs = runs_at_once(a);
	uint64_t all = runs + a->p->queue;
	uint64_t most = 0;

	if (a->p->per_principal != POLICY_UNLIMITED &&
	    a->p->per_principal > all)
		tell(a, "concurrency.per_principal",
		    "%" PRIu32 " is never reached: %" PRIu64
		    " may run and wait in all",
		    a->p->per_principal, all);
	for (size_t i = 0; i < a->p->n_languages; i++)
		if (a->p->languages[i].limits[LIMIT_MEMORY].value > most)
			most = a->p->languages[i].limits[LIMIT_MEMORY].value;
	if (a->host->memory > 0 && most <= a->host->memory &&
	    most * runs > a->host->memory)
		tell(a, "concurrency.runs",
		    "%" PRIu64 " at once with %" PRIu64
		    " bytes each are more than this host has, %" PRIu64,
		    runs, most, a->host->memory);
}

void advice_find(const struct policy *p, const struct advice_host *host,
    const struct advice_sink *sink)
{
	struct advisor a = { .p = p, .host = host, .sink = sink };

	for (size_t i = 0; i < p->n_languages; i++) {
		advise_limits(&a, i);
		advise_modules(&a, &p->languages[i]);
		advise_rules(&a, &p->languages[i]);
	}
	advise_roots(&a);
	advise_concurrency(&a);
}
