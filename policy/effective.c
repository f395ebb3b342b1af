/*
 * policy/effective.c - what a policy means, as one canonical text: keys sorted,
 * no spaces, every default filled in, the languages' data included.  Linked by
 * bailiff-policy and the supervisor; pure.  Recorded and kept with the runs, so
 * a member once written here stays.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/effective_writer.h"
#include "policy/libraries.h"
#include "policy/parse.h"
#include "policy/tracing.h"

#define TEXT_FIRST 65536
#define TEXT_LAST  8388608

/* Policies without it keep the text, and the digest, that they had. */
static void put_only(struct writer *w, const struct callset *only)
{
	const char *names[CALLSET_MAX];
	size_t n = callset_names(only, names);

	if (!only->given)
		return;
	put(w, ",\"syscalls\":{\"only\":[");
	for (size_t i = 0; i < n; i++) {
		put(w, i > 0 ? "," : "");
		put_string(w, names[i]);
	}
	put(w, "]}");
}

static void put_capabilities(
    struct writer *w, const char *key, const struct capabilities *c)
{
	put(w, key);
	put_bool(w, "{\"exec_memory\":", c->exec_memory);
	put_bool(w, ",\"ipc\":", c->ipc);
	put_bool(w, ",\"loopback\":", c->loopback);
	put_bool(w, ",\"network\":", c->network);
	put_bool(w, ",\"subprocess\":", c->subprocess);
	put_only(w, &c->only);
	put_bool(w, ",\"threads\":", c->threads);
	put(w, "}");
}

static void put_env(struct writer *w, const char *key, struct rows rows)
{
	put(w, key);
	put(w, "{");
	for (size_t i = 0; i < rows.n; i++) {
		const char *row = rows.at + i * rows.width;
		size_t len = strcspn(row, "=");

		put(w, i > 0 ? "," : "");
		if (text_json_string(row, len, &w->out, w->e) < 0)
			w->failed = true;
		put(w, ":");
		put_string(w, row + len + 1);
	}
	put(w, "}");
}

/* What captures plots; the bytes of the files are in the digest of the view. */
static void put_plots(struct writer *w, const struct language *l)
{
	if (l->n_plot_files == 0)
		return;
	put_env(w, ",\"plots\":{\"env\":", ROWS(l->plot_env, l->n_plot_env));
	put_rows(w, ",\"files\":", ROWS(l->plot_files, l->n_plot_files));
	put(w, "}");
}

/* How the language's modules are found. */
static void put_modules(struct writer *w, const struct language_modules *m)
{
	put(w, ",\"modules\":{\"answers\":{");
	for (size_t i = 0; i < m->n_answers; i++) {
		put(w, i > 0 ? "," : "");
		put_string(w, m->answers[i].module);
		put(w, ":");
		put_string(
		    w, parse_capability_names.items[m->answers[i].capability]);
	}
	put_rows(
	    w, "},\"directories\":", ROWS(m->directories, m->n_directories));
	put_rows(w, ",\"files\":", ROWS(m->files, m->n_files));
	put_rows(w, ",\"inside\":", ROWS(m->inside, m->n_inside));
	put_rows(
	    w, ",\"interpreters\":", ROWS(m->interpreters, m->n_interpreters));
	put(w, ",\"mark\":");
	put_string(w, m->mark);
	put(w, "}");
}

static void put_env_rows(
    struct writer *w, const char *key, const char (*rows)[256], size_t n)
{
	put_rows(w, key, (struct rows){ rows[0], sizeof(rows[0]), n });
}

/* The members of a layer, without braces. */
static void put_layer(struct writer *w, const struct language_layer *l)
{
	put(w, "\"code\":");
	put_string(w, l->code);
	put_rows(w, ",\"command\":", ROWS(l->argv, l->n_argv));
	put_env_rows(w, ",\"env\":", l->env, l->n_env);
	put_env_rows(w, ",\"making\":", l->making, l->n_making);
}

static void put_installer(struct writer *w, const struct language *l)
{
	if (l->installer.layer.n_argv == 0)
		return;
	put(w, ",\"installer\":{\"files\":");
	put_string(w, l->installer.files);
	put_bool(w, ",\"folds\":", l->installer.folds);
	put(w, ",\"layer\":{");
	put_layer(w, &l->installer.layer);
	put(w, "}}");
}

