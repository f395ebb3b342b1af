/*
 * cli/follow.h - one run from RUN to FINISHED: its output passed on or kept,
 * signals turned into CANCEL.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/front.h"
#include "cli/stream.h"

enum follow_mode {
	FOLLOW_STREAM,
	FOLLOW_KEEP
};

/* The head of a stream, kept for --json. */
struct follow_kept {
	uint8_t *data; /* owned */
	size_t len, cap;
};

struct follow {
	struct front *front; /* borrowed */
	enum follow_mode mode;
	struct stream out, err;                /* FOLLOW_STREAM */
	struct follow_kept kept_out, kept_err; /* FOLLOW_KEEP */
	uint64_t request;
	int signal;       /* the first that asked us to stop, or 0 */
	int output_errno; /* our own output failed: EPIPE, ENOSPC, ... or 0 */
	bool has_decided, has_finished;
	struct protocol_decided decided;
	struct protocol_finished finished;
};

/*
 * Send 'run' with its descriptors and stay until FINISHED, or DECIDED when it
 * denies; f->has_* tell how far it came.  From here on SIGINT, SIGTERM and
 * SIGHUP, unless they were ignored, cancel the run: the first politely, the
 * second by leaving (ERROR_CLOSED).  SIGPIPE is ignored; an output of ours
 * that fails cancels the run as well.
 */
int follow_run(struct follow *f, const struct protocol_run *run,
    const struct fd_list *fds, struct error *e) MUST_CHECK;

void follow_done(struct follow *f);

#endif
