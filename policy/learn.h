/*
 * policy/learn.h - the least that some runs needed, as a fragment of a policy.
 * Linked by bailiff-policy.
 *
 * What the runs did comes as facts: the lines of `bailiff audit facts`
 * (audit/facts.h), which has checked whose they are.  Their strings are a
 * program's.  The fragment never gives what the policy does not: what was made
 * under another policy and is refused by this one is left out and named.
 *
 * To the calls that were made those are added that a C library, threads, timers
 * and signals may make at any time (docs/trace.md): a record of runs holds no
 * proof that the next one is interrupted at the same places.
 */
#ifndef POLICY_LEARN_H
#define POLICY_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "policy/filter.h"
#include "policy/numbers.h"
#include "policy/policy.h"

#define LEARN_LINE_MAX    65536 /* of facts, with its LF */
#define LEARN_NODES_MAX   64
#define LEARN_ARGS        6
#define LEARN_TUPLES_MAX  4096
#define LEARN_MODULES_MAX POLICY_ONLY_MAX
#define LEARN_DENIED_MAX  512
#define LEARN_HINTS_MAX   1024
#define LEARN_VALUE_MAX   16384

/* A call with the arguments that a filter may judge. */
struct learn_tuple {
	size_t call; /* callset_find */
	uint64_t args[LEARN_ARGS];
};

/* A file in a language's directories that is no module's own, and a module that
 * stands in it. */
struct learn_hint {
	char path[256], name[POLICY_NAME_MAX];
};

/* What the filter answered, and how often. */
struct learn_denied {
	char call[NUMBER_NAME_MAX];
	uint64_t n;
};

struct learn_language {
	const struct policy_language *of; /* borrowed */
	size_t n_runs;
	struct callset seen;
	uint32_t runs_of[CALLSET_MAX]; /* in how many runs it was made */
	struct learn_tuple *tuples;    /* owned */
	size_t n_tuples, tuples_cap;
	bool own_code; /* executed files that a program could write */
	/* Modules whose files were opened: first names, sorted by learn_least. */
	char (*modules)[POLICY_NAME_MAX]; /* owned */
	size_t n_modules;
	struct learn_denied *denied; /* owned */
	size_t n_denied;
	/* The answer: */
	struct capabilities least;
};

/* What a person should know, one clause each; bytes of others as they are. */
struct learn_sink {
	void (*note)(void *context, const char *text);
	void *context;
};

struct learn {
	const struct policy *policy; /* borrowed */
	const struct learn_sink *sink;
	struct learn_language *languages; /* owned; as in the policy */
	struct learn_language *now;       /* whose run is read; or NULL */
	size_t n_runs, n_lines;
	uint64_t host_inputs;
	char run[POLICY_NAME_MAX]; /* that is read */
	struct learn_hint *hints;  /* owned */
	size_t n_hints;
	struct filter *filter; /* owned; room */
	char *value;           /* owned; room for one string */
	struct scan s;         /* of the line that is read */
	struct scan_node nodes[LEARN_NODES_MAX];
};

int learn_open(const struct policy *policy, const struct learn_sink *sink,
    struct learn *ret, struct error *e) MUST_CHECK;
void learn_close(struct learn *l);

/* learn_hints.c: look at this host's directories of modules, before the first
 * line. */
int learn_hints(struct learn *l, struct error *e) MUST_CHECK;

/* One line of facts, without its LF. */
int learn_line(
    struct learn *l, const char *line, size_t len, struct error *e) MUST_CHECK;
/* All lines were read: ERROR_MALFORMED if a run has no end. */
int learn_end(struct learn *l, struct error *e) MUST_CHECK;

/* Find the least of every language that ran, and check that it is enough. */
int learn_least(struct learn *l, struct error *e) MUST_CHECK;
/* Append the fragment: JSON, ends with LF. */
int learn_write(
    struct learn *l, struct text_out *out, struct error *e) MUST_CHECK;

/* Note all that the policy as it is would have refused to these runs;
 * *ret_n is how much. */
int learn_check(struct learn *l, size_t *ret_n, struct error *e) MUST_CHECK;

#endif
