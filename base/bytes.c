/*
 * base/bytes.c - wire bytes.  Linked by every program; trusts no length.
 */
#include "base/bytes.h"

#include <string.h>

void bytes_put(struct bytes_writer *w, const void *from, size_t len)
{
	if (w->bad || len > w->cap - w->len) {
		w->bad = true;
		return;
	}
	if (len > 0)
		memcpy(w->data + w->len, from, len);
	w->len += len;
}

void bytes_put_u16(struct bytes_writer *w, uint16_t value)
{
	uint8_t b[2] = { (uint8_t)value, (uint8_t)(value >> 8) };

	bytes_put(w, b, sizeof(b));
}

void bytes_put_u32(struct bytes_writer *w, uint32_t value)
{
	bytes_put_u16(w, (uint16_t)value);
	bytes_put_u16(w, (uint16_t)(value >> 16));
}

void bytes_put_u64(struct bytes_writer *w, uint64_t value)
{
	bytes_put_u32(w, (uint32_t)value);
	bytes_put_u32(w, (uint32_t)(value >> 32));
}

void bytes_get(struct bytes_reader *r, void *to, size_t len)
{
	if (r->bad || len > r->len - r->at) {
		r->bad = true;
		memset(to, 0, len);
		return;
	}
	if (len > 0)
		memcpy(to, r->data + r->at, len);
	r->at += len;
}

uint16_t bytes_get_u16(struct bytes_reader *r)
{
	uint8_t b[2];

	bytes_get(r, b, sizeof(b));
	return (uint16_t)(b[0] | b[1] << 8);
}

uint32_t bytes_get_u32(struct bytes_reader *r)
{
	uint32_t low = bytes_get_u16(r);

	return low | (uint32_t)bytes_get_u16(r) << 16;
}

uint64_t bytes_get_u64(struct bytes_reader *r)
{
	uint64_t low = bytes_get_u32(r);

	return low | (uint64_t)bytes_get_u32(r) << 32;
}
