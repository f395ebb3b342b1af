/*
 * policy/screening_compile.c - code rules to databases of vectorscan, by what
 * is looked at.  Linked by bailiff-screen and
 * bailiff-policy.  The policy is trusted to be well meant, not to be right.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policy/import.h"
#include "policy/screening_state.h"

/* Rules, each of which may be several forms of an import. */
#define FORMS_MAX 8
#define TEXTS_MAX (POLICY_RULES_MAX * FORMS_MAX)

struct text {
	unsigned seen;
	unsigned rule;
	bool alone; /* in a database of its own */
	struct import_text as;
};

struct texts {
	size_t n;
	struct text items[TEXTS_MAX];
};

static int add_module(const struct screening_rules *rules, size_t rule,
    struct texts *texts, struct error *e)
{
	const struct import_form *form = import_forms(rules->language);

	if (form == NULL)
		return FAIL(e, ERROR_MALFORMED,
		    "what imports look like in %.60s is not known; write a "
		    "pattern in \"any\"",
		    rules->language);
	for (; form->pattern != NULL; form++) {
		struct text *t = &texts->items[texts->n++];

		t->seen = form->seen;
		t->rule = (unsigned)rule;
		if (import_pattern(rules->language, form,
		        rules->rules[rule].text, &t->as, e) < 0)
			return -1;
	}
	return 0;
}

static int add_pattern(const struct screening_rules *rules, size_t rule,
    struct texts *texts, struct error *e)
{
	const struct code_rule *from = &rules->rules[rule];
	struct text *t = &texts->items[texts->n++];

	if (from->places != CODE_ANYWHERE &&
	    lexer_find(rules->language) == NULL)
		return FAIL(e, ERROR_MALFORMED,
		    "what is code, string or comment in %.60s is not known; "
		    "write \"in\": \"any\"",
		    rules->language);
	/* The bits of enum code_place are those of enum lexer_class. */
	t->seen = from->places;
	t->rule = (unsigned)rule;
	t->alone = true;
	memcpy(t->as.pattern, from->text, sizeof(from->text));
	return 0;
}

/* What hs_compile_multi takes, of the texts that see one set of places. */
struct list {
	unsigned n;
	const char *patterns[TEXTS_MAX];
	unsigned flags[TEXTS_MAX];
	unsigned rules[TEXTS_MAX];
};

static void put(const struct text *t, struct list *to)
{
	to->patterns[to->n] = t->as.pattern;
	to->flags[to->n] = HS_FLAG_SINGLEMATCH | HS_FLAG_MULTILINE;
	to->rules[to->n] = t->rule;
	to->n++;
}

/* Text 'first', and those behind it that share its database. */
static void gather(const struct texts *texts, size_t first, struct list *to)
{
	const struct text *t = &texts->items[first];

	to->n = 0;
	put(t, to);
	for (size_t i = first + 1; !t->alone && i < texts->n; i++)
		if (!texts->items[i].alone && texts->items[i].seen == t->seen)
			put(&texts->items[i], to);
}

static bool is_gathered(const struct texts *texts, size_t which)
{
	const struct text *t = &texts->items[which];

	for (size_t i = 0; !t->alone && i < which; i++)
		if (!texts->items[i].alone && texts->items[i].seen == t->seen)
			return true;
	return false;
}

static int compare_views(const void *a, const void *b)
{
	const struct screening_view *view_a = a;
	const struct screening_view *view_b = b;

	return (view_a->seen > view_b->seen) - (view_a->seen < view_b->seen);
}

static int compile_view(const struct list *list, struct screening_view *view,
    size_t *ret_rule, struct error *e)
{
	hs_compile_error_t *fault = NULL;
	size_t bytes = 0;

	if (hs_compile_multi(list->patterns, list->flags, list->rules, list->n,
	        HS_MODE_BLOCK, NULL, &view->database, &fault) != HS_SUCCESS) {
		unsigned which = fault != NULL && fault->expression >= 0 &&
		                         (unsigned)fault->expression < list->n
		                     ? (unsigned)fault->expression
		                     : 0;

		*ret_rule = list->rules[which];
		(void)FAIL(e, ERROR_MALFORMED,
		    "not a pattern we can take: %.150s",
		    fault != NULL ? fault->message : "no memory");
		(void)hs_free_compile_error(fault);
		return -1;
	}
	*ret_rule = list->rules[list->n - 1];
	if (hs_database_size(view->database, &bytes) != HS_SUCCESS ||
	    bytes > SCREENING_BYTES_MAX)
		return FAIL(e, ERROR_LIMIT,
		    "too expensive: the rules compiled are larger than %d "
		    "bytes; write smaller repeats",
		    SCREENING_BYTES_MAX);
	return 0;
}

static int compile_views(const struct texts *texts, struct screening *s,
    size_t *ret_rule, struct error *e)
{
	struct list *list = calloc(1, sizeof(*list));
	int failed = 0;

	if (list == NULL)
		return FAIL_SYS(e, "allocate to compile code rules");
	for (size_t i = 0; failed == 0 && i < texts->n; i++) {
		if (is_gathered(texts, i))
			continue;
		gather(texts, i, list);
		s->views[s->n].seen = texts->items[i].seen;
		failed = compile_view(list, &s->views[s->n++], ret_rule, e);
	}
	qsort(s->views, s->n, sizeof(s->views[0]), compare_views);
	free(list);
	return failed;
}

/* What hs_compile_multi is to be given of every rule. */
static int spell(const struct screening_rules *rules, struct texts *to,
    size_t *ret_rule, struct error *e)
{
	for (size_t i = 0; i < rules->n; i++) {
		*ret_rule = i;
		if ((rules->rules[i].is_module
		            ? add_module(rules, i, to, e)
		            : add_pattern(rules, i, to, e)) < 0)
			return -1;
	}
	return 0;
}

int screening_compile(const struct screening_rules *rules,
    struct screening **ret, size_t *ret_rule, struct error *e)
{
	struct texts *texts = calloc(1, sizeof(*texts));
	struct screening *s = calloc(1, sizeof(*s));
	int failed = 0;

	*ret_rule = 0;
	if (texts == NULL || s == NULL)
		failed = FAIL_SYS(e, "allocate to compile code rules");
	else
		s->lexer = lexer_find(rules->language);
	if (failed == 0)
		failed = spell(rules, texts, ret_rule, e);
	if (failed == 0)
		failed = compile_views(texts, s, ret_rule, e);
	free(texts);
	if (failed < 0)
		screening_free(s);
	else
		*ret = s;
	return failed;
}

void screening_free(struct screening *s)
{
	for (size_t i = 0; s != NULL && i < s->n; i++)
		(void)hs_free_database(s->views[i].database);
	free(s);
}
