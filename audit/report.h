/*
 * audit/report.h - what a verification found, and its verdict.
 *
 * Pure.  Texts are kept escaped, so that they may be printed as they are.
 */
#ifndef AUDIT_REPORT_H
#define AUDIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The exit codes of `bailiff audit verify`. */
enum verdict {
	VERDICT_VERIFIED = 0,
	VERDICT_TAMPERED = 1,
	VERDICT_NOT_RUN = 2,
	VERDICT_BELOW =
	    3, /* the required assurance, or a WARN under --strict */
	VERDICT_DIVERGED = 4,
	VERDICT_INCOMPLETE = 5,
	VERDICT_UNSUPPORTED = 6,
};

/* "VERIFIED", ... */
const char *verdict_word(enum verdict v);

enum report_level {
	REPORT_PASS,
	REPORT_WARN,
	REPORT_FAIL
};

/* Where in the log; 'known' false: nowhere in particular. */
struct report_place {
	bool known;
	uint64_t seq;
	uint64_t offset; /* byte in the segment where its line begins */
	uint32_t segment;
};

#define REPORT_CHECK_MAX 24
#define REPORT_TEXT_MAX  200
#define REPORT_KEPT      1000 /* findings kept; the rest is counted */

struct report_finding {
	enum report_level level;
	enum verdict verdict; /* what it makes of the log */
	char check[REPORT_CHECK_MAX];
	struct report_place place;
	char expected[REPORT_TEXT_MAX]; /* "" when there is nothing to say */
	char found[REPORT_TEXT_MAX];
};

struct report {
	struct report_finding *findings; /* owned */
	size_t n_findings;
	uint64_t n_pass, n_warn, n_fail; /* all, kept or not */
	uint32_t seen;                   /* a bit for each verdict */
};

int report_init(struct report *r, struct error *e) MUST_CHECK;
void report_done(struct report *r);

/*
 * What a finding is about.  'verdict' is what it makes of the log:
 * VERDICT_VERIFIED is a PASS, VERDICT_BELOW a WARN, anything else a FAIL.
 */
struct report_what {
	enum verdict verdict;
	const char *check;                /* its name: "chain.prev" */
	const struct report_place *place; /* NULL: nowhere */
	const char *expected;             /* NULL: nothing to say */
};

/* Add one finding.  The formatted text says what was found; it is escaped. */
void report_add(struct report *r, const struct report_what *what,
    const char *format, ...) PRINTF_LIKE(3, 4);

/* The gravest of 1, 4, 6, 5; a WARN counts as 3 only if 'strict'. */
enum verdict report_verdict(const struct report *r, bool strict);

#endif
