/*
 * fuzz/fuzz_cases.c - case files: a refused text leaves faults; one that is
 * taken is read twice alike, and every case is either as expected or says what
 * is other, in a text that fits.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "policy/cases.h"
#include "tests/unit/policy_texts.h"

#define WHY_MAX 32768

struct work {
	struct reader reader;
	struct policy_faults faults;
	struct cases_case one;
	struct policy_decision decision;
	struct answers answers; /* all zero: "kill" */
	char why[WHY_MAX];
};

static void try_case(struct work *w, uint32_t node, const struct policy *policy)
{
	struct text_out why = { w->why, sizeof(w->why), 0 };
	struct error e;

	cases_read(&w->reader, node, &w->one);
	MUST(w->faults.n == 0);
	MUST(w->one.expect.n_calls <= CASES_CALLS_MAX);
	MUST(w->one.expect.allow || w->one.expect.n_calls == 0);
	policy_decide(policy, &w->one.request.asks, &w->decision);
	if (cases_compare(&w->one.expect, &w->decision, &w->answers, &why, &e) <
	    0) {
		MUST(e.kind == ERROR_LIMIT);
		return;
	}
	MUST(why.len > 0 || w->decision.allow == w->one.expect.allow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct work *w;
	static struct texts_result *policy;
	const struct policy_text text = { "c", (const char *)data, size };
	struct cases_file cases;
	struct error e = { 0 };
	size_t n = 0;

	/* Parsed once: it is not what is fuzzed. */
	if (policy == NULL) {
		policy =
		    texts_parse(TEXTS_POLICY(""), sizeof(TEXTS_POLICY("")) - 1);
		w = calloc(1, sizeof(*w));
	}
	MUST(w != NULL && policy->policy != NULL);
	w->faults.n = w->faults.more = 0;
	w->reader.faults = &w->faults;
	if (cases_open(&w->reader, &text, &w->one, &cases, &e) < 0) {
		MUST(w->faults.n > 0 && e.kind != ERROR_NONE);
		return 0;
	}
	for (uint32_t i = cases.first; i != SCAN_NONE;
	     i = w->reader.scan.nodes[i].next, n++)
		try_case(w, i, policy->policy);
	MUST(n == cases.n && n > 0);
	return 0;
}
