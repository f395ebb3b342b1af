/*
 * policy/decide.c - the decision about one request.  Linked by bailiff-policy
 * and the supervisor; pure and total.  The request is hostile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/libraries.h"
#include "policy/path.h"
#include "policy/policy.h"

/* In place of what finds no room: nothing is dropped without a word. */
#define WORD_MORE "rules.more"

/* Room is left for every code rule, for the language, "path.read" and
 * WORD_MORE: what the code did is worth more than what the policy is. */
#define MODULES_TOLD (POLICY_WORDS_MAX - POLICY_RULES_MAX - 3)

/* *ret_at is its place, or where it belongs in the sorted set. */
static bool find_word(
    const struct policy_words *words, const char *word, size_t *ret_at)
{
	size_t at = 0;
	int order = 1;

	while (at < words->n && (order = strcmp(words->items[at], word)) < 0)
		at++;
	*ret_at = at;
	return at < words->n && order == 0;
}

/* The last place is kept for WORD_MORE, until that is there. */
static void add_word(struct policy_words *words, const char *word)
{
	size_t more_at;
	size_t at;

	if (find_word(words, word, &at) || words->n == POLICY_WORDS_MAX)
		return;
	if (words->n == POLICY_WORDS_MAX - 1 &&
	    !find_word(words, WORD_MORE, &more_at)) {
		word = WORD_MORE;
		at = more_at;
	}
	memmove(words->items[at + 1], words->items[at],
	    (words->n - at) * sizeof(words->items[0]));
	(void)snprintf(words->items[at], sizeof(words->items[at]), "%s", word);
	words->n++;
}

static void deny(struct policy_decision *d, const char *reason)
{
	d->allow = false;
	add_word(&d->reasons, reason);
}

void policy_decision_deny(struct policy_decision *d, const char *reason)
{
	deny(d, reason);
}

void policy_decision_match(struct policy_decision *d, const char *rule)
{
	add_word(&d->rules, rule);
}

bool policy_decision_screens(
    const struct policy_decision *d, uint64_t code_size)
{
	const struct policy_language *l = d->language;

	return l != NULL && l->n_rules > 0 && code_size > 0 &&
	       code_size <= d->limits[LIMIT_CODE] &&
	       code_size <= l->limits[LIMIT_CODE].max;
}

void policy_decision_hit(
    struct policy_decision *d, const struct code_rule *rule)
{
	char word[POLICY_WORD_MAX];

	(void)snprintf(word, sizeof(word), "code.rule.%s", rule->id);
	if (rule->action == CODE_DENY)
		deny(d, word);
	else
		add_word(&d->rules, word);
}

static void deny_limit(
    struct policy_decision *d, enum limit_id id, const char *how)
{
	char reason[POLICY_WORD_MAX];

	(void)snprintf(
	    reason, sizeof(reason), "limit.%s.%s", limit_table[id].rule, how);
	deny(d, reason);
}

static void judge_limits(
    const struct policy_request *request, struct policy_decision *d)
{
	for (size_t i = 0; i < LIMIT_N; i++) {
		const struct limit *limit = &d->language->limits[i];

		d->limits[i] = limit->value;
		if (!request->asks[i])
			continue;
		d->limits[i] = request->limits[i];
		if (request->limits[i] > limit->max)
			deny_limit(d, (enum limit_id)i, "above_max");
		if (request->limits[i] < limit_table[i].floor)
			deny_limit(d, (enum limit_id)i, "below_min");
	}
}

static void judge_sizes(
    const struct policy_request *request, struct policy_decision *d)
{
	if (request->code_size == 0)
		deny(d, "code.empty");
	if (d->language == NULL)
		return;
	if (request->code_size > d->limits[LIMIT_CODE])
		deny(d, "code.too_large");
	if (request->stdin_size > d->limits[LIMIT_STDIN])
		deny(d, "stdin.too_large");
	if (request->args_size > d->limits[LIMIT_ARGS])
		deny(d, "args.too_large");
	if (request->n_inputs_asked > d->limits[LIMIT_INPUTS])
		deny(d, "inputs.too_many");
	if (request->inline_size > d->limits[LIMIT_INPUT_BYTES])
		deny(d, "inputs.too_large");
}

/* The most specific root: a root inside another is the narrower grant. */
static bool find_root(const struct policy *p, const struct policy_input *input,
    size_t *ret, const char **beneath)
{
	bool found = false;

	for (size_t i = 0; i < p->n_read_roots; i++) {
		const char *root = p->read_roots[i].path;
		const char *rest = path_beneath(root, input->host);

		if (input->kind == POLICY_INPUT_DIRECTORY &&
		    strcmp(root, input->host) == 0)
			rest = ".";
		if (rest == NULL || (found && strlen(rest) >= strlen(*beneath)))
			continue;
		found = true;
		*ret = i;
		*beneath = rest;
	}
	return found;
}

