/*
 * cli/policy_facts.h - what a decision comes to on this host, by the code that
 * a service uses, and its sections of a sheet.  Private to bailiff-policy.
 */
#ifndef CLI_POLICY_FACTS_H
#define CLI_POLICY_FACTS_H

#include "cli/policy_screen.h"
#include "cli/sheet.h"
#include "cli/toolchain.h"
#include "policy/absent.h"
#include "policy/answers.h"
#include "policy/load.h"
#include "policy/mounts.h"

/* Big: on the heap. */
struct policy_facts {
	const struct policy *policy;          /* borrowed */
	const struct policy_request *request; /* borrowed */
	struct policy_code code;
	struct policy_decision decision;
	struct policy_hits hits;
	/* Of an allowed request: */
	struct toolchain toolchain;
	struct filter filter;
	struct filter compiler; /* of a language that is compiled */
	struct answers answers;
	struct absent absent;
	struct mounts mounts;
};

/*
 * Decide, and compile what an allowed request gets.  ret->policy, request and
 * code are set.
 */
int policy_facts_find(struct policy_facts *ret, struct error *e) MUST_CHECK;

/* Each is a member of the sheet, named after it. */
void policy_facts_decision(struct sheet *s, const struct policy_facts *f);
void policy_facts_limits(struct sheet *s, const struct policy_facts *f);
void policy_facts_capabilities(
    struct sheet *s, const char *key, const struct capabilities *c);
void policy_facts_filter(struct sheet *s, const struct policy_facts *f);
void policy_facts_host(struct sheet *s, const struct policy_facts *f);

/* "unlimited", or digits. */
#define POLICY_AMOUNT_MAX 24
void policy_amount(uint64_t value, char ret[POLICY_AMOUNT_MAX]);

#endif
