/*
 * executor/signer_start.h - finding or starting the one signer of a STATE, for
 * a supervisor and for `bailiff key`.
 */
#ifndef EXECUTOR_SIGNER_START_H
#define EXECUTOR_SIGNER_START_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/client.h"
#include "executor/service.h"

/* Where a signer works, and what it is started with. */
struct signer_place {
	const struct service *service;
	int audit_fd, keys_fd, state_fd; /* borrowed */
	/* What its keys are sealed under; borrowed, -1: nothing.  Each start
	 * reads it from the beginning where it is a file. */
	int secret_fd;
	bool seal;          /* a new log: seal its keys under that */
	uint64_t linger_ms; /* 0: the signer's own default */
};

/*
 * Open audit/, keys/ and state/ of place->service, made where they are missing.
 * The caller owns the descriptors, which are -1 on failure.
 */
int signer_place_open(struct signer_place *place, struct error *e) MUST_CHECK;
void signer_place_close(struct signer_place *place);

/* Is there a log already?  Else the next start makes one. */
int signer_has_log(
    const struct signer_place *place, bool *ret, struct error *e) MUST_CHECK;

/*
 * Connect to the signer of this STATE, or start it and connect; a signer on
 * its way out is waited for.  At most ten seconds.
 */
int signer_connect(const struct signer_place *place,
    const struct event_hello *hello, struct audit_client **ret,
    struct error *e) MUST_CHECK;

/* The digests of our programs, as every log names them. */
int peers_builds(struct event_hello *hello, struct error *e) MUST_CHECK;

/* Start one, and wait until it is ready.  ERROR_STATE where one runs. */
int signer_begin(const struct signer_place *place, struct error *e) MUST_CHECK;

#endif
