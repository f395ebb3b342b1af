/*
 * cli/policy_explain.c - `bailiff policy explain`.  Linked by bailiff-policy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/policy.h"
#include "cli/policy_asked.h"
#include "cli/policy_facts.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "policy/degraded.h"
#include "policy/tracing.h"

/* Everything of one command; on the heap. */
struct work {
	struct policy_asked asked;
	struct policy_loaded loaded;
	struct policy_faults faults;
	struct policy_facts facts;
	struct sheet sheet;
	char file[POLICY_PATH_MAX];
	char languages[POLICY_PATH_MAX];
};

static int load(struct work *w, struct error *e)
{
	struct policy_places places = { w->asked.options.place.policy,
		w->languages };

	if (places.policy == NULL) {
		if (policy_words_default(w->file, e) < 0)
			return -1;
		places.policy = w->file;
	}
	if (policy_place("languages", w->languages, e) < 0)
		return -1;
	if (policy_load(&places, &w->loaded, &w->faults, e) < 0)
		return FAIL_IN(e, "policy");
	return 0;
}

static void put_policy(struct sheet *s, const struct policy *policy)
{
	char hex[SHA256_HEX];

	sha256_hex(policy->sha256, hex);
	sheet_begin(s, "policy");
	sheet_text(s, "name", policy->name);
	sheet_text(s, "sha256", hex);
	sheet_text(s, "trace", tracing_word(policy));
	sheet_text(s, "trace_why", tracing_why(policy));
	sheet_text(
	    s, "degraded", policy->accept_degraded ? "accept" : "refuse");
	sheet_end(s);
}

/* What a service of this account lacks; what is delegated to it, only the
 * service finds out. */
static void put_lacking(struct sheet *s)
{
	bool root = geteuid() == 0;

	sheet_list(s, "lacking");
	for (size_t i = 0; !root && i < DEGRADED_N; i++) {
		const struct degraded *d = &degraded_without_root[i];

		if (d->when != DEGRADED_WITH_GROUPS || getgroups(0, NULL) > 0)
			sheet_item(s, d->word);
	}
	sheet_list_end(s);
}

static void put_all(struct sheet *s, const struct policy_facts *f)
{
	sheet_begin(s, NULL);
	policy_facts_decision(s, f);
	put_policy(s, f->policy);
	put_lacking(s);
	policy_facts_limits(s, f);
	if (f->decision.allow) {
		policy_facts_capabilities(
		    s, "capabilities", &f->decision.language->capabilities);
		policy_facts_filter(s, f);
		policy_facts_host(s, f);
	}
	sheet_end(s);
}

static int explain(struct work *w, struct error *e)
{
	if (load(w, e) < 0 || policy_asked_read(&w->asked, e) < 0)
		return -1;
	w->facts.policy = w->loaded.policy;
	w->facts.request = &w->asked.request.asks;
	w->facts.code = w->asked.code;
	return policy_facts_find(&w->facts, e);
}

static int run(struct work *w, char **words)
{
	struct error e = { .kind = ERROR_NONE };

	if (policy_asked_parse(words, &w->asked, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (w->asked.options.help)
		return options_help(&run_explain_command);
	if (explain(w, &e) < 0)
		return say_failed(&e, e.kind == ERROR_USAGE ? EXIT_USAGE : 1);
	w->sheet.json = w->asked.options.json;
	put_all(&w->sheet, &w->facts);
	if (sheet_print(&w->sheet) != 0)
		return 1;
	return w->facts.decision.allow ? 0 : EXIT_DENIED;
}

int policy_explain_main(char **words)
{
	struct work *w = calloc(1, sizeof(*w));
	int code;

	if (w == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	w->asked.texts = (struct run_texts)RUN_TEXTS_NONE;
	code = run(w, words);
	policy_asked_done(&w->asked);
	policy_loaded_done(&w->loaded);
	free(w);
	return code;
}
