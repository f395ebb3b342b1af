/*
 * tests/unit/policy_texts.h - a language file and a policy around a few
 * members, for the tests of policy/.
 */
#ifndef TESTS_UNIT_POLICY_TEXTS_H
#define TESTS_UNIT_POLICY_TEXTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"

#define TEXTS_PYTHON                                               \
	"{\"version\":1,\"name\":\"python\",\"aliases\":[\"py\"]," \
	"\"source\":\"main.py\",\"package\":\"python3\","          \
	"\"program\":\"/usr/bin/python3\","                        \
	"\"run\":[\"python3\",\"/sandbox/main.py\"],"              \
	"\"probe\":[\"python3\",\"--version\"],"                   \
	"\"env\":{\"PATH\":\"/usr/bin\",\"HOME\":\"/sandbox\"},"   \
	"\"etc\":[\"ld.so.cache\"],\"needs\":[\"threads\"],"       \
	"\"modules\":{\"directories\":[\"/usr/lib/python3*\"],"    \
	"\"files\":[\"{name}.py\"],\"inside\":[\"sys\"]}}"
#define TEXTS_BASH                                                           \
	"{\"version\":1,\"name\":\"bash\",\"aliases\":[\"sh\"],"             \
	"\"source\":\"main.sh\",\"package\":\"bash\","                       \
	"\"program\":\"/bin/bash\",\"run\":[\"bash\",\"/sandbox/main.sh\"]," \
	"\"probe\":[\"bash\",\"--version\"],\"env\":{}}"

#define TEXTS_C                                                   \
	"{\"version\":1,\"name\":\"c\",\"source\":\"main.c\","    \
	"\"package\":\"gcc\",\"program\":\"/usr/bin/gcc\","       \
	"\"compile\":[\"gcc\",\"main.c\"],\"product\":\"a.out\"," \
	"\"run\":[\"a.out\"],\"probe\":[\"gcc\",\"--version\"],\"env\":{}}"

/* A policy named "t" with these members beside name and version. */
#define TEXTS_POLICY(members)                                                 \
	"{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{}}" members \
	"}"

struct texts_result {
	struct policy *policy; /* NULL when refused */
	struct policy_faults faults;
	struct error e;
};

/* Parse 'text' with these language files at hand, for an account. */
static inline struct texts_result *texts_parse_for(
    bool privileged, const char *text, size_t len)
{
	static const struct policy_text languages[] = {
		{ "l/bash.json", TEXTS_BASH, sizeof(TEXTS_BASH) - 1 },
		{ "l/c.json", TEXTS_C, sizeof(TEXTS_C) - 1 },
		{ "l/python.json", TEXTS_PYTHON, sizeof(TEXTS_PYTHON) - 1 },
	};
	const struct policy_sources sources = { { "p.json", text, len },
		languages, sizeof(languages) / sizeof(languages[0]),
		privileged };
	struct texts_result *r = calloc(1, sizeof(*r));

	if (r == NULL)
		abort();
	if (policy_parse(&sources, &r->policy, &r->faults, &r->e) < 0)
		r->policy = NULL;
	return r;
}

static inline struct texts_result *texts_parse(const char *text, size_t len)
{
	return texts_parse_for(false, text, len);
}

static inline void texts_free(struct texts_result *r)
{
	policy_free(r->policy);
	free(r);
}

#endif
