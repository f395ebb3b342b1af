/* fuzz/fuzz_learn.c - a trace from nobody knows where becomes facts, and facts
 * from nobody knows where a fragment, or both are refused.  What facts_write
 * tells, learn_line takes. */
#include <string.h>

#include "audit/facts.h"
#include "fuzz/fuzz.h"
#include "policy/learn.h"

#define ROOM (1u << 20)

static const char language[] =
    "{\"version\":1,\"name\":\"python\",\"aliases\":[],"
    "\"source\":\"main.py\",\"package\":\"python3\","
    "\"program\":\"/usr/bin/python3\",\"run\":[\"python3\"],"
    "\"probe\":[\"python3\"],\"env\":{},\"modules\":{\"directories\":"
    "[\"/usr/lib/python3*\"],\"files\":[\"{name}.py\"]}}";
static const char policy_text[] =
    "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{}}}";

static void note(void *context, const char *text)
{
	*(size_t *)context += strlen(text);
}

static int take(void *context, const char *line, size_t len, struct error *e)
{
	MUST(len > 0 && line[len - 1] == '\n');
	MUST(memchr(line, '\n', len - 1) == NULL);
	if (learn_line(context, line, len - 1, e) == 0)
		return 0;
	MUST(e->kind == ERROR_LIMIT || e->kind == ERROR_STATE);
	return -1;
}

static void from_trace(struct learn *l, const char *data, size_t size)
{
	static const struct facts_run run = {
		.id = "r_0", .language = "python", .status = "ok", .policy = "0"
	};
	const struct facts_out out = { take, l };
	struct trace_file f;
	struct error e = { 0 };

	if (trace_file_open(data, size, &f, &e) < 0)
		return;
	if (facts_write(&f, &run, &out, &e) == 0)
		MUST(learn_end(l, &e) == 0);
	trace_file_close(&f);
}

static void from_facts(struct learn *l, const char *data, size_t size)
{
	struct error e = { 0 };

	for (size_t at = 0; at < size;) {
		const char *end = memchr(data + at, '\n', size - at);
		size_t len =
		    end != NULL ? (size_t)(end - data) - at : size - at;

		if (learn_line(l, data + at, len, &e) < 0)
			return;
		at += len + 1;
	}
}

static void check_fragment(struct learn *l, struct text_out *out)
{
	struct error e = { 0 };

	for (size_t i = 0; i < l->policy->n_languages; i++) {
		struct learn_language *of = &l->languages[i];

		if (of->n_runs == 0)
			continue;
		of->least = of->of->capabilities;
		of->least.only = of->seen;
	}
	MUST(learn_write(l, out, &e) == 0);
	for (size_t i = 0; i < out->len; i++)
		MUST((out->data[i] >= 0x20 && out->data[i] < 0x7f) ||
		     out->data[i] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct policy_text file = { "l/python.json", language,
		sizeof(language) - 1 };
	const struct policy_sources sources = { { "p.json", policy_text,
		                                    sizeof(policy_text) - 1 },
		&file, 1, true };
	size_t noted = 0;
	const struct learn_sink sink = { note, &noted };
	struct text_out out = { malloc(ROOM), ROOM, 0 };
	struct policy_faults faults = { 0 };
	struct policy *policy = NULL;
	struct learn l;
	struct error e = { 0 };

	MUST(out.data != NULL);
	MUST(policy_parse(&sources, &policy, &faults, &e) == 0);
	MUST(learn_open(policy, &sink, &l, &e) == 0);
	from_trace(&l, (const char *)data, size);
	if (l.n_runs == 0)
		from_facts(&l, (const char *)data, size);
	check_fragment(&l, &out);
	learn_close(&l);
	policy_free(policy);
	free(out.data);
	return 0;
}
