/*
 * audit/store_file.h - small files of the signer beneath its directories:
 * checked when opened, replaced whole.
 */
#ifndef AUDIT_STORE_FILE_H
#define AUDIT_STORE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

/*
 * Demand a directory of our own uid that nobody else can write, on a file
 * system that keeps promises about sync and locks (no NFS, SMB, FUSE).
 */
int store_check_dir(int fd, const char *name, struct error *e) MUST_CHECK;

/* Make subdirectory 'name' if it is missing, check it, open it. */
int store_open_dir(
    int dir_fd, const char *name, int *ret_fd, struct error *e) MUST_CHECK;

struct store_file {
	int dir_fd; /* borrowed */
	const char *name;
};

/*
 * Open with 'flags' (O_CREAT makes it 0600) and demand a regular file of our
 * own uid with one link that group and others cannot write.
 */
int store_open_file(const struct store_file *file, int flags, int *ret_fd,
    struct error *e) MUST_CHECK;

/* Demand that nobody else may even read it. */
int store_check_private(int fd, const char *name, struct error *e) MUST_CHECK;

enum store_sync {
	STORE_LAZY,
	STORE_SYNC
};

struct store_bytes {
	const void *data;
	size_t len;
};

/*
 * Replace 'file' by a new one with these bytes: write "<name>.new", rename.
 * With STORE_SYNC file and directory are on stable storage on return.
 */
int store_replace(const struct store_file *file, struct store_bytes bytes,
    enum store_sync sync, struct error *e) MUST_CHECK;

/*
 * Read a small file into 'ret' with a NUL behind.  ERROR_CLOSED if there is
 * none, ERROR_LIMIT if it needs more than 'cap' - 1 bytes.
 */
int store_read(const struct store_file *file, char *ret, size_t cap,
    size_t *ret_len, struct error *e) MUST_CHECK;

/* Is this error a lack of space (ENOSPC, EDQUOT, EFBIG)? */
int store_is_full(const struct error *e);

#endif
