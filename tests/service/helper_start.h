/*
 * tests/service/helper_start.h - start a helper as bailiff-launch would: its
 * own uid, the given capabilities and no others, an empty environment, a
 * channel on descriptor 3 and nothing else.  Tests only; needs root.
 */
#ifndef TESTS_SERVICE_HELPER_START_H
#define TESTS_SERVICE_HELPER_START_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct helper_start {
	const char *path;
	uid_t uid;
	uint64_t capabilities; /* a set of 1 << CAP_x */
};

/* *ret_fd is our end of the channel, *ret_pid the process to wait for. */
int helper_start(const struct helper_start *what, int *ret_fd, pid_t *ret_pid,
    struct error *e) MUST_CHECK;

#endif
