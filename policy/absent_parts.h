/*
 * policy/absent_parts.h - what absent.c, absent_only.c and learn_hints.c share.
 * Nobody else includes this.
 */
#ifndef POLICY_ABSENT_PARTS_H
#define POLICY_ABSENT_PARTS_H

#include <glob.h>
#include <limits.h>

#include "policy/absent.h"

#define ABSENT_NAME_MARK    "{name}"
#define ABSENT_BUILTINS_MAX 1024

/* Modules that the interpreters themselves hold, and patterns as they stand. */
struct absent_finder {
	struct absent *a;
	struct error *e;
	size_t n_read; /* interpreters */
	size_t n_builtins;
	char builtins[ABSENT_BUILTINS_MAX][POLICY_NAME_MAX];
	char pattern[PATH_MAX];
	char dir[PATH_MAX];
	char real[PATH_MAX];
};

/* What the name of a module is made of. */
#define ABSENT_LETTERS               \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* The language's directories that this host has; to globfree(3) in any case. */
int absent_find_dirs(
    const struct language_modules *m, glob_t *ret, struct error *e) MUST_CHECK;

/* The module whose file this is by a pattern "BEFORE{name}AFTER". */
bool absent_match(
    const char *pattern, const char *file, char ret[POLICY_NAME_MAX]);

bool absent_has_builtin(const struct absent_finder *f, const char *name);

/* Add a file or directory, its directory's links resolved, unless it is among
 * those from 'first' on already. */
int absent_add_path(
    struct absent_finder *f, const char *path, size_t first) MUST_CHECK;

/* absent_only.c: add what lies in these directories and is importable, of
 * modules that the policy's "only" does not name. */
int absent_find_others(struct absent_finder *f, const glob_t *dirs) MUST_CHECK;

#endif
