/*
 * base/gunzip.h - what a gzip file (RFC 1952) holds, piece by piece and within
 * a bound.
 *
 * The bytes are hostile: a small file may hold a thousand times its size, so a
 * reader names what it will take, and nothing is kept here but two windows.
 * One member, nothing behind it: what our writers make.
 */
#ifndef BASE_GUNZIP_H
#define BASE_GUNZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gunzip_sink {
	/* Takes each piece, in order; a negative answer ends it with *e. */
	int (*take)(
	    void *context, const void *data, size_t len, struct error *e);
	void *context;
	uint64_t max_bytes; /* that come out; more is ERROR_LIMIT */
};

/* ERROR_MALFORMED: no gzip, not whole, wrong checksum, bytes behind its end. */
int gunzip_bytes(const void *data, size_t len, const struct gunzip_sink *sink,
    struct error *e) MUST_CHECK;
/* From where 'fd' stands to its end. */
int gunzip_fd(
    int fd, const struct gunzip_sink *sink, struct error *e) MUST_CHECK;

/* All of that in memory of malloc's, the caller's; NULL for nothing. */
int gunzip_read_all(int fd, uint64_t max_bytes, uint8_t **ret_data,
    size_t *ret_len, struct error *e) MUST_CHECK;

#endif
