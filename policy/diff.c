/*
 * policy/diff.c - two policies compared by what they allow.  Linked by
 * bailiff-policy.
 */
#include "policy/diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/answers.h"
#include "policy/parse.h"
#include "policy/path.h"
#include "policy/shape.h"
#include "policy/syscalls.h"

struct diff {
	const struct policy *a, *b;
	const struct diff_sink *sink;
	struct error *e;
	struct diff_item item; /* 'what' and 'text' while they are made */
	struct filter filter;
	struct answers answers[2];
};

static void tell(struct diff *d, enum diff_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* d->item.what is set. */
static void tell(struct diff *d, enum diff_kind kind, const char *format, ...)
{
	va_list args;

	d->item.kind = kind;
	va_start(args, format);
	(void)vsnprintf(d->item.text, sizeof(d->item.text), format, args);
	va_end(args);
	d->sink->take(d->sink->context, &d->item);
}

static void name(struct diff *d, const char *format, ...) PRINTF_LIKE(2, 3);

static void name(struct diff *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(d->item.what, sizeof(d->item.what), format, args);
	va_end(args);
}

static enum diff_kind more_or_less(uint64_t was, uint64_t is)
{
	return is > was ? DIFF_ALLOWED : DIFF_DENIED;
}

static void tell_capabilities(
    struct diff *d, const char *language, const struct capabilities *of[2])
{
	for (size_t i = 0; i < parse_capability_names.n; i++) {
		bool was = parse_capability(of[0], i);
		bool is = parse_capability(of[1], i);

		if (was == is)
			continue;
		name(d, "%s.capabilities.%s", language,
		    parse_capability_names.items[i]);
		tell(d, more_or_less(was, is), "%s, was %s",
		    is ? "true" : "false", was ? "true" : "false");
	}
}

static void tell_amounts(
    struct diff *d, enum diff_kind kind, uint64_t was, uint64_t is)
{
	char digits[2][24];
	const uint64_t values[] = { is, was };

	for (size_t i = 0; i < 2; i++)
		(void)snprintf(
		    digits[i], sizeof(digits[i]), "%" PRIu64, values[i]);
	tell(d, kind, "%s, was %s",
	    is == LIMIT_UNLIMITED ? "unlimited" : digits[0],
	    was == LIMIT_UNLIMITED ? "unlimited" : digits[1]);
}

static void tell_limits(
    struct diff *d, const char *language, const struct limit *of[2])
{
	for (size_t i = 0; i < LIMIT_N; i++) {
		const struct limit *was = &of[0][i];
		const struct limit *is = &of[1][i];

		name(d, "%s.limits.%s.max", language, limit_table[i].name);
		if (was->max != is->max)
			tell_amounts(d, more_or_less(was->max, is->max),
			    was->max, is->max);
		/* Whoever does not ask gets another amount of what is
		 * allowed. */
		name(d, "%s.limits.%s.default", language, limit_table[i].name);
		if (was->value != is->value)
			tell_amounts(d, DIFF_CHANGED, was->value, is->value);
	}
}

/* Whether "xml" stands among the denied, for "xml.etree" too. */
static bool denies(const struct policy_language *l, const char *module)
{
	for (size_t i = 0; i < l->n_denied; i++)
		if (strcmp(l->denied[i], module) == 0)
			return true;
	return false;
}

static void tell_modules(struct diff *d, const struct policy_language *of[2])
{
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < of[side]->n_denied; i++) {
			const char *module = of[side]->denied[i];

			if (denies(of[1 - side], module))
				continue;
			name(d, "%s.modules.%s", of[0]->language.name, module);
			tell(d, side == 0 ? DIFF_ALLOWED : DIFF_DENIED,
			    side == 0 ? "no longer denied" : "denied");
		}
}

/*
 * Both filters look at the arguments of this call: rows that only one of them
 * has in force decide.  Bits: 1 the first has more, 2 the second has.
 */
