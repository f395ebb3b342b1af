/*
 * executor/trace/pack.c - bytes into a file by gzip.  Linked by bailiff-tracer.
 */
#include "executor/trace/pack.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/file.h"

/* The tracer has one thread for all runs: speed before size (python's start: a
 * seventh; level 6 makes a ninth of it in twice the time, go's compile in seven
 * times). */
#define LEVEL      1
#define GZIP_ALONE (16 + MAX_WBITS) /* zlib.h: a gzip header, no other */
#define MEMORY     8

void pack_open(struct pack *p)
{
	p->is_open = false;
	p->bytes = 0;
	sha256_init(&p->hash);
}

/* The header has no time and no name: the same bytes give the same file. */
static int begin(struct pack *p, struct error *e)
{
	if (p->z == NULL) {
		p->z = calloc(1, sizeof(*p->z));
		if (p->z == NULL)
			return FAIL_SYS(e, "allocate to pack");
		if (deflateInit2(p->z, LEVEL, Z_DEFLATED, GZIP_ALONE, MEMORY,
		        Z_DEFAULT_STRATEGY) != Z_OK) {
			free(p->z);
			p->z = NULL;
			errno = ENOMEM;
			return FAIL_SYS(e, "allocate to pack");
		}
	} else if (deflateReset(p->z) != Z_OK) {
		return FAIL(e, ERROR_STATE, "pack: zlib is out of order");
	}
	p->is_open = true;
	return 0;
}

/* As much as the room for it takes. */
static int pack_some(struct pack *p, int fd, int how, struct error *e)
{
	size_t n;

	p->z->next_out = p->out;
	p->z->avail_out = sizeof(p->out);
	if (deflate(p->z, how) == Z_STREAM_ERROR)
		return FAIL(e, ERROR_STATE, "pack: zlib lost its way");
	n = sizeof(p->out) - p->z->avail_out;
	if (file_write_all(fd, p->out, n, e) < 0)
		return -1;
	sha256_add(&p->hash, p->out, n);
	p->bytes += n;
	return 0;
}

int pack_write(
    struct pack *p, int fd, const struct pack_piece *piece, struct error *e)
{
	if (!p->is_open && begin(p, e) < 0)
		return -1;
	p->z->next_in = piece->data;
	p->z->avail_in = (uInt)piece->len;
	do
		if (pack_some(
		        p, fd, piece->is_last ? Z_FINISH : Z_NO_FLUSH, e) < 0)
			return -1;
	while (p->z->avail_out == 0);
	return 0;
}