static void judge_path(const struct policy *p, const struct policy_input *input,
    size_t which, struct policy_decision *d)
{
	static const struct {
		unsigned int fault;
		const char *reason;
	} reasons[] = {
		{ PATH_TRAVERSAL, "path.traversal" },
		{ PATH_NOT_ABSOLUTE, "path.not_absolute" },
		{ PATH_COMPONENT, "path.component" },
	};
	unsigned int faults = path_judge(input->host);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if ((faults & reasons[i].fault) != 0)
			deny(d, reasons[i].reason);
	if (p->n_read_roots == 0)
		deny(d, "path.not_allowed");
	else if (faults != PATH_FINE)
		return; /* where it leads is not asked */
	else if (find_root(
	             p, input, &d->input_root[which], &d->input_beneath[which]))
		add_word(&d->rules, "path.read");
	else
		deny(d, "path.outside_root");
}

static void judge_name(const struct policy_request *request, size_t which,
    struct policy_decision *d)
{
	const char *name = request->inputs[which].name;

	if (!path_is_name(name))
		deny(d, "path.name");
	if (request->inputs[which].kind == POLICY_INPUT_DIRECTORY &&
	    strlen(name) > PATH_MOUNT_NAME_MAX)
		deny(d, "path.name");
	if (d->language != NULL &&
	    strcmp(name, d->language->language.source) == 0)
		deny(d, "path.name");
	for (size_t i = 0; i < which; i++)
		if (strcmp(name, request->inputs[i].name) == 0)
			deny(d, "path.name");
}

/* The language, and what a run of it goes without. */
static void match_language(struct policy_decision *d)
{
	const struct policy_language *l = d->language;
	char rule[POLICY_WORD_MAX];

	(void)snprintf(rule, sizeof(rule), "language.%s", l->language.name);
	add_word(&d->rules, rule);
	for (size_t i = 0; i < l->n_denied && i < MODULES_TOLD; i++) {
		(void)snprintf(rule, sizeof(rule), "module.%s", l->denied[i]);
		add_word(&d->rules, rule);
	}
	if (l->n_denied > MODULES_TOLD)
		add_word(&d->rules, WORD_MORE);
	if (l->has_only)
		add_word(&d->rules, "modules.only");
}

static int compare_libraries(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct library));
}

/* A record's ids have no hyphen. */
static void match_library(
    const struct library *library, struct policy_decision *d)
{
	char rule[POLICY_WORD_MAX];

	(void)snprintf(rule, sizeof(rule), "library.%s", library->name);
	for (char *at = rule; *at != '\0'; at++)
		if (*at == '-')
			*at = '_';
	add_word(&d->rules, rule);
}

static void judge_library(const char *text, struct policy_decision *d)
{
	struct library *asked = &d->libraries[d->n_libraries];

	memset(asked, 0, sizeof(*asked));
	if (!library_any(d->language)) {
		deny(d, "library.not_allowed");
		return;
	}
	if (!library_parse(
	        d->language->language.installer.folds, text, asked)) {
		deny(d, "library.name");
		return;
	}
	for (size_t i = 0; i < d->n_libraries; i++)
		if (strcmp(d->libraries[i].name, asked->name) == 0) {
			deny(d, "library.name");
			return;
		}
	if (!library_is_allowed(d->language, asked)) {
		deny(d, "library.not_allowed");
		return;
	}
	match_library(asked, d);
	d->n_libraries++;
}

static void judge_libraries(
    const struct policy_request *request, struct policy_decision *d)
{
	size_t n = request->n_libraries;

	d->n_libraries = 0;
	if (n > POLICY_ASKED_MAX || n != request->n_libraries_asked) {
		deny(d, "library.too_many");
		return;
	}
	for (size_t i = 0; d->language != NULL && i < n; i++)
		judge_library(request->libraries[i], d);
	qsort(d->libraries, d->n_libraries, sizeof(d->libraries[0]),
	    compare_libraries);
}

void policy_decide(const struct policy *p, const struct policy_request *request,
    struct policy_decision *ret)
{
	size_t n = request->n_inputs;

	/* Whole but for words, of which those below 'n' count. */
	ret->rules.n = 0;
	ret->reasons.n = 0;
	memset(ret->limits, 0, sizeof(ret->limits));
	memset(ret->input_root, 0, sizeof(ret->input_root));
	memset(ret->input_beneath, 0, sizeof(ret->input_beneath));
	ret->allow = true;
	ret->language = policy_language_find(p, request->language);
	if (ret->language == NULL) {
		deny(ret, "language.not_allowed");
	} else {
		match_language(ret);
		judge_limits(request, ret);
	}
	judge_libraries(request, ret);
	judge_sizes(request, ret);
	/* More than there is room for, or fewer than were asked for: either
	 * way something would go unjudged. */
	if (n > POLICY_INPUTS_MAX || n != request->n_inputs_asked)
		deny(ret, "inputs.too_many");
	if (n > POLICY_INPUTS_MAX)
		n = POLICY_INPUTS_MAX;
	for (size_t i = 0; i < n; i++) {
		if (request->inputs[i].kind != POLICY_INPUT_INLINE)
			judge_path(p, &request->inputs[i], i, ret);
		judge_name(request, i, ret);
	}
}
