/*
 * executor/state.h - the layout of STATE and the supervisor's handles in it.
 * No path of it is resolved twice: everything below works by descriptor.
 */
#ifndef EXECUTOR_STATE_H
#define EXECUTOR_STATE_H

#include <stdint.h>

#include "base/error.h"
#include "executor/service.h"
#include "policy/policy.h"

/* Unpublished runs that one start looks after; more stay in quarantine. */
#define STATE_LEFT_MAX 256

struct state {
	int audit_fd, keys_fd, signer_fd; /* owned; the signer's three */
	int results_fd;                   /* owned; finished runs */
	int staging_fd;    /* owned; ours alone, flocked for life */
	int quarantine_fd; /* owned; what a crash or a full disk left */
	int policies_fd;   /* owned */
	int layers_fd;     /* owned; executor/layers.h */
	/* Run ids that this start has moved to quarantine. */
	size_t n_left;
	char left[STATE_LEFT_MAX][40];
};

/*
 * Make what is missing and check what is there: directories of the right
 * owner, not writable by others.  Then set aside what dead supervisors left in
 * staging: never published, since nobody vouches for it.
 * 'instance' names our staging directory: 32 hex digits.
 */
int state_open(const struct service *service, const char *instance,
    struct state *ret, struct error *e) MUST_CHECK;

/* Keep the effective text as policies/<sha256>.json, durable on return. */
int state_keep_policy(const struct state *state, const struct policy *policy,
    struct error *e) MUST_CHECK;

/* The service is over: remove the staging directory, which is empty then. */
void state_done(struct state *state, const char *instance);

#endif