static unsigned int compare_rows(
    const char *call, const struct capabilities *of[2])
{
	unsigned int found = 0;

	for (size_t i = 0; i < syscall_n_rows; i++) {
		const struct syscall_row *row = &syscall_rows[i];
		bool was;
		bool is;

		if (strcmp(row->call, call) != 0)
			continue;
		was = filter_in_force(of[0], row->when);
		is = filter_in_force(of[1], row->when);
		found |= (was && !is ? 1u : 0u) | (is && !was ? 2u : 0u);
	}
	return found;
}

static const char *word_of(const struct answer *a)
{
	return a->by_arguments ? "by its arguments" : answer_word(a->word);
}

/* From nothing over something to everything. */
static int rank(const struct answer *a)
{
	const char *word = answer_word(a->word);

	if (a->by_arguments)
		return 1;
	return strcmp(word, "allow") == 0 ? 2 : 0;
}

static void tell_call(struct diff *d, int number, const char *language,
    const struct capabilities *of[2])
{
	const struct answer *was = &d->answers[0].of[number];
	const struct answer *is = &d->answers[1].of[number];
	char call[NUMBER_NAME_MAX];
	unsigned int rows;

	number_name(FILTER_ARCH, number, call);
	name(d, "%s.calls.%s", language, call);
	if (was->by_arguments && is->by_arguments) {
		rows = compare_rows(call, of);
		if (rows != 0)
			tell(d,
			    rows == 2   ? DIFF_ALLOWED
			    : rows == 1 ? DIFF_DENIED
			                : DIFF_CHANGED,
			    "other arguments than before");
	} else if (rank(was) != rank(is)) {
		tell(d, rank(is) > rank(was) ? DIFF_ALLOWED : DIFF_DENIED,
		    "%s, was %s", word_of(is), word_of(was));
	} else if (was->word != is->word) {
		tell(d, DIFF_CHANGED, "%s, was %s", word_of(is), word_of(was));
	}
}

static int tell_calls(
    struct diff *d, const char *language, const struct capabilities *of[2])
{
	for (size_t i = 0; i < 2; i++)
		if (filter_compile(of[i], &d->filter, d->e) < 0 ||
		    answers_find(&d->filter, &d->answers[i], d->e) < 0)
			return FAIL_IN(d->e, "%s", language);
	for (int i = 0; i <= NUMBER_LAST; i++)
		tell_call(d, i, language, of);
	return 0;
}

static int tell_language(struct diff *d, const struct policy_language *was,
    const struct policy_language *is)
{
	const struct policy_language *of[] = { was, is };
	const struct capabilities *capabilities[] = { &was->capabilities,
		&is->capabilities };
	const struct limit *limits[] = { was->limits, is->limits };
	const char *language = was->language.name;

	tell_capabilities(d, language, capabilities);
	tell_limits(d, language, limits);
	tell_modules(d, of);
	if (memcmp(&was->capabilities, &is->capabilities,
	        sizeof(was->capabilities)) == 0)
		return 0;
	return tell_calls(d, language, capabilities);
}

static void tell_lone(
    struct diff *d, const struct policy_language *l, enum diff_kind kind)
{
	name(d, "%s", l->language.name);
	tell(d, kind, kind == DIFF_ALLOWED ? "may run" : "may not run");
}

/* Both lists are sorted by name. */
static int tell_languages(struct diff *d)
{
	size_t i = 0;
	size_t j = 0;

	while (i < d->a->n_languages || j < d->b->n_languages) {
		const struct policy_language *was = &d->a->languages[i];
		const struct policy_language *is = &d->b->languages[j];
		int order;

		if (i == d->a->n_languages)
			order = 1;
		else if (j == d->b->n_languages)
			order = -1;
		else
			order = strcmp(was->language.name, is->language.name);
		if (order < 0)
			tell_lone(d, was, DIFF_DENIED);
		else if (order > 0)
			tell_lone(d, is, DIFF_ALLOWED);
		else if (tell_language(d, was, is) < 0)
			return -1;
		i += order <= 0;
		j += order >= 0;
	}
	return 0;
}

