/*
 * base/memfd.h - sealed memory files: how code, stdin and input files cross
 * between our programs.  What is hashed is what runs, since nobody, the sender
 * included, can change a sealed file (memfd_create(2), fcntl(2) F_ADD_SEALS).
 */
#ifndef BASE_MEMFD_H
#define BASE_MEMFD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A new sealed file with these bytes; owned by the caller, close-on-exec. */
int memfd_of(const char *name, const void *data, size_t len, int *ret_fd,
    struct error *e) MUST_CHECK;

/*
 * Copy 'from' from its current offset to its end into a new sealed file.
 * More than 'max_bytes' is ERROR_LIMIT.  *ret_size is what was copied.
 */
int memfd_copy(int from, uint64_t max_bytes, int *ret_fd, uint64_t *ret_size,
    struct error *e) MUST_CHECK;

/* A new, empty file that is not sealed yet; owned by the caller. */
int memfd_new(const char *name, int *ret_fd, struct error *e) MUST_CHECK;

/* Seal a file of memfd_new for good. */
int memfd_seal(int fd, struct error *e) MUST_CHECK;

/*
 * Demand that a descriptor received from a peer is a memory file sealed
 * against write, grow, shrink and further seals.  *ret_size is its size; more
 * than 'max_bytes' is ERROR_LIMIT, anything unsealed ERROR_MALFORMED.
 */
int memfd_check(
    int fd, uint64_t max_bytes, uint64_t *ret_size, struct error *e) MUST_CHECK;

#endif
