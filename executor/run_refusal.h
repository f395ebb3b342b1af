/*
 * executor/run_refusal.h - requests that the policy never judges: malformed
 * ones, and those for which there is no room.  Private to the supervisor.
 */
#ifndef EXECUTOR_RUN_REFUSAL_H
#define EXECUTOR_RUN_REFUSAL_H

#include "executor/run.h"

/* run.c: a run of 'c', not in the list (NULL: no memory), and its parts. */
struct run *run_make(struct session *c, uint64_t request);
int run_draw_id(struct run *r, struct error *e) MUST_CHECK;
void run_append(struct run *r);

/* The message just received is a RUN that cannot be decoded. */
void run_malformed(struct session *c);
/* A front says that it could not decode a request of its client. */
void run_unreadable(struct session *c, const struct protocol_refuse *m);
/* A new run of 'c', not yet in the list; NULL after FAILED was sent. */
struct run *run_enter(struct session *c, uint64_t request);
/* The reason why one more of 'c' is too many; NULL: it is not. */
const char *run_crowded(const struct session *c);
void run_keep_raw(struct run *r); /* the digest of the message just received */
/* Deny it for 'reason': recorded, answered, and limited in number. */
void run_turn_away(struct run *r, const char *reason);
void run_tell_malformed(struct run *r);

#endif
