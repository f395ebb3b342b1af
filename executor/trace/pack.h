/*
 * executor/trace/pack.h - bytes into a file, as they are or by gzip, with a
 * digest over what the file gets.  Linked by bailiff-tracer.
 *
 * zlib's memory (a quarter of a megabyte) is taken when the first bytes are
 * packed and kept for the next file: not where a run waits to begin.
 */
#ifndef EXECUTOR_TRACE_PACK_H
#define EXECUTOR_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha256.h"

#define PACK_BYTES 65536

struct z_stream_s;

struct pack {
	struct z_stream_s *z; /* owned, for life; NULL: never used yet */
	bool is_open;         /* a file was begun and is not whole */
	struct sha256 hash;
	uint64_t bytes;
	unsigned char out[PACK_BYTES];
};

void pack_open(struct pack *p);
struct pack_piece {
	unsigned char *data; /* borrowed; zlib does not write to it */
	size_t len;
	bool is_last;
};
/* What zlib has ready goes to 'fd'; of the last piece all, with its end. */
int pack_write(struct pack *p, int fd, const struct pack_piece *piece,
    struct error *e) MUST_CHECK;

#endif
