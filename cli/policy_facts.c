/*
 * cli/policy_facts.c - a decision and what follows from it.  Linked by
 * bailiff-policy.  It looks at the host as a service does, and decides by the
 * same functions.
 */
#include "cli/policy_facts.h"

#include <inttypes.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/environment.h"

int policy_facts_find(struct policy_facts *ret, struct error *e)
{
	enum mounts_of of = geteuid() == 0 ? MOUNTS_OF_ROOT : MOUNTS_OF_USER;
	const struct policy_language *l;

	policy_decide(ret->policy, ret->request, &ret->decision);
	if (policy_screen(&ret->code, &ret->decision, &ret->hits, e) < 0)
		return -1;
	l = ret->decision.language;
	if (!ret->decision.allow)
		return 0;
	toolchain_find(&l->language, &ret->toolchain);
	if (l->language.n_compile > 0 &&
	    filter_compile(&filter_compiler, &ret->compiler, e) < 0)
		return -1;
	if (filter_compile(&l->capabilities, &ret->filter, e) < 0 ||
	    answers_find(&ret->filter, &ret->answers, e) < 0 ||
	    absent_find(l, &ret->absent, e) < 0 ||
	    absent_judge(&ret->absent, e) < 0 ||
	    mounts_find(of, &ret->mounts, e) < 0)
		return -1;
	return mounts_add_request(&ret->mounts, ret->request, e);
}

void policy_amount(uint64_t value, char ret[POLICY_AMOUNT_MAX])
{
	if (value == LIMIT_UNLIMITED)
		(void)snprintf(ret, POLICY_AMOUNT_MAX, "unlimited");
	else
		(void)snprintf(ret, POLICY_AMOUNT_MAX, "%" PRIu64, value);
}

static void put_words(
    struct sheet *s, const char *key, const struct policy_words *words)
{
	sheet_list(s, key);
	for (size_t i = 0; i < words->n; i++)
		sheet_item(s, words->items[i]);
	sheet_list_end(s);
}

/* Where code rules are met. */
static void put_hits(struct sheet *s, const struct policy_hits *hits)
{
	if (hits->n == 0 && !s->json)
		return;
	sheet_begin(s, "lines");
	for (size_t i = 0; i < hits->n; i++)
		sheet_number(s, hits->items[i].rule->id, hits->items[i].line);
	sheet_end(s);
}

void policy_facts_decision(struct sheet *s, const struct policy_facts *f)
{
	const struct policy_decision *d = &f->decision;

	sheet_text(s, "decision", d->allow ? "allow" : "deny");
	put_words(s, "reasons", &d->reasons);
	put_words(s, "rules", &d->rules);
	put_hits(s, &f->hits);
}

static void put_amount(struct sheet *s, const char *key, uint64_t value)
{
	if (value == LIMIT_UNLIMITED)
		sheet_text(s, key, "unlimited");
	else
		sheet_number(s, key, value);
}

static void put_limit(
    struct sheet *s, enum limit_id id, const struct policy_facts *f)
{
	const char *name = limit_table[id].name;
	uint64_t max = f->decision.language->limits[id].max;
	char amount[POLICY_AMOUNT_MAX];
	char most[POLICY_AMOUNT_MAX];
	char line[128];

	if (s->json) {
		sheet_begin(s, name);
		put_amount(s, "value", f->decision.limits[id]);
		put_amount(s, "max", max);
		sheet_flag(s, "asked", f->request->asks[id]);
		sheet_end(s);
		return;
	}
	policy_amount(f->decision.limits[id], amount);
	policy_amount(max, most);
	(void)snprintf(line, sizeof(line), "%-11s of at most %s%s", amount,
	    most, f->request->asks[id] ? ", asked for" : "");
	sheet_text(s, name, line);
}

void policy_facts_limits(struct sheet *s, const struct policy_facts *f)
{
	if (f->decision.language == NULL)
		return;
	sheet_begin(s, "limits");
	for (size_t i = 0; i < LIMIT_N; i++)
		put_limit(s, (enum limit_id)i, f);
	sheet_end(s);
}

static void put_only(struct sheet *s, const struct callset *only)
{
	const char *names[CALLSET_MAX];
	size_t n = callset_names(only, names);

	sheet_begin(s, "syscalls");
	sheet_list(s, "only");
	for (size_t i = 0; i < n; i++)
		sheet_item(s, names[i]);
	sheet_list_end(s);
	sheet_end(s);
}

