/*
 * cli/policy_screen.c - code rules over the code of a request.  Linked by
 * bailiff-policy: it reads hostile code with its caller's rights, where a
 * service has a program of its own that holds nothing.
 */
#include "cli/policy_screen.h"

#include <string.h>

#include "policy/screening.h"

static int scan(struct screening *s, const struct policy_code *code,
    struct screening_hits *ret, struct error *e)
{
	struct screening_room *room;
	int failed;

	if (screening_room(&s, 1, code->n, &room, e) < 0)
		return -1;
	memcpy(screening_text(room), code->data, code->n);
	failed = screening_scan(s, room, code->n, ret, e);
	screening_room_free(room);
	return failed;
}

static void add_hits(const struct screening_hits *hits,
    struct policy_decision *d, struct policy_hits *ret)
{
	for (size_t i = 0; i < hits->n; i++) {
		const struct code_rule *rule =
		    &d->language->rules[hits->items[i].rule];

		policy_decision_hit(d, rule);
		ret->items[i].rule = rule;
		ret->items[i].line = hits->items[i].line;
	}
	ret->n = hits->n;
	if (hits->encoded)
		policy_decision_deny(d, "code.encoding");
}

int policy_screen(const struct policy_code *code, struct policy_decision *d,
    struct policy_hits *ret, struct error *e)
{
	const struct policy_language *l = d->language;
	struct screening_hits hits;
	struct screening_rules rules;
	struct screening *s;
	size_t which;
	int failed;

	ret->n = 0;
	if (code->data == NULL || !policy_decision_screens(d, code->n))
		return 0;
	rules =
	    (struct screening_rules){ l->language.name, l->rules, l->n_rules };
	if (screening_compile(&rules, &s, &which, e) < 0)
		return FAIL_IN(
		    e, "rule %s of %s", l->rules[which].id, l->language.name);
	failed = scan(s, code, &hits, e);
	screening_free(s);
	if (failed < 0)
		return FAIL_IN(e, "screen the code");
	add_hits(&hits, d, ret);
	return 0;
}
