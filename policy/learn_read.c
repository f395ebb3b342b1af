/*
 * policy/learn_read.c - facts, line by line.  Linked by bailiff-policy; pure.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/learn_parts.h"
#include "policy/numbers.h"

#if defined(__x86_64__)
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

#define NOTE_MAX 4096

int learn_open(const struct policy *policy, const struct learn_sink *sink,
    struct learn *ret, struct error *e)
{
	*ret = (struct learn){ .policy = policy, .sink = sink };
	ret->languages =
	    calloc(POLICY_LANGUAGES_MAX, sizeof(ret->languages[0]));
	ret->filter = calloc(1, sizeof(*ret->filter));
	ret->value = malloc(LEARN_VALUE_MAX);
	ret->hints = calloc(LEARN_HINTS_MAX, sizeof(ret->hints[0]));
	if (ret->languages == NULL || ret->filter == NULL ||
	    ret->hints == NULL || ret->value == NULL) {
		learn_close(ret);
		return FAIL_SYS(e, "allocate");
	}
	return 0;
}

void learn_close(struct learn *l)
{
	for (size_t i = 0; l->languages != NULL && i < POLICY_LANGUAGES_MAX;
	     i++) {
		free(l->languages[i].tuples);
		free(l->languages[i].modules);
		free(l->languages[i].denied);
	}
	free(l->languages);
	free(l->filter);
	free(l->value);
	free(l->hints);
	l->hints = NULL;
	l->languages = NULL;
	l->filter = NULL;
	l->value = NULL;
}

void learn_note(struct learn *l, const char *format, ...)
{
	char text[NOTE_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	l->sink->note(l->sink->context, text);
}

static bool word(const struct learn *l, const char *key, char *ret, size_t cap)
{
	uint32_t node = scan_member(&l->s, 0, key);
	size_t len;

	return node != SCAN_NONE && l->s.nodes[node].kind == SCAN_STRING &&
	       scan_string(&l->s, node, ret, cap, &len) == 0 &&
	       len == strlen(ret);
}

static uint64_t number(const struct learn *l, const char *key)
{
	uint32_t node = scan_member(&l->s, 0, key);
	uint64_t value = 0;

	return node != SCAN_NONE && l->s.nodes[node].kind == SCAN_NUMBER &&
	               scan_u64(&l->s, node, &value)
	           ? value
	           : 0;
}

static int take_run(struct learn *l, struct error *e)
{
	char language[POLICY_NAME_MAX], arch[POLICY_NAME_MAX];
	char status[POLICY_NAME_MAX];
	const struct policy_language *of;

	if (l->now != NULL || !word(l, "run", l->run, sizeof(l->run)) ||
	    !word(l, "language", language, sizeof(language)) ||
	    !word(l, "arch", arch, sizeof(arch)) ||
	    !word(l, "status", status, sizeof(status)))
		return FAIL(e, ERROR_MALFORMED, "no beginning of a run");
	if (strcmp(arch, MACHINE) != 0)
		return FAIL(e, ERROR_STATE,
		    "%s: recorded on %s, and this machine is " MACHINE
		    ": its calls are others",
		    l->run, arch);
	of = policy_language_find(l->policy, language);
	if (of == NULL)
		return FAIL(e, ERROR_STATE,
		    "%s: the policy %s does not allow %s; name the one that it "
		    "ran under with --policy",
		    l->run, l->policy->name, language);
	l->now = &l->languages[of - l->policy->languages];
	l->now->of = of;
	l->now->n_runs++;
	l->n_runs++;
	l->n_lines = 0;
	l->host_inputs += number(l, "host_inputs");
	if (strcmp(status, "ok") != 0)
		learn_note(l,
		    "%s: it ended as \"%s\": what it would have done "
		    "later is not known",
		    l->run, status);
	return 0;
}

static int take_call(struct learn *l, struct error *e)
{
	char name[NUMBER_NAME_MAX];
	size_t call;

	if (!word(l, "call", name, sizeof(name)))
		return FAIL(e, ERROR_MALFORMED, "a call without a name");
	call = callset_find(name);
	if (call == CALLSET_MAX) {
		learn_note(l,
		    "%s: left out: %s, which no policy allows; it "
		    "needs a review",
		    l->run, name);
		return 0;
	}
	callset_add(&l->now->seen, call);
	l->now->runs_of[call]++;
	return 0;
}

static int take_denied(struct learn *l, struct error *e)
{
	struct learn_language *of = l->now;
	char name[NUMBER_NAME_MAX];
	size_t i = 0;

	if (!word(l, "call", name, sizeof(name)))
		return FAIL(e, ERROR_MALFORMED, "a denial without a name");
	if (of->denied == NULL)
		of->denied = calloc(LEARN_DENIED_MAX, sizeof(of->denied[0]));
	if (of->denied == NULL)
		return FAIL_SYS(e, "allocate");
	while (i < of->n_denied && strcmp(of->denied[i].call, name) != 0)
		i++;
	if (i == LEARN_DENIED_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d calls were denied",
		    LEARN_DENIED_MAX);
	memcpy(of->denied[i].call, name, sizeof(name));
	of->denied[i].n += number(l, "n");
	of->n_denied += i == of->n_denied;
	return 0;
}

static int take_unnamed(struct learn *l, struct error *e)
{
	(void)e;
	learn_note(l,
	    "%s: left out: call number %" PRIu64
	    " without a name or of another architecture (%" PRIu64 ")",
	    l->run, number(l, "nr"), number(l, "n"));
	return 0;
}

static int take_args(
    const struct learn *l, struct learn_tuple *t, struct error *e)
{
	uint32_t list = scan_member(&l->s, 0, "args");
	size_t n = 0;

	if (list == SCAN_NONE || l->s.nodes[list].kind != SCAN_ARRAY ||
	    l->s.nodes[list].n != LEARN_ARGS)
		return FAIL(e, ERROR_MALFORMED, "no arguments");
	for (uint32_t i = scan_first(&l->s, list); i != SCAN_NONE;
	     i = l->s.nodes[i].next) {
		char text[24];
		size_t len;

		if (scan_string(&l->s, i, text, sizeof(text), &len) < 0)
			return FAIL(e, ERROR_MALFORMED, "an argument");
		t->args[n++] = strtoull(text, NULL, 16);
	}
	return 0;
}

static int add_tuple(
    struct learn_language *of, const struct learn_tuple *t, struct error *e)
{
	for (size_t i = 0; i < of->n_tuples; i++)
		if (of->tuples[i].call == t->call &&
		    memcmp(of->tuples[i].args, t->args, sizeof(t->args)) == 0)
			return 0;
	if (of->n_tuples == LEARN_TUPLES_MAX)
		return FAIL(e, ERROR_LIMIT,
		    "more than %d calls with arguments of their own",
		    LEARN_TUPLES_MAX);
	if (of->n_tuples == of->tuples_cap) {
		size_t cap = of->tuples_cap > 0 ? of->tuples_cap * 2 : 64;
		struct learn_tuple *more =
		    reallocarray(of->tuples, cap, sizeof(*more));

		if (more == NULL)
			return FAIL_SYS(e, "allocate");
		of->tuples = more;
		of->tuples_cap = cap;
	}
	of->tuples[of->n_tuples++] = *t;
	return 0;
}

static int take_told(struct learn *l, struct error *e)
{
	char name[NUMBER_NAME_MAX];
	struct learn_tuple t;

	if (!word(l, "call", name, sizeof(name)))
		return FAIL(e, ERROR_MALFORMED, "arguments of no call");
	t.call = callset_find(name);
	if (take_args(l, &t, e) < 0)
		return -1;
	return t.call == CALLSET_MAX ? 0 : add_tuple(l->now, &t, e);
}

/* Where a program can write a file; compiled ones have their own place. */
static bool is_writable(const char *path)
{
	static const char *const tops[] = { "/sandbox/", "/tmp/", "/dev/shm/" };

	if (strncmp(path, "/sandbox/.build/", 16) == 0)
		return false;
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
		if (strncmp(path, tops[i], strlen(tops[i])) == 0)
			return true;
	return path[0] != '/';
}

