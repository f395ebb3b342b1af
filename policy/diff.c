/*
 * policy/diff.c - two policies compared by what they allow.  Linked by
 * bailiff-policy.
 */
#include "policy/diff_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/libraries.h"
#include "policy/parse.h"

void diff_tell(struct diff *d, enum diff_kind kind, const char *format, ...)
{
	va_list args;

	d->item.kind = kind;
	va_start(args, format);
	(void)vsnprintf(d->item.text, sizeof(d->item.text), format, args);
	va_end(args);
	d->sink->take(d->sink->context, &d->item);
}

void diff_name(struct diff *d, const char *format, ...)
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
		diff_name(d, "%s.capabilities.%s", language,
		    parse_capability_names.items[i]);
		diff_tell(d, more_or_less(was, is), "%s, was %s",
		    is ? "true" : "false", was ? "true" : "false");
	}
}

void diff_amounts(
    struct diff *d, enum diff_kind kind, uint64_t was, uint64_t is)
{
	char digits[2][24];
	const uint64_t values[] = { is, was };

	for (size_t i = 0; i < 2; i++)
		(void)snprintf(
		    digits[i], sizeof(digits[i]), "%" PRIu64, values[i]);
	diff_tell(d, kind, "%s, was %s",
	    is == LIMIT_UNLIMITED ? "unlimited" : digits[0],
	    was == LIMIT_UNLIMITED ? "unlimited" : digits[1]);
}

static void tell_limits(
    struct diff *d, const char *language, const struct limit *of[2])
{
	for (size_t i = 0; i < LIMIT_N; i++) {
		const struct limit *was = &of[0][i];
		const struct limit *is = &of[1][i];

		diff_name(d, "%s.limits.%s.max", language, limit_table[i].name);
		if (was->max != is->max)
			diff_amounts(d, more_or_less(was->max, is->max),
			    was->max, is->max);
		/* Whoever does not ask gets another amount of what is
		 * allowed. */
		diff_name(
		    d, "%s.limits.%s.default", language, limit_table[i].name);
		if (was->value != is->value)
			diff_amounts(d, DIFF_CHANGED, was->value, is->value);
	}
}

/* Also where only the limits changed that a compiler has when nothing else
 * is said. */
static void tell_compile_limits(struct diff *d,
    const struct policy_language *was, const struct policy_language *is)
{
	if (is->language.n_compile == 0)
		return;
	for (size_t i = 0; i < LIMIT_N; i++) {
		uint64_t before = was->compile.value[i];
		uint64_t now = is->compile.value[i];

		if (before == now || !parse_binds_compiler((enum limit_id)i))
			continue;
		diff_name(d, "%s.compile_limits.%s", is->language.name,
		    limit_table[i].name);
		diff_amounts(d, more_or_less(before, now), before, now);
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
			diff_name(
			    d, "%s.modules.%s", of[0]->language.name, module);
			diff_tell(d, side == 0 ? DIFF_ALLOWED : DIFF_DENIED,
			    side == 0 ? "no longer denied" : "denied");
		}
}

static bool names(const struct policy_language *l, const char *module)
{
	for (size_t i = 0; i < l->n_only; i++)
		if (strcmp(l->only[i], module) == 0)
			return true;
	return !l->has_only;
}

/* Lists of the only modules; without one there are all. */
static void tell_only(struct diff *d, const struct policy_language *of[2])
{
	diff_name(d, "%s.modules.only", of[0]->language.name);
	if (of[0]->has_only != of[1]->has_only) {
		diff_tell(d, of[0]->has_only ? DIFF_ALLOWED : DIFF_DENIED, "%s",
		    of[0]->has_only ? "is gone: all there are"
		                    : "is new: no others");
		return;
	}
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < of[side]->n_only; i++)
			if (!names(of[1 - side], of[side]->only[i]))
				diff_tell(d,
				    side == 0 ? DIFF_DENIED : DIFF_ALLOWED,
				    "%s", of[side]->only[i]);
}

static bool allows(
    const struct policy_language *l, const struct library *library)
{
	for (size_t i = 0; i < l->n_libraries; i++)
		if (memcmp(&l->libraries[i], library, sizeof(*library)) == 0)
			return true;
	return false;
}

