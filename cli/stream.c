/*
 * cli/stream.c - program output on its way out.  Linked by `bailiff`.  Every
 * byte is hostile to a terminal and none of it is ever parsed.
 */
#include "cli/stream.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

void stream_init(struct stream *s, int fd, enum stream_mode mode)
{
	s->fd = fd;
	s->mode = isatty(fd) ? mode : STREAM_RAW;
	s->at = 0;
	s->len = 0;
	s->n_carried = 0;
}

bool stream_waits(const struct stream *s)
{
	return s->at < s->len;
}

/*
 * How many of the last bytes begin an UTF-8 sequence that is not over: none,
 * or up to three.  Whether they are well-formed is text_escape's to say.
 */
static size_t unfinished(const uint8_t *data, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		uint8_t c = data[len - back];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) == 0x80)
			continue;
		return need > back ? back : 0;
	}
	return 0;
}

static void escape(struct stream *s, const uint8_t *data, size_t len)
{
	struct text_out out = { s->bytes, sizeof(s->bytes), s->len };

	(void)text_escape(data, len, TEXT_KEEP_LINES, &out);
	s->len = out.len;
}

void stream_put(struct stream *s, const uint8_t *data, size_t len)
{
	size_t carry;

	s->at = 0;
	s->len = 0;
	if (s->mode == STREAM_RAW) {
		memcpy(s->bytes, data, len);
		s->len = len;
		return;
	}
	/* Complete what was carried, byte by byte, before the rest. */
	while (s->n_carried > 0 && len > 0) {
		s->carried[s->n_carried++] = *data++;
		len--;
		if (unfinished(s->carried, s->n_carried) == s->n_carried)
			continue;
		escape(s, s->carried, s->n_carried);
		s->n_carried = 0;
	}
	carry = unfinished(data, len);
	escape(s, data, len - carry);
	if (carry > 0) {
		memcpy(s->carried, data + len - carry, carry);
		s->n_carried = carry;
	}
}

void stream_end(struct stream *s)
{
	s->at = 0;
	s->len = 0;
	escape(s, s->carried, s->n_carried);
	s->n_carried = 0;
}

int stream_write(struct stream *s, struct error *e)
{
	size_t n = s->len - s->at;
	ssize_t wrote =
	    write(s->fd, s->bytes + s->at, n < PIPE_BUF ? n : PIPE_BUF);

	if (wrote < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (wrote < 0)
		return FAIL_SYS(e, "write the program's output");
	s->at += (size_t)wrote;
	return 0;
}
