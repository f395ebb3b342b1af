/*
 * policy/learn_parts.h - what the files learn*.c share.  Nobody else includes
 * this.
 */
#ifndef POLICY_LEARN_PARTS_H
#define POLICY_LEARN_PARTS_H

#include "policy/learn.h"

/* learn_modules.c: the module that a file of the language belongs to, or false
 * for a file that is none's. */
bool learn_module(const struct language_modules *m, const char *path,
    char ret[POLICY_NAME_MAX]);

/* Keep those that the policy has, sorted; the others are noted.  How many of
 * them it does not have. */
void learn_modules_least(struct learn *l, struct learn_language *of);
size_t learn_modules_check(struct learn *l, const struct learn_language *of);

void learn_note(struct learn *l, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
