/*
 * executor/recover.h - runs whose supervisor was killed after their outcome was
 * recorded and before their folder was published.
 */
#ifndef EXECUTOR_RECOVER_H
#define EXECUTOR_RECOVER_H

#include "audit/client.h"
#include "executor/state.h"

/*
 * Of the folders that state_open set aside, publish those that are whole (every
 * file as MANIFEST says) and whose MANIFEST the log vouches for; the others stay
 * in quarantine.  Waits for the signer's answers: for the start, before the
 * loop.  Fails only when the signer is gone.
 */
int recover_runs(const struct state *state, struct audit_client *audit,
    struct error *e) MUST_CHECK;

#endif
