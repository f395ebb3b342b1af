/*
 * mcp/feed.h - the lines of standard input.  A line longer than the bound is
 * thrown away as it comes, never kept.
 */
#ifndef MCP_FEED_H
#define MCP_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A line is as long as one of ours may be: mcp/page.h.  1 MiB of code fits
 * however it is spelt. */
#define FEED_MAX   (8u << 20)
#define FEED_CHUNK 65536

struct feed {
	char *data; /* owned */
	size_t cap;
	size_t at, len;  /* what is not yet given out */
	size_t searched; /* of these bytes, without a newline */
	bool discarding; /* up to the next newline */
};

enum feed_event {
	FEED_NONE,    /* no whole line is there */
	FEED_ONE,     /* *ret_line, until the next call */
	FEED_TOO_LONG /* the beginning of one; its rest will be dropped */
};

void feed_free(struct feed *l);

/* Where up to FEED_CHUNK bytes may be read to; ERROR_SYSTEM without memory. */
int feed_room(struct feed *l, char **ret, struct error *e) MUST_CHECK;
void feed_added(struct feed *l, size_t n);

/* The next line without its "\n" or "\r\n". */
enum feed_event feed_next(
    struct feed *l, const char **ret_line, size_t *ret_len);

#endif
