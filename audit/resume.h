/*
 * audit/resume.h - a start of the signer: what the disk says about the log,
 * checked, until the chain can go on from there.
 */
#ifndef AUDIT_RESUME_H
#define AUDIT_RESUME_H

#include "audit/chain.h"

/*
 * Begin a new, empty log whose keys are in c->keys and whose store is open:
 * record keys, a checkpoint of nothing, state/head; keys/log.key comes last.
 */
int resume_new(struct chain *c, int state_fd, struct error *e) MUST_CHECK;

/*
 * Read an existing log, keys and store being open: from state/head on if there
 * is one, else from the front.  What follows the newest checkpoint is checked
 * by chain and signature.  A torn tail is set aside.  Then checkpoint, head and
 * record keys are brought up to date.
 * ERROR_TAMPERED, saying what, for a log that is shorter than its mark, not
 * the one that was signed, damaged elsewhere than at its end, or closed.
 */
int resume_log(struct chain *c, int state_fd, struct error *e) MUST_CHECK;

#endif
