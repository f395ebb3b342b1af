/*
 * base/gunzip.c - what a gzip file holds.  Linked by whoever reads one; zlib
 * does the work, with memory from malloc and no call of its own.
 */
#include "base/gunzip.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW_BYTES 65536
#define GZIP_ALONE   (16 + MAX_WBITS) /* zlib.h: a gzip header, no other */

struct gunzip {
	z_stream z;
	const struct gunzip_sink *sink;
	uint64_t total;
	bool is_done;
	unsigned char in[WINDOW_BYTES], out[WINDOW_BYTES];
};

static int begin(
    const struct gunzip_sink *sink, struct gunzip **ret, struct error *e)
{
	struct gunzip *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return FAIL_SYS(e, "allocate to unpack");
	g->sink = sink;
	if (inflateInit2(&g->z, GZIP_ALONE) != Z_OK) {
		free(g);
		return FAIL(e, ERROR_SYSTEM, "no memory to unpack");
	}
	*ret = g;
	return 0;
}

static int end(struct gunzip *g, int result, struct error *e)
{
	bool is_done = g->is_done;

	(void)inflateEnd(&g->z);
	free(g);
	if (result == 0 && !is_done)
		return FAIL(e, ERROR_MALFORMED, "gzip: not whole");
	return result;
}

/* What zlib has made so far. */
static int pass_on(struct gunzip *g, struct error *e)
{
	size_t n = sizeof(g->out) - g->z.avail_out;

	if (n > g->sink->max_bytes - g->total)
		return FAIL(e, ERROR_LIMIT,
		    "gzip: holds more than %" PRIu64 " bytes",
		    g->sink->max_bytes);
	g->total += n;
	return n == 0 ? 0 : g->sink->take(g->sink->context, g->out, n, e);
}

static int unpack_some(struct gunzip *g, bool *ret_hungry, struct error *e)
{
	int how;

	g->z.next_out = g->out;
	g->z.avail_out = sizeof(g->out);
	how = inflate(&g->z, Z_NO_FLUSH);
	if (how == Z_MEM_ERROR)
		return FAIL(e, ERROR_SYSTEM, "no memory to unpack");
	if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
		return FAIL(e, ERROR_MALFORMED, "gzip: %s",
		    g->z.msg != NULL ? g->z.msg : "no such file");
	g->is_done = how == Z_STREAM_END;
	/* Room that is left means that there was nothing more to make. */
	*ret_hungry = g->z.avail_out > 0;
	return pass_on(g, e);
}

static int feed(
    struct gunzip *g, unsigned char *data, size_t len, struct error *e)
{
	bool is_hungry = false;

	g->z.next_in = data;
	g->z.avail_in = (uInt)len;
	while (!g->is_done && !is_hungry)
		if (unpack_some(g, &is_hungry, e) < 0)
			return -1;
	if (g->is_done && g->z.avail_in > 0)
		return FAIL(e, ERROR_MALFORMED, "gzip: bytes behind its end");
	return 0;
}

int gunzip_bytes(const void *data, size_t len, const struct gunzip_sink *sink,
    struct error *e)
{
	const unsigned char *at = data;
	struct gunzip *g;
	int result = 0;

	if (begin(sink, &g, e) < 0)
		return -1;
	while (result == 0 && len > 0) {
		size_t n = len < sizeof(g->in) ? len : sizeof(g->in);

		memcpy(g->in, at, n);
		result = feed(g, g->in, n, e);
		at += n;
		len -= n;
	}
	return end(g, result, e);
}

int gunzip_fd(int fd, const struct gunzip_sink *sink, struct error *e)
{
	struct gunzip *g;
	int result = 0;
	ssize_t n;

	if (begin(sink, &g, e) < 0)
		return -1;
	do {
		n = read(fd, g->in, sizeof(g->in));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			result = FAIL_SYS(e, "read");
		else
			result = feed(g, g->in, (size_t)n, e);
	} while (result == 0 && n != 0);
	return end(g, result, e);
}

struct block {
	uint8_t *data; /* owned */
	size_t len, cap;
};

static int keep(void *context, const void *data, size_t len, struct error *e)
{
	struct block *b = context;

	if (len > b->cap - b->len) {
		size_t cap = 2 * (b->cap + len);
		uint8_t *more = realloc(b->data, cap);

		if (more == NULL)
			return FAIL_SYS(e, "allocate what is unpacked");
		b->data = more;
		b->cap = cap;
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int gunzip_read_all(int fd, uint64_t max_bytes, uint8_t **ret_data,
    size_t *ret_len, struct error *e)
{
	struct block b = { NULL, 0, 0 };
	const struct gunzip_sink sink = { keep, &b, max_bytes };

	if (gunzip_fd(fd, &sink, e) < 0) {
		free(b.data);
		return -1;
	}
	*ret_data = b.data;
	*ret_len = b.len;
	return 0;
}
