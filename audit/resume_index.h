/*
 * audit/resume_index.h - the index at a start.  Private to audit/resume*.c.
 */
#ifndef AUDIT_RESUME_INDEX_H
#define AUDIT_RESUME_INDEX_H

#include "audit/chain.h"

/*
 * Open the index at c->state, before the tail of the log is read.  What is
 * missing is made from the log: after a crash at most the last epoch, where the
 * index is lost all of it.  Whatever goes wrong, the log goes on without it.
 */
void resume_index(struct chain *c);

#endif