void policy_facts_capabilities(
    struct sheet *s, const char *key, const struct capabilities *c)
{
	sheet_begin(s, key);
	sheet_flag(s, "subprocess", c->subprocess);
	sheet_flag(s, "threads", c->threads);
	sheet_flag(s, "loopback", c->loopback);
	sheet_flag(s, "network", c->network);
	sheet_flag(s, "exec_memory", c->exec_memory);
	sheet_flag(s, "ipc", c->ipc);
	if (c->only.given)
		put_only(s, &c->only);
	sheet_end(s);
}

struct call_names {
	size_t n;
	char items[NUMBER_LAST + 1][NUMBER_NAME_MAX];
};

static int compare_calls(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Those calls by name whose answer is 'word', or all that look at arguments;
 * sorted. */
static void put_calls(struct sheet *s, const char *key,
    const struct answers *answers, const char *word)
{
	struct call_names *names = calloc(1, sizeof(*names));

	if (names == NULL) {
		s->failed = true;
		return;
	}
	for (int i = 0; i <= NUMBER_LAST; i++) {
		const struct answer *a = &answers->of[i];
		bool meant = word == NULL
		                 ? a->by_arguments
		                 : !a->by_arguments &&
		                       strcmp(answer_word(a->word), word) == 0;

		number_name(FILTER_ARCH, i, names->items[names->n]);
		names->n += meant && names->items[names->n][0] != '-';
	}
	qsort(names->items, names->n, sizeof(names->items[0]), compare_calls);
	sheet_list(s, key);
	for (size_t i = 0; i < names->n; i++)
		sheet_item(s, names->items[i]);
	sheet_list_end(s);
	free(names);
}

static void put_digest(struct sheet *s, const struct filter *filter)
{
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];

	filter_sha256(filter, digest);
	sha256_hex(digest, hex);
	sheet_text(s, "sha256", hex);
	sheet_number(s, "instructions", filter->len);
}

/* The compiler's own sandbox: the policy's limits of it, and the same environment and mounts. */
static void put_compiler(struct sheet *s, const struct policy_facts *f)
{
	const struct policy_language *l = f->decision.language;

	sheet_begin(s, "compiler");
	sheet_list(s, "command");
	for (size_t i = 0; i < l->language.n_compile; i++)
		sheet_item(s, l->language.compile[i]);
	sheet_list_end(s);
	sheet_begin(s, "limits");
	for (size_t i = 0; i < LIMIT_N; i++)
		put_amount(s, limit_table[i].name, l->compile.value[i]);
	sheet_end(s);
	policy_facts_capabilities(s, "capabilities", &filter_compiler);
	sheet_begin(s, "filter");
	put_digest(s, &f->compiler);
	sheet_end(s);
	sheet_end(s);
}

void policy_facts_filter(struct sheet *s, const struct policy_facts *f)
{
	if (f->decision.language->language.n_compile > 0)
		put_compiler(s, f);
	sheet_begin(s, "filter");
	put_digest(s, &f->filter);
	put_calls(s, "allow", &f->answers, "allow");
	put_calls(s, "arguments", &f->answers, NULL);
	put_calls(s, "once", &f->answers, "once");
	put_calls(s, "EPERM", &f->answers, "EPERM");
	put_calls(s, "ENOSYS", &f->answers, "ENOSYS");
	sheet_text(s, "others", "ENOSYS");
	sheet_end(s);
}

static void put_program(struct sheet *s, const struct policy_facts *f)
{
	const struct language *l = &f->decision.language->language;

	sheet_begin(s, "language");
	sheet_text(s, "name", l->name);
	sheet_text(
	    s, "program", f->toolchain.found ? f->toolchain.path : l->program);
	sheet_flag(s, "available", f->toolchain.found);
	sheet_text(s, "package", l->package);
	sheet_list(s, "command");
	for (size_t i = 0; i < l->n_argv; i++)
		sheet_item(s, l->argv[i]);
	sheet_list_end(s);
	sheet_end(s);
}

static void put_environment(
    struct sheet *s, const struct policy_decision *decision)
{
	struct environment env;

