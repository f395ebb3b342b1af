/*
 * base/bytes.h - bounds-checked writing and reading of wire bytes.
 *
 * Integers are little-endian.  After the first write past the end or read past
 * the end, 'bad' is set and every later call does nothing (reads give 0), so
 * a caller checks once at the end.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes_writer {
	uint8_t *data; /* borrowed */
	size_t cap;
	size_t len;
	bool bad;
};

struct bytes_reader {
	const uint8_t *data; /* borrowed */
	size_t len;
	size_t at;
	bool bad;
};

void bytes_put(struct bytes_writer *w, const void *from, size_t len);
void bytes_put_u16(struct bytes_writer *w, uint16_t value);
void bytes_put_u32(struct bytes_writer *w, uint32_t value);
void bytes_put_u64(struct bytes_writer *w, uint64_t value);

void bytes_get(struct bytes_reader *r, void *to, size_t len);
uint16_t bytes_get_u16(struct bytes_reader *r);
uint32_t bytes_get_u32(struct bytes_reader *r);
uint64_t bytes_get_u64(struct bytes_reader *r);

#endif