/* What is no plain text is a file all the same, of an unknown place. */
static int take_code(struct learn *l, struct error *e)
{
	(void)e;
	if (!word(l, "path", l->value, LEARN_VALUE_MAX) ||
	    is_writable(l->value))
		l->now->own_code = true;
	return 0;
}

static int add_module(
    struct learn_language *of, const char *name, struct error *e)
{
	if (of->modules == NULL)
		of->modules = calloc(LEARN_MODULES_MAX, sizeof(of->modules[0]));
	if (of->modules == NULL)
		return FAIL_SYS(e, "allocate");
	for (size_t i = 0; i < of->n_modules; i++)
		if (strcmp(of->modules[i], name) == 0)
			return 0;
	if (of->n_modules == LEARN_MODULES_MAX)
		return FAIL(
		    e, ERROR_LIMIT, "more than %d modules", LEARN_MODULES_MAX);
	(void)snprintf(
	    of->modules[of->n_modules++], POLICY_NAME_MAX, "%s", name);
	return 0;
}

/* A module's file, or one that modules stand in. */
static int take_open(struct learn *l, struct error *e)
{
	char name[POLICY_NAME_MAX];

	if (!word(l, "path", l->value, LEARN_VALUE_MAX))
		return 0;
	if (learn_module(&l->now->of->language.modules, l->value, name) &&
	    add_module(l->now, name, e) < 0)
		return -1;
	for (size_t i = 0; i < l->n_hints; i++)
		if (strcmp(l->hints[i].path, l->value) == 0 &&
		    add_module(l->now, l->hints[i].name, e) < 0)
			return -1;
	return 0;
}