/* Policies that allow none keep the text, and the digest, that they had. */
static void put_libraries(struct writer *w, const struct policy_language *l)
{
	if (l->n_libraries == 0)
		return;
	put(w, ",\"libraries\":{\"allow\":[");
	for (size_t i = 0; i < l->n_libraries; i++) {
		char text[LIBRARY_TEXT_MAX];

		library_text(&l->libraries[i], text);
		put(w, i > 0 ? "," : "");
		put_string(w, text);
	}
	put(w, "],\"from\":");
	put_string(w, l->libraries_from);
	put(w, "}");
}

static void put_data(struct writer *w, const struct language *l)
{
	put_rows(w, ",\"data\":{\"aliases\":", ROWS(l->aliases, l->n_aliases));
	if (l->n_compile > 0)
		put_rows(w, ",\"compile\":", ROWS(l->compile, l->n_compile));
	put_env(w, ",\"env\":", ROWS(l->env, l->n_env));
	put_rows(w, ",\"etc\":", ROWS(l->etc, l->n_etc));
	put_installer(w, l);
	if (l->modules.n_directories > 0)
		put_modules(w, &l->modules);
	put(w, ",\"name\":");
	put_string(w, l->name);
	put_capabilities(w, ",\"needs\":", &l->needs);
	put(w, ",\"package\":");
	put_string(w, l->package);
	put_plots(w, l);
	put_rows(w, ",\"probe\":", ROWS(l->probe, l->n_probe));
	if (l->n_compile > 0) {
		put(w, ",\"product\":");
		put_string(w, l->product);
	}
	put(w, ",\"program\":");
	put_string(w, l->program);
	put_rows(w, ",\"run\":", ROWS(l->argv, l->n_argv));
	put(w, ",\"source\":");
	put_string(w, l->source);
	put(w, "}");
}

static int compare_ids(const void *a, const void *b)
{
	const enum limit_id *id_a = a;
	const enum limit_id *id_b = b;

	return strcmp(limit_table[*id_a].name, limit_table[*id_b].name);
}

static void put_limits(struct writer *w, const struct limit limits[LIMIT_N])
{
	enum limit_id ids[LIMIT_N];

	for (size_t i = 0; i < LIMIT_N; i++)
		ids[i] = (enum limit_id)i;
	qsort(ids, LIMIT_N, sizeof(ids[0]), compare_ids);
	put(w, ",\"limits\":{");
	for (size_t i = 0; i < LIMIT_N; i++) {
		put(w, i > 0 ? "," : "");
		put_string(w, limit_table[ids[i]].name);
		put(w, ":{\"default\":");
		put_u64(w, limits[ids[i]].value);
		put(w, ",\"max\":");
		put_u64(w, limits[ids[i]].max);
		put(w, "}");
	}
	put(w, "}");
}

/* Policies that say nothing of it keep the text, and the digest, that they
 * had. */
static void put_compile_limits(
    struct writer *w, const struct compile_limits *limits)
{
	enum limit_id ids[LIMIT_N];
	size_t n = 0;

	for (size_t i = 0; i < LIMIT_N; i++)
		if (limits->is_said[i])
			ids[n++] = (enum limit_id)i;
	if (n == 0)
		return;
	qsort(ids, n, sizeof(ids[0]), compare_ids);
	put(w, ",\"compile_limits\":{");
	for (size_t i = 0; i < n; i++) {
		put(w, i > 0 ? "," : "");
		put_string(w, limit_table[ids[i]].name);
		put(w, ":");
		put_u64(w, limits->value[ids[i]]);
	}
	put(w, "}");
}

/* Compiled by bailiff-screen in this order. */
static void put_rules(struct writer *w, const struct policy_language *l)
{
	static const char *const places[] = { "code", "strings", "comments" };

	put(w, ",\"rules\":[");
	for (size_t i = 0; i < l->n_rules; i++) {
		const struct code_rule *rule = &l->rules[i];
		const char *comma = "";

		put(w, i > 0 ? "," : "");
		put(w, rule->action == CODE_DENY ? "{\"action\":\"deny\""
		                                 : "{\"action\":\"flag\"");
		put(w, ",\"id\":");
		put_string(w, rule->id);
		put(w, rule->is_module ? ",\"module\":" : ",\"in\":[");
		for (size_t j = 0; !rule->is_module && j < 3; j++) {
			if ((rule->places >> j & 1) == 0)
				continue;
			put(w, comma);
			put_string(w, places[j]);
			comma = ",";
		}
		put(w, rule->is_module ? "" : "],\"pattern\":");
		put_string(w, rule->text);
		put(w, "}");
	}
	put(w, "]");
}

