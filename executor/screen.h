/*
 * executor/screen.h - what a supervisor and its bailiff-screen say to each
 * other.
 *
 * The screen looks for a policy's code rules in the code of requests.  It is
 * started once, when the policy has such rules, and again when it has died.
 * First comes BUILD with the rules, in one sealed memory file; the screen
 * compiles them, jails itself and answers READY with a pidfd of itself, or FAULT
 * with what is wrong with one of them.  From then on it answers CODE, one at a
 * time, with HITS.
 *
 * For each CODE it gets processor time; at its end the kernel kills it
 * (ITIMER_PROF).  A screen that hangs is killed by the supervisor.  Either way
 * the request is denied, code.rule.limit.
 */
#ifndef EXECUTOR_SCREEN_H
#define EXECUTOR_SCREEN_H

#include <stdint.h>

#include "base/wire.h"
#include "policy/policy.h"

#define SCREEN_CHANNEL_FD 3

/* Bytes of all rules in their file. */
#define SCREEN_RULES_MAX 262144

enum screen_verb {
	SCREEN_BUILD = 1, /* 1 descriptor: the rules */
	SCREEN_CODE,      /* 1 descriptor: the code, sealed */
};
enum screen_reply_verb {
	SCREEN_READY = 1, /* 1 descriptor: a pidfd of the screen */
	SCREEN_FAULT,
	SCREEN_HITS,
};

/* In the file: each is SCREEN_RULE of screen_rule_protocol behind its length
 * (u32), in the order of languages, then of their rules. */
enum screen_rule_verb {
	SCREEN_RULE = 1
};
struct screen_rule {
	char language[POLICY_NAME_MAX];
	uint32_t language_index; /* as in the policy; ascending */
	uint32_t is_module;
	uint32_t places;
	char text[POLICY_PATTERN_MAX];
};

struct screen_build {
	uint64_t code_max; /* the longest code that will come */
};

struct screen_fault {
	uint32_t language, rule; /* indices, as in the policy */
	char text[ERROR_TEXT_MAX];
};

struct screen_code {
	uint64_t number; /* comes back in the answer */
	uint32_t language;
	uint64_t size;
	uint32_t budget_ms; /* of processor time; not 0 */
};

struct screen_hit {
	uint32_t rule; /* index among the language's rules */
	uint64_t line; /* from 1 */
	uint64_t at;   /* offset of the last byte of the first match */
};

struct screen_hits {
	uint64_t number;
	uint32_t encoded; /* 1: the text declares that it means other bytes */
	WIRE_LIST_OF(struct screen_hit, POLICY_RULES_MAX) hits;
};

extern const struct wire_protocol screen_protocol;
extern const struct wire_protocol screen_reply_protocol;
extern const struct wire_protocol screen_rule_protocol;

#endif