static int take_end(struct learn *l, struct error *e)
{
	if (number(l, "facts") != l->n_lines)
		return FAIL(
		    e, ERROR_MALFORMED, "%s: facts are missing", l->run);
	l->now = NULL;
	return 0;
}

static const struct fact {
	const char *name;
	int (*take)(struct learn *l, struct error *e);
} facts[] = {
	{ "call", take_call },
	{ "denied", take_denied },
	{ "unnamed", take_unnamed },
	{ "told", take_told },
	{ "open", take_open },
	{ "exec", take_code },
	{ "code", take_code },
	{ "end", take_end },
};

static int dispatch(struct learn *l, struct error *e)
{
	char name[POLICY_NAME_MAX];

	if (!word(l, "fact", name, sizeof(name)))
		return FAIL(e, ERROR_MALFORMED, "no fact");
	if (strcmp(name, "run") == 0)
		return take_run(l, e);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strcmp(facts[i].name, name) == 0 && l->now != NULL)
			return facts[i].take(l, e);
	return FAIL(e, ERROR_MALFORMED, "an unknown fact");
}

int learn_line(struct learn *l, const char *line, size_t len, struct error *e)
{
	l->s = (struct scan){ .text = line,
		.len = len,
		.nodes = l->nodes,
		.cap = LEARN_NODES_MAX,
		.max_depth = 2 };
	if (scan_parse(&l->s, e) < 0)
		return FAIL_IN(e, "facts");
	if (l->s.nodes[0].kind != SCAN_OBJECT)
		return FAIL(e, ERROR_MALFORMED, "facts: no object");
	if (dispatch(l, e) < 0)
		return FAIL_IN(e, "facts");
	l->n_lines++;
	return 0;
}

int learn_end(struct learn *l, struct error *e)
{
	if (l->now != NULL || l->n_runs == 0)
		return FAIL(e, ERROR_MALFORMED, "facts: they have no end");
	return 0;
}