static void put_languages(struct writer *w, const struct policy *p)
{
	put(w, ",\"languages\":{");
	for (size_t i = 0; i < p->n_languages; i++) {
		const struct policy_language *l = &p->languages[i];

		put(w, i > 0 ? "," : "");
		put_string(w, l->language.name);
		put_capabilities(w, ":{\"capabilities\":", &l->capabilities);
		put_compile_limits(w, &l->compile);
		put_data(w, &l->language);
		put_libraries(w, l);
		put_limits(w, l->limits);
		put_rows(
		    w, ",\"modules\":{\"deny\":", ROWS(l->denied, l->n_denied));
		if (l->has_only)
			put_rows(w, ",\"only\":", ROWS(l->only, l->n_only));
		put(w, "}");
		put_rules(w, l);
		put(w, "}");
	}
	put(w, "}");
}

static void put_most(struct writer *w, const char *key, uint64_t value)
{
	put(w, key);
	if (value == UINT64_MAX)
		put(w, "\"unlimited\"");
	else
		put_u64(w, value);
}

static void put_audit(
    struct writer *w, const struct policy_audit *a, const char *durability)
{
	static const char *const content[] = { "commit", "omit", "store" };

	put(w, ",\"audit\":{\"access\":");
	put_string(w, a->access ? "record" : "none");
	put(w, ",\"args\":");
	put_string(w, content[a->args]);
	put(w, ",\"durability\":");
	put_string(w, durability);
	put(w, ",\"env\":");
	put_string(w, content[a->env]);
	put_most(w, ",\"results\":{\"keep_days\":",
	    a->keep_days == POLICY_UNLIMITED ? UINT64_MAX : a->keep_days);
	put_most(w, ",\"max_bytes\":", a->max_bytes);
	put(w, "},\"stdin\":");
	put_string(w, content[a->standard_input]);
	put(w, ",\"tick_s\":");
	if (a->tick_s == 0)
		put(w, "\"none\"");
	else
		put_u64(w, a->tick_s);
	put(w, "}");
}

static void put_policy(struct writer *w, const struct policy *p)
{
	static const char *const durability[] = { "full", "relaxed", "none" };

	put_rows(w, "{\"artifacts\":", ROWS(p->artifacts, p->n_artifacts));
	put_audit(w, &p->audit, durability[p->durability]);
	put(w, ",\"concurrency\":{\"per_principal\":");
	if (p->per_principal == 0)
		put(w, "\"auto\"");
	else if (p->per_principal == POLICY_UNLIMITED)
		put(w, "\"unlimited\"");
	else
		put_u64(w, p->per_principal);
	put(w, ",\"queue\":");
	put_u64(w, p->queue);
	put(w, ",\"runs\":");
	if (p->runs_at_once == 0)
		put(w, "\"auto\"");
	else
		put_u64(w, p->runs_at_once);
	put(w, "},\"degraded\":");
	put_string(w, p->accept_degraded ? "accept" : "refuse");
	put(w, ",\"landlock\":{\"min_abi\":");
	put_u64(w, p->landlock_min_abi);
	put(w, "}");
	put_languages(w, p);
	put(w, ",\"name\":");
	put_string(w, p->name);
	put(w, ",\"network\":\"none\"");
	put_rows(w, ",\"paths\":{\"export\":[],\"read\":",
	    (struct rows){ p->read_roots[0].path, sizeof(p->read_roots[0]),
	        p->n_read_roots });
	put(w, "},\"service\":{\"linger_s\":");
	put_u64(w, p->linger_s);
	put(w, "},\"trace\":");
	put_string(w, tracing_word(p));
	put(w, ",\"trace_file\":");
	put_string(w, p->trace_packed ? "gzip" : "plain");
	put(w, ",\"version\":1}");
}

int parse_effective(struct policy *p, struct error *e)
{
	char *data = NULL;

	for (size_t cap = TEXT_FIRST; cap <= TEXT_LAST; cap *= 2) {
		struct error full = { .kind = ERROR_NONE };
		struct writer w = { .e = &full };
		char *more = realloc(data, cap);

		if (more == NULL) {
			free(data);
			return FAIL_SYS(e, "allocate the effective policy");
		}
		data = more;
		w.out = (struct text_out){ data, cap, 0 };
		put_policy(&w, p);
		if (w.failed)
			continue;
		p->effective = data;
		p->effective_len = w.out.len;
		sha256_of(data, w.out.len, p->sha256);
		return 0;
	}
	free(data);
	return FAIL(e, ERROR_LIMIT, "the effective policy is too long to keep");
}
