/*
 * executor/output.h - one stream of a run: the head goes to a file, the tail
 * stays in memory, everything is counted and hashed.  The bytes are hostile
 * and are looked at by nobody here.
 */
#ifndef EXECUTOR_OUTPUT_H
#define EXECUTOR_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha256.h"

#define OUTPUT_TAIL_MAX 65536 /* bytes kept of what came after the head */

struct output {
	int file_fd; /* owned; the head, also read by whoever streams it */
	uint64_t head_max;
	uint64_t head_size; /* bytes in the file */
	uint64_t total;     /* bytes produced */
	int file_errno;     /* of the write that ended the head early, or 0 */
	bool head_closed;   /* nothing more goes to the file */
	struct sha256 hash; /* of everything so far */
	uint8_t head_sha256[SHA256_BYTES];  /* valid when head_closed */
	uint8_t total_sha256[SHA256_BYTES]; /* valid after output_end */
	uint8_t *tail;  /* owned ring; NULL until the head is closed */
	bool tail_lost; /* no memory for a tail: total still counts it */
};

void output_init(struct output *o, int take_file_fd, uint64_t head_max);

/* Take 'len' bytes.  Never fails: what could not be kept is counted. */
void output_add(struct output *o, const void *from, size_t len);

/* No more will come: fix the digests.  Once. */
void output_end(struct output *o);

/* Bytes in the tail: what followed the head, the last of it if it was long. */
size_t output_tail_size(const struct output *o);

/* Copy the tail in order; 'to' holds output_tail_size bytes. */
void output_tail(const struct output *o, uint8_t *to);

/* Forget all so far, the file's bytes too; output_end has not been called. */
int output_restart(struct output *o, struct error *e) MUST_CHECK;

void output_done(struct output *o); /* closes and frees */

#endif