static bool has_root(const struct policy *p, const char *root)
{
	for (size_t i = 0; i < p->n_read_roots; i++)
		if (strcmp(p->read_roots[i].path, root) == 0)
			return true;
	return false;
}

static bool covers(const struct policy *p, const char *root)
{
	for (size_t i = 0; i < p->n_read_roots; i++)
		if (path_beneath(p->read_roots[i].path, root) != NULL)
			return true;
	return has_root(p, root);
}

static void tell_roots(struct diff *d)
{
	const struct policy *of[] = { d->a, d->b };

	name(d, "paths.read");
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < of[side]->n_read_roots; i++) {
			const char *root = of[side]->read_roots[i].path;

			if (!covers(of[1 - side], root))
				tell(d, side == 0 ? DIFF_DENIED : DIFF_ALLOWED,
				    "%s", root);
			else if (!has_root(of[1 - side], root))
				tell(d, DIFF_CHANGED,
				    "%s %s, within another root", root,
				    side == 0 ? "is gone" : "is new");
		}
}

static void tell_number(
    struct diff *d, const char *what, uint64_t was, uint64_t is)
{
	name(d, "%s", what);
	if (was != is)
		tell_amounts(d, DIFF_CHANGED, was, is);
}

/* 0 and POLICY_UNLIMITED have words of their own. */
static void tell_count(
    struct diff *d, const char *what, uint32_t was, uint32_t is)
{
	char words[2][24];
	const uint32_t values[] = { is, was };

	name(d, "%s", what);
	if (was == is)
		return;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(
		    words[i], sizeof(words[i]), "%" PRIu32, values[i]);
		if (values[i] == 0 || values[i] == POLICY_UNLIMITED)
			(void)snprintf(words[i], sizeof(words[i]), "%s",
			    values[i] == 0 ? "auto" : "unlimited");
	}
	tell(d, DIFF_CHANGED, "%s, was %s", words[0], words[1]);
}

static void tell_word(struct diff *d, const char *what,
    const struct reader_names *words, const size_t of[2])
{
	name(d, "%s", what);
	if (of[0] != of[1])
		tell(d, DIFF_CHANGED, "%s, was %s", words->items[of[1]],
		    words->items[of[0]]);
}

static void tell_rest(struct diff *d)
{
	const struct policy *a = d->a;
	const struct policy *b = d->b;

	name(d, "degraded");
	if (a->accept_degraded != b->accept_degraded)
		tell(d, b->accept_degraded ? DIFF_ALLOWED : DIFF_DENIED, "%s",
		    b->accept_degraded ? "accept, was refuse"
		                       : "refuse, was accept");
	tell_word(d, "trace", shape_trace.words,
	    (const size_t[]){ a->trace, b->trace });
	tell_word(d, "audit.durability", shape_durability.words,
	    (const size_t[]){ a->durability, b->durability });
	tell_count(d, "concurrency.runs", a->runs_at_once, b->runs_at_once);
	tell_number(d, "concurrency.queue", a->queue, b->queue);
	tell_count(
	    d, "concurrency.per_principal", a->per_principal, b->per_principal);
	tell_number(
	    d, "landlock.min_abi", a->landlock_min_abi, b->landlock_min_abi);
	tell_number(d, "service.linger_s", a->linger_s, b->linger_s);
	name(d, "name");
	if (strcmp(a->name, b->name) != 0)
		tell(d, DIFF_CHANGED, "%s, was %s", b->name, a->name);
}

int diff_policies(const struct policy *first, const struct policy *second,
    const struct diff_sink *sink, struct error *e)
{
	struct diff *d = calloc(1, sizeof(*d));
	int failed;

	if (d == NULL)
		return FAIL_SYS(e, "compare policies");
	d->a = first;
	d->b = second;
	d->sink = sink;
	d->e = e;
	failed = tell_languages(d);
	if (failed == 0) {
		tell_roots(d);
		tell_rest(d);
	}
	free(d);
	return failed;
}
