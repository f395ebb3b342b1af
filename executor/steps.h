/*
 * executor/steps.h - work as rows: what is done in which order, under which
 * name it fails, and what the reader of that failure can do about it.
 */
#ifndef EXECUTOR_STEPS_H
#define EXECUTOR_STEPS_H

#include <stddef.h>

#include "base/error.h"
#include "executor/launch.h"

/* One row of building something; 'context' is whatever the table is about. */
struct stage {
	const char *name; /* shorter than LAUNCH_STEP_MAX */
	int (*act)(void *context, struct error *e);
	const char *remedy; /* shorter than LAUNCH_REMEDY_MAX */
};

struct stages {
	size_t n;
	const struct stage *rows;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): the name of an array takes none */
#define STAGES(table) \
	((struct stages){ sizeof(table) / sizeof(table[0]), table })
/* NOLINTEND(bugprone-macro-parentheses) */

/* Do the rows in order; the first that fails is told in *ret, -1. */
int steps_run(
    struct stages stages, void *context, struct launch_failed *ret) MUST_CHECK;

/* Tell about one failed row; ret->run stays as it is.  Worth -1. */
int steps_failed(const char *name, const char *remedy, const struct error *e,
    struct launch_failed *ret);

struct confine;

/* Whether a row is applied before the request is known. */
enum step_when {
	WITH_REQUEST,
	AHEAD
};

/*
 * One row of confining a program: 'apply' takes something away, 'prove' tries
 * it or reads it back from the final state, since a later row may undo an
 * earlier one.
 */
struct step {
	const char *name;
	int (*apply)(struct confine *c, struct error *e);
	int (*prove)(struct confine *c, struct error *e);
	const char *remedy;
	enum step_when when;
};

#endif
