/*
 * fuzz/fuzz_policy.c - policy texts: a refused one leaves faults and no policy;
 * a taken one is decided upon and its canonical text is JSON.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "tests/unit/policy_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct texts_result *r = texts_parse((const char *)data, size);
	struct policy_request request = { .language = "python",
		.code_size = 1,
		.n_inputs = 1,
		.n_inputs_asked = 1,
		.inputs = { { .host = "/srv/../etc/passwd", .name = "x" } } };
	struct policy_decision *d = calloc(1, sizeof(*d));

	MUST(d != NULL);
	if (r->policy == NULL) {
		MUST(r->faults.n > 0 && r->e.kind != ERROR_NONE);
	} else {
		MUST(r->faults.n == 0 && r->e.kind == ERROR_NONE);
		MUST(strlen(r->policy->effective) == r->policy->effective_len);
		policy_decide(r->policy, &request, d);
		MUST(!d->allow && d->reasons.n > 0);
	}
	free(d);
	texts_free(r);
	return 0;
}
