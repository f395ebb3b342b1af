/*
 * cli/stream.h - what a program wrote, on its way to our own standard output
 * or error: byte for byte, or escaped for a terminal.  Writing never blocks
 * for long, so that a signal is served while the reader sleeps.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* An OUTPUT message, each byte escaped as \xHH, and a carried sequence. */
#define STREAM_BYTES_MAX 131200

enum stream_mode {
	STREAM_RAW,
	STREAM_ESCAPED
};

struct stream {
	int fd; /* borrowed */
	enum stream_mode mode;
	size_t at, len;   /* of 'bytes': what is still to be written */
	size_t n_carried; /* an UTF-8 sequence whose end is to come */
	uint8_t carried[4];
	char bytes[STREAM_BYTES_MAX];
};

/* Raw, unless 'fd' is a terminal and 'mode' asks for escapes. */
void stream_init(struct stream *s, int fd, enum stream_mode mode);

/* Take up to PROTOCOL_OUTPUT_MAX bytes; only while !stream_waits(s). */
void stream_put(struct stream *s, const uint8_t *data, size_t len);

/* The end: what was carried can have no end any more. */
void stream_end(struct stream *s);

bool stream_waits(const struct stream *s); /* bytes are to be written */

/*
 * Write a part: at most PIPE_BUF bytes, which a descriptor that polled
 * writable takes at once (pipe(7)).
 */
int stream_write(struct stream *s, struct error *e) MUST_CHECK;

#endif
