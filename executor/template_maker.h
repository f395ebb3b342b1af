/*
 * executor/template_maker.h - what the parts of template_make share.  Private
 * to template*.c.
 */
#ifndef EXECUTOR_TEMPLATE_MAKER_H
#define EXECUTOR_TEMPLATE_MAKER_H

#include "executor/template.h"

struct maker {
	struct template *t;
	struct sha256 hash;
	struct error *e;
};

/* An entry without a target; 'take' is taken, also on failure. */
int maker_add(
    struct maker *m, uint32_t kind, const char *path, int take) MUST_CHECK;

bool maker_has(const struct maker *m, const char *path);

/* template_trees.c: a directory of the host at "/name", as a tree; what the
 * host has mounted inside the trees; what denied modules are made of. */
int maker_add_tree(struct maker *m, const char *name) MUST_CHECK;
int maker_add_inner(struct maker *m) MUST_CHECK;
int maker_add_denied(
    struct maker *m, const struct policy_language *l) MUST_CHECK;

#endif
