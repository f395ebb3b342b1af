/*
 * policy/cases.h - a policy's case file: requests, and what must be decided.
 * Read as strictly as a policy; bailiff-policy(5) has the format.
 *
 *   { "version": 1, "cases": [
 *     { "name": "no network tools", "request": { ... },       policy/request.h
 *       "expect": { "decision": "deny", "reasons": ["..."],   all of them
 *                   "rules": ["..."],                         all of them
 *                   "limits": { "wall_ms": 5000 },            those named
 *                   "calls": { "socket": "EPERM" } } } ] }    those named
 *
 * Only "decision" is required; "calls" are asked of an allowed request.
 */
#ifndef POLICY_CASES_H
#define POLICY_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "policy/answers.h"
#include "policy/request.h"

#define CASES_NAME_MAX  128
#define CASES_CALLS_MAX 32

struct cases_words {
	bool is_given;
	size_t n;
	char items[POLICY_WORDS_MAX][POLICY_WORD_MAX]; /* each once */
};

/* "arguments" where it depends on them, else as answer_word has it. */
struct cases_call {
	int number; /* of this machine; negative: it has none */
	char name[NUMBER_NAME_MAX];
	size_t answer; /* index as in cases_answer_words */
};

struct cases_expect {
	bool allow;
	struct cases_words reasons, rules;
	bool names[LIMIT_N];
	uint64_t limits[LIMIT_N];
	size_t n_calls;
	struct cases_call calls[CASES_CALLS_MAX];
};

/* Big: on the heap. */
struct cases_case {
	char name[CASES_NAME_MAX];
	struct request request;
	struct cases_expect expect;
};

/*
 * Check a whole file, case by case, into 'scratch'.  On success *ret_first is
 * the node of the first case (SCAN_NONE: none), *ret_n their number; the text
 * must stay.  'r' as in request_decode.
 */
struct cases_file {
	uint32_t first;
	size_t n;
};
int cases_open(struct reader *r, const struct policy_text *text,
    struct cases_case *scratch, struct cases_file *ret,
    struct error *e) MUST_CHECK;

/* One case of a checked file; the next is r->scan.nodes[node].next. */
void cases_read(struct reader *r, uint32_t node, struct cases_case *ret);

/*
 * Append what is other than expected, a clause each, "; " between; nothing when
 * all is as it must be.  'answers' may be NULL when there are no calls or the
 * request is denied.  ERROR_LIMIT when 'out' is full.
 */
int cases_compare(const struct cases_expect *expect,
    const struct policy_decision *got, const struct answers *answers,
    struct text_out *out, struct error *e) MUST_CHECK;

/* Tables of keys, for the manual's test. */
extern const struct reader_keys cases_keys;
extern const struct reader_keys cases_case_keys;
extern const struct reader_keys cases_expect_keys;

#endif
