/*
 * cli/start.h - start a service that inherits nothing of its starter.
 */
#ifndef CLI_START_H
#define CLI_START_H

#include "base/error.h"
#include "executor/service.h"

enum start_result {
	START_READY, /* it listens */
	START_TAKEN, /* another one holds the lock: starting, or draining */
};

/*
 * Start bailiff-supervisor for 's' and wait, at most 30 seconds, for its
 * first line.  It gets its own session, /dev/null as 0, 1 and 2, the ready pipe
 * as 3 and no other descriptor, "/" as directory, umask 077, default signals,
 * an empty environment, and nobody of ours as parent.
 */
int start_service(
    struct service *s, enum start_result *ret, struct error *e) MUST_CHECK;

#endif
