/*
 * executor/session_results.h - a front reads results, or has them removed.
 * Private to the supervisor.
 */
#ifndef EXECUTOR_SESSION_RESULTS_H
#define EXECUTOR_SESSION_RESULTS_H

#include "executor/session.h"

void session_list(struct session *c, const struct protocol_open *o);
void session_open(struct session *c, const struct protocol_open *o);
void session_redact(struct session *c, const struct protocol_redact *m);

/* The run was asked for over this channel: reading it is part of its reply. */
void session_ran(struct session *c, const char *run_id);

#endif