	environment_make(&decision->language->language, decision->limits, &env);
	sheet_begin(s, "environment");
	for (size_t i = 0; i < env.n; i++) {
		char name[sizeof(decision->language->language.env[0])];
		size_t len = strcspn(env.rows[i], "=");

		memcpy(name, env.rows[i], len);
		name[len] = '\0';
		sheet_text(s, name, env.rows[i] + len + 1);
	}
	sheet_end(s);
}

static void put_mount(struct sheet *s, const struct mount_line *m)
{
	char line[64];

	if (s->json) {
		sheet_begin(s, NULL);
		sheet_text(s, "point", m->point);
		sheet_text(s, "type", m->type);
		sheet_flag(s, "read_only", m->read_only);
		sheet_flag(s, "devices", m->devices);
		sheet_end(s);
		return;
	}
	(void)snprintf(line, sizeof(line), "%s, %s%s", m->type,
	    m->read_only ? "read-only" : "can be written",
	    m->devices ? ", devices" : "");
	sheet_text(s, m->point, line);
}

static void put_mounts(struct sheet *s, const struct mounts *mounts)
{
	if (s->json)
		sheet_list(s, "mounts");
	else
		sheet_begin(s, "mounts");
	for (size_t i = 0; i < mounts->n; i++)
		put_mount(s, &mounts->items[i]);
	if (s->json)
		sheet_list_end(s);
	else
		sheet_end(s);
}

/* The root that lets an input in, and how it gets there. */
static void put_input(struct sheet *s, const struct policy_facts *f, size_t i)
{
	static const char *const kinds[] = { [POLICY_INPUT_FILE] = "copy of",
		[POLICY_INPUT_DIRECTORY] = "shows",
		[POLICY_INPUT_INLINE] = "sent along" };
	const struct policy_input *input = &f->request->inputs[i];
	bool is_inline = input->kind == POLICY_INPUT_INLINE;
	const char *root =
	    f->policy->read_roots[f->decision.input_root[i]].path;
	char line[POLICY_PATH_MAX + 32];

	if (!s->json) {
		(void)snprintf(line, sizeof(line), "%s%s%s", kinds[input->kind],
		    is_inline ? "" : " ", is_inline ? "" : input->host);
		sheet_text(s, input->name, line);
		return;
	}
	sheet_begin(s, NULL);
	sheet_text(s, "name", input->name);
	sheet_text(s, "kind", kinds[input->kind]);
	if (!is_inline) {
		sheet_text(s, "host", input->host);
		sheet_text(s, "root", root);
	}
	sheet_end(s);
}

static void put_inputs(struct sheet *s, const struct policy_facts *f)
{
	if (s->json)
		sheet_list(s, "inputs");
	else if (f->request->n_inputs > 0)
		sheet_begin(s, "inputs");
	for (size_t i = 0; i < f->request->n_inputs; i++)
		put_input(s, f, i);
	if (s->json)
		sheet_list_end(s);
	else if (f->request->n_inputs > 0)
		sheet_end(s);
}

static void put_modules(
    struct sheet *s, const struct policy_language *l, const struct absent *a)
{
	sheet_begin(s, "modules");
	for (size_t i = 0; i < a->n_modules; i++) {
		const struct absent_module *m = &a->modules[i];
		char line[64];

		(void)snprintf(line, sizeof(line), "%s%s%s",
		    absent_way_word(m->way),
		    m->way == ABSENT_CAPABILITY ? " " : "",
		    m->way == ABSENT_CAPABILITY ? m->capability : "");
		sheet_text(s, m->name, line);
	}
	for (size_t i = 0; i < l->n_rules; i++)
		if (absent_is_screened(l, &l->rules[i]))
			sheet_text(s, l->rules[i].text, ABSENT_SCREENED);
	if (l->has_only) {
		sheet_list(s, "only");
		for (size_t i = 0; i < l->n_only; i++)
			sheet_item(s, l->only[i]);
		sheet_list_end(s);
	}
	sheet_end(s);
}

void policy_facts_host(struct sheet *s, const struct policy_facts *f)
{
	put_program(s, f);
	put_environment(s, &f->decision);
	put_inputs(s, f);
	put_mounts(s, &f->mounts);
	/* No heading without a line beneath it, for a person. */
	if (s->json || absent_has_any(f->decision.language) ||
	    f->decision.language->n_rules > 0)
		put_modules(s, f->decision.language, &f->absent);
}
