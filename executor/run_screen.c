/*
 * executor/run_screen.c - the code rules' part of a decision.  Linked by the
 * supervisor.
 */
#include <string.h>

#include "executor/run_steps.h"

bool run_wants_screen(const struct run *r)
{
	return policy_decision_screens(&r->decision, r->intent.code_size);
}

/* The intent was filled in when the request was decoded. */
static void keep_rules(struct run *r)
{
	const struct policy_words *rules = &r->decision.rules;

	for (size_t i = 0; i < rules->n; i++)
		memcpy(r->intent.rules.items[i].text, rules->items[i],
		    sizeof(r->intent.rules.items[i].text));
	r->intent.rules.n = rules->n;
}

int run_screened(struct run *r, const struct run_message *m, struct error *e)
{
	const struct screen_hits *found = &m->in->screen_hits;
	const struct policy_language *l = r->decision.language;

	for (uint64_t i = 0; i < found->hits.n; i++)
		if (found->hits.items[i].rule >= l->n_rules)
			return FAIL(e, ERROR_MALFORMED, "a rule that is none");
	for (uint64_t i = 0; i < found->hits.n; i++)
		policy_decision_hit(
		    &r->decision, &l->rules[found->hits.items[i].rule]);
	if (found->encoded != 0)
		policy_decision_deny(&r->decision, "code.encoding");
	keep_rules(r);
	run_judged(r);
	return 0;
}

void run_unscreened(struct run *r, const char *reason)
{
	policy_decision_deny(&r->decision, reason);
	run_deny(r);
}
