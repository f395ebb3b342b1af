/*
 * audit/verify_from.h - a verification that begins at a head.  Private to
 * audit/verify*.c.
 */
#ifndef AUDIT_VERIFY_FROM_H
#define AUDIT_VERIFY_FROM_H

#include "audit/verify_parts.h"

/* verify.c: the head that a checkpoint or receipt signs by the pinned key. */
int verify_open_head(struct verify *v, const struct verify_known *k,
    struct tree_head *ret, struct error *e) MUST_CHECK;

/*
 * verify_from.c: begin at options->from, once the pin is known: the next line
 * is then the first one to be judged.  Heads that lie before are not compared.
 */
int verify_from(struct verify *v, struct error *e) MUST_CHECK;
void verify_from_heads(struct verify *v);
void verify_say_from(struct verify *v);

#endif
