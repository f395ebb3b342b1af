/*
 * cli/policy_screen.h - the code rules' part of a decision, for code that is
 * known: what bailiff-screen would find, by the same functions.  Private to
 * bailiff-policy.
 */
#ifndef CLI_POLICY_SCREEN_H
#define CLI_POLICY_SCREEN_H

#include "policy/policy.h"

/* The program text of a request; NULL when only its size is known. */
struct policy_code {
	const void *data; /* borrowed */
	size_t n;
};

/* Where each rule that is met is met first, in the order of the text. */
struct policy_hits {
	size_t n;
	struct {
		const struct code_rule *rule; /* borrowed */
		uint64_t line;                /* from 1 */
	} items[POLICY_RULES_MAX];
};

/*
 * Add what the rules of the decision's language meet, as the supervisor does
 * (executor/run_screen.c).  Nothing to do without rules, without a text or with
 * one that is denied for its length.
 */
int policy_screen(const struct policy_code *code, struct policy_decision *d,
    struct policy_hits *ret, struct error *e) MUST_CHECK;

#endif