static void tell_libraries(struct diff *d, const struct policy_language *of[2])
{
	const char *language = of[0]->language.name;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < of[side]->n_libraries; i++) {
			const struct library *library = &of[side]->libraries[i];
			char text[LIBRARY_TEXT_MAX];

			if (allows(of[1 - side], library))
				continue;
			library_text(library, text);
			diff_name(d, "%s.libraries.%s", language, text);
			diff_tell(d, side == 0 ? DIFF_DENIED : DIFF_ALLOWED,
			    side == 0 ? "no longer allowed" : "allowed");
		}
	if (of[0]->n_libraries == 0 || of[1]->n_libraries == 0 ||
	    strcmp(of[0]->libraries_from, of[1]->libraries_from) == 0)
		return;
	diff_name(d, "%s.libraries.from", language);
	diff_tell(d, DIFF_CHANGED, "%s, was %s", of[1]->libraries_from,
	    of[0]->libraries_from);
}

static const struct code_rule *find_rule(
    const struct policy_language *l, const char *id)
{
	for (size_t i = 0; i < l->n_rules; i++)
		if (strcmp(l->rules[i].id, id) == 0)
			return &l->rules[i];
	return NULL;
}

/* A rule that denies is one that less gets past. */
static void tell_rule(
    struct diff *d, const struct code_rule *was, const struct code_rule *is)
{
	static const char *const words[] = {
		[CODE_DENY] = "deny", [CODE_FLAG] = "flag"
	};
	bool same = was->is_module == is->is_module &&
	            was->places == is->places &&
	            strcmp(was->text, is->text) == 0;

	if (was->action != is->action)
		diff_tell(d,
		    is->action == CODE_DENY ? DIFF_DENIED : DIFF_ALLOWED,
		    "%s, was %s", words[is->action], words[was->action]);
	if (!same)
		diff_tell(d, DIFF_CHANGED, "looks for something else");
}

/* Rules of one side that the other has not. */
static void tell_lone_rules(struct diff *d, const struct policy_language *has,
    const struct policy_language *lacks, enum diff_kind kind)
{
	for (size_t i = 0; i < has->n_rules; i++) {
		const struct code_rule *rule = &has->rules[i];

		if (find_rule(lacks, rule->id) != NULL)
			continue;
		diff_name(d, "%s.rules.%s", has->language.name, rule->id);
		diff_tell(d, rule->action == CODE_DENY ? kind : DIFF_CHANGED,
		    kind == DIFF_ALLOWED ? "is gone" : "is new");
	}
}

static void tell_rules(struct diff *d, const struct policy_language *was,
    const struct policy_language *is)
{
	for (size_t i = 0; i < was->n_rules; i++) {
		const struct code_rule *rule = &was->rules[i];
		const struct code_rule *other = find_rule(is, rule->id);

		diff_name(d, "%s.rules.%s", was->language.name, rule->id);
		if (other != NULL)
			tell_rule(d, rule, other);
	}
	tell_lone_rules(d, was, is, DIFF_ALLOWED);
	tell_lone_rules(d, is, was, DIFF_DENIED);
}

static bool have_the_same(
    const struct capabilities *was, const struct capabilities *is)
{
	for (size_t i = 0; i < parse_capability_names.n; i++)
		if (parse_capability(was, i) != parse_capability(is, i))
			return false;
	return callset_equal(&was->only, &is->only);
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
	tell_compile_limits(d, was, is);
	tell_modules(d, of);
	tell_only(d, of);
	tell_libraries(d, of);
	tell_rules(d, was, is);
	if (have_the_same(&was->capabilities, &is->capabilities))
		return 0;
	return diff_calls(d, language, capabilities);
}

static void tell_lone(
    struct diff *d, const struct policy_language *l, enum diff_kind kind)
{
	diff_name(d, "%s", l->language.name);
	diff_tell(d, kind, kind == DIFF_ALLOWED ? "may run" : "may not run");
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
	if (failed == 0)
		diff_rest(d);
	free(d);
	return failed;
}
