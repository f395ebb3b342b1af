/*
 * fuzz/fuzz_request.c - requests in JSON, and the decision about what was read:
 * a refused text leaves faults; a decision is whole, sorted, denies by default,
 * and what it allows lies beneath a root and below every max.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "policy/path.h"
#include "policy/request.h"
#include "tests/unit/policy_texts.h"

#define POLICY                                                                \
	TEXTS_POLICY(",\"paths\":{\"read\":[\"/a\",\"/a/b\",\"/srv/data\"]}," \
	             "\"limits\":{\"code\":{\"default\":100,\"max\":200}}")

struct work {
	struct reader reader;
	struct policy_faults faults;
	struct request request;
	struct policy_decision decision;
};

static void check_words(const struct policy_words *w)
{
	MUST(w->n <= POLICY_WORDS_MAX);
	for (size_t i = 0; i < w->n; i++) {
		MUST(strlen(w->items[i]) > 0);
		MUST(i == 0 || strcmp(w->items[i - 1], w->items[i]) < 0);
	}
}

static void check_allowed(const struct policy *p, const struct work *w)
{
	const struct policy_request *asks = &w->request.asks;
	const struct policy_decision *d = &w->decision;

	MUST(d->language != NULL && asks->code_size > 0);
	MUST(asks->code_size <= d->limits[LIMIT_CODE]);
	MUST(asks->n_inputs == asks->n_inputs_asked);
	for (size_t i = 0; i < LIMIT_N; i++)
		MUST(d->limits[i] <= d->language->limits[i].max);
	for (size_t i = 0; i < asks->n_inputs; i++) {
		const struct policy_input *input = &asks->inputs[i];
		const char *root = p->read_roots[d->input_root[i]].path;

		MUST(path_is_name(input->name));
		if (input->kind == POLICY_INPUT_INLINE)
			continue;
		MUST(strncmp(input->host, root, strlen(root)) == 0);
		MUST(strstr(input->host, "/../") == NULL);
		if (strcmp(d->input_beneath[i], ".") == 0)
			continue;
		MUST(input->host[strlen(root)] == '/');
		MUST(strcmp(input->host + strlen(root) + 1,
		         d->input_beneath[i]) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct work *w;
	static struct texts_result *policy;
	const struct policy_text text = { "r", (const char *)data, size };
	struct error e = { 0 };

	/* Parsed once: it is not what is fuzzed. */
	if (policy == NULL) {
		policy = texts_parse(POLICY, sizeof(POLICY) - 1);
		w = calloc(1, sizeof(*w));
	}
	MUST(w != NULL && policy->policy != NULL);
	w->faults.n = w->faults.more = 0;
	w->reader.faults = &w->faults;
	if (request_decode(&w->reader, &text, &w->request, &e) < 0) {
		MUST(w->faults.n > 0 && e.kind != ERROR_NONE);
		return 0;
	}
	MUST(w->faults.n == 0);
	policy_decide(policy->policy, &w->request.asks, &w->decision);
	MUST(w->decision.allow == (w->decision.reasons.n == 0));
	check_words(&w->decision.rules);
	check_words(&w->decision.reasons);
	if (w->decision.allow)
		check_allowed(policy->policy, w);
	return 0;
}
