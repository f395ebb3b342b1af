/*
 * executor/trace/spool.c - trace.jsonl while a run goes on.  Linked by
 * bailiff-tracer.
 */
#include "executor/trace/spool.h"

#include <string.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/trace/line.h"

void spool_open(struct spool *s, int take_fd)
{
	s->fd = take_fd;
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

void spool_flush(struct spool *s)
{
	struct error e;

	if (s->len == 0)
		return;
	if (s->saved_errno == 0 &&
	    file_write_all(s->fd, s->buffer, s->len, &e) < 0)
		s->saved_errno = e.saved_errno != 0 ? e.saved_errno : EIO;
	sha256_add(&s->hash, s->buffer, s->len);
	s->bytes += s->len;
	s->len = 0;
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

int spool_end(
    struct spool *s, uint8_t ret_sha256[SHA256_BYTES], struct error *e)
{
	spool_flush(s);
	sha256_done(&s->hash, ret_sha256);
	if (s->saved_errno == 0)
		return 0;
	errno = s->saved_errno;
	return FAIL_SYS(e, "write the trace");
}
