/*
 * base/file.h - whole reads, whole writes, and opens that follow nothing.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Write every byte or fail; EINTR is retried, a short write goes on. */
int file_write_all(
    int fd, const void *data, size_t len, struct error *e) MUST_CHECK;

/*
 * Read 'fd' from offset 0 to its end into a new block, with a NUL behind it
 * that *ret_len does not count.  More than 'max_bytes' is ERROR_LIMIT.
 * The block is the caller's, to free.
 */
int file_read_all(int fd, size_t max_bytes, uint8_t **ret_data, size_t *ret_len,
    struct error *e) MUST_CHECK;

struct file_open {
	int dir_fd; /* borrowed */
	const char *path;
	int flags;
	mode_t mode;
};

/*
 * openat2(2) with RESOLVE_BENEATH, NO_SYMLINKS, NO_MAGICLINKS, NO_XDEV and
 * O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK (O_CLOEXEC alone with O_PATH) added to
 * 'flags'.  'mode' counts with O_CREAT only.  A symbolic link anywhere is
 * ELOOP, leaving the directory or its mount EXDEV.  Linux 5.6.
 */
int file_open_beneath(
    const struct file_open *what, int *ret_fd, struct error *e) MUST_CHECK;

#endif
