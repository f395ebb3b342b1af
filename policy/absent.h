/*
 * policy/absent.h - what makes a denied module on this host, and what answers
 * for it: its files are taken out of the view, or, where it is part of the
 * interpreter itself, a capability that the policy does not give stops what it
 * does.  Read from disk like policy/load.h, and for the same reason: `bailiff
 * policy check` must say exactly what a service does.
 *
 * Directories and files come from the language's data; names that are found
 * later (a package installed while a service runs) are not covered by it.
 */
#ifndef POLICY_ABSENT_H
#define POLICY_ABSENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "policy/policy.h"

#define ABSENT_PATHS_MAX 1024
#define ABSENT_PATH_MAX  256

enum absent_way {
	ABSENT_NOTHING,    /* this host has no such module: perhaps misspelt */
	ABSENT_FILES,      /* all of it is in files, which go */
	ABSENT_CAPABILITY, /* part of the interpreter; what it does is refused */
	ABSENT_NEITHER,    /* part of the interpreter; the policy is refused */
};

struct absent_module {
	const char *name; /* borrowed, of the policy */
	enum absent_way way;
	/* Of ABSENT_CAPABILITY: its name; of ABSENT_NEITHER: the one that would
	 * answer if it were not given, or NULL. */
	const char *capability;
	size_t first, n; /* its files in 'paths'; one may be another's too */
};

struct absent {
	const struct policy_language *language; /* borrowed */
	size_t n_modules;
	struct absent_module modules[POLICY_DENIED_MAX];
	size_t
	    n_others; /* the last of 'paths': of modules beside the only ones */
	size_t n_paths;
	/* Absolute, the directory's links resolved, the name as it is. */
	char paths[ABSENT_PATHS_MAX][ABSENT_PATH_MAX];
};

/* Whether the language goes without any module. */
bool absent_has_any(const struct policy_language *l);

/* Look at this host; big: on the heap. */
int absent_find(const struct policy_language *l, struct absent *ret,
    struct error *e) MUST_CHECK;

/* "absent", "capability", "nothing" or "refused". */
const char *absent_way_word(enum absent_way way);

/*
 * A code rule about a module that nothing but the rule keeps out: "screened
 * only".  The sandbox stops none of it.
 */
#define ABSENT_SCREENED "screened only"
bool absent_is_screened(
    const struct policy_language *l, const struct code_rule *rule);

/* Why a module of ABSENT_NEITHER cannot be denied, in one line. */
void absent_reason(const struct absent_module *module,
    const struct policy_language *l, char *ret, size_t cap);

/* ERROR_UNAVAILABLE with that line if there is such a module. */
int absent_judge(const struct absent *a, struct error *e) MUST_CHECK;

#endif
