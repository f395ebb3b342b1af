/*
 * executor/trace/spool.h - the file of one run: lines into a buffer, the buffer
 * into the file, a digest over every byte.  Linked by bailiff-tracer.
 *
 * The digest is over the lines, whatever form the file has; what the file itself
 * holds has another one, which is the same where it is plain.
 */
#ifndef EXECUTOR_TRACE_SPOOL_H
#define EXECUTOR_TRACE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "executor/trace/books.h"
#include "executor/trace/calls.h"
#include "executor/trace/pack.h"

#define SPOOL_BYTES (512 * 1024) /* holds the longest closing line */

struct spool {
	int fd; /* owned; -1: nobody's */
	bool is_packed;
	struct pack pack;
	struct sha256 hash;
	uint64_t bytes;
	int saved_errno; /* of the first write that failed; 0: none */
	struct books_received received;
	size_t len;
	char buffer[SPOOL_BYTES];
};

/* 'packed': the file is to be gzip. */
void spool_open(struct spool *s, int take_fd, bool packed);
void spool_close(struct spool *s);

/* One event out of a ring.  What is no event is counted. */
void spool_event(
    struct spool *s, const struct calls *calls, const void *data, size_t len);

/* The room that is left, for a line that is no event; spool_put counts it in. */
struct text_out spool_room(struct spool *s);
void spool_put(struct spool *s, const struct text_out *room);

/* Write what is in the buffer. */
void spool_flush(struct spool *s);
struct spool_ended {
	uint64_t bytes, stored_bytes; /* of the lines, of the file */
	uint8_t sha256[SHA256_BYTES], stored_sha256[SHA256_BYTES];
};
/* What was written; the file is whole, or *e says why not. */
int spool_end(
    struct spool *s, struct spool_ended *ret, struct error *e) MUST_CHECK;

#endif
