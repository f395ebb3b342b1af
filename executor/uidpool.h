/*
 * executor/uidpool.h - pairs of ids, one per run (uids.h), held by a lock file
 * for each in one directory of the host, so that no two runs of any service
 * share a uid and with it quotas, signals or files.
 */
#ifndef EXECUTOR_UIDPOOL_H
#define EXECUTOR_UIDPOOL_H

#include <stdint.h>

#include "base/error.h"

/* Pairs tried before giving up: 64 runs of 64 services. */
#define UIDPOOL_TRIES 4096

/*
 * Lock the lowest free pair in directory 'dir_fd' (/run/bailiff/uids).
 * *ret_fd is the lock, the caller's; the pair is free again when every copy of
 * it is closed.
 */
int uidpool_take(
    int dir_fd, uint32_t *ret_pair, int *ret_fd, struct error *e) MUST_CHECK;

#endif
