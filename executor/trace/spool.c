/*
 * executor/trace/spool.c - trace.jsonl while a run goes on.  Linked by
 * bailiff-tracer.
 */
#include "executor/trace/spool.h"

#include <string.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/trace/line.h"

void spool_open(struct spool *s, int take_fd, bool packed)
{
	s->fd = take_fd;
	s->is_packed = packed;
	pack_open(&s->pack);
	sha256_init(&s->hash);
	s->bytes = 0;
	s->saved_errno = 0;
	memset(&s->received, 0, sizeof(s->received));
	s->len = 0;
}

void spool_close(struct spool *s)
{
	own_close(&s->fd);
	s->fd = -1;
}

static void write_out(struct spool *s, bool last)
{
	const struct pack_piece piece = { (unsigned char *)s->buffer, s->len,
		last };
	struct error e;
	int done;

	if (s->saved_errno != 0)
		return;
	done = s->is_packed ? pack_write(&s->pack, s->fd, &piece, &e)
	                    : file_write_all(s->fd, s->buffer, s->len, &e);
	if (done < 0)
		s->saved_errno = e.saved_errno != 0 ? e.saved_errno : EIO;
}

static void flush(struct spool *s, bool last)
{
	if (s->len == 0 && !last)
		return;
	write_out(s, last);
	sha256_add(&s->hash, s->buffer, s->len);
	s->bytes += s->len;
	s->len = 0;
}

void spool_flush(struct spool *s)
{
	flush(s, false);
}

struct text_out spool_room(struct spool *s)
{
	spool_flush(s);
	return (struct text_out){ s->buffer, sizeof(s->buffer), 0 };
}

void spool_put(struct spool *s, const struct text_out *room)
{
	s->len = room->len;
}

void spool_event(
    struct spool *s, const struct calls *calls, const void *data, size_t len)
{
	struct trace_record r;
	struct line_event event = { &r, NULL, calls };
	struct text_out out = { s->buffer, sizeof(s->buffer), s->len };
	struct error e;

	if (line_decode(data, len, &r, &e) < 0) {
		s->received.malformed++;
		return;
	}
	event.data = (const unsigned char *)data + sizeof(r);
	if (out.cap - out.len < LINE_MAX_BYTES) {
		spool_flush(s);
		out.len = 0;
	}
	if (line_event(&event, &out, &e) < 0) {
		s->received.malformed++;
		return;
	}
	s->len = out.len;
	s->received.events++;
	s->received.by_type[r.type]++;
	if (r.type == TRACE_CALL && r.plane == TRACE_PROGRAM)
		s->received.calls[(uint32_t)r.nr < TRACE_CALLS - 1
		                      ? (uint32_t)r.nr
		                      : TRACE_CALLS - 1]++;
}

int spool_end(struct spool *s, struct spool_ended *ret, struct error *e)
{
	flush(s, true);
	if (s->saved_errno != 0) {
		errno = s->saved_errno;
		return FAIL_SYS(e, "write the trace");
	}
	ret->bytes = s->bytes;
	sha256_done(&s->hash, ret->sha256);
	ret->stored_bytes = s->is_packed ? s->pack.bytes : s->bytes;
	memcpy(ret->stored_sha256, ret->sha256, sizeof(ret->sha256));
	if (s->is_packed)
		sha256_done(&s->pack.hash, ret->stored_sha256);
	return 0;
}
