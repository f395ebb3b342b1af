/*
 * audit/lines.h - the lines of a log, over all of its segments
 * log/000000.jsonl, log/000001.jsonl, ... in one buffer of fixed size.
 */
#ifndef AUDIT_LINES_H
#define AUDIT_LINES_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define LINES_MAX 65535 /* bytes of a line, without its LF */

enum lines_kind {
	LINES_ONE,  /* a line that ended in LF */
	LINES_TORN, /* bytes at the end of the log without LF */
	LINES_LONG, /* more than LINES_MAX bytes without LF */
	LINES_CUT,  /* a segment with a successor does not end in LF */
	LINES_END,  /* nothing more */
};

struct lines {
	int dir_fd;  /* borrowed: the folder log/ */
	int fd;      /* owned; the segment being read */
	int next_fd; /* owned; the one after it, once seen */
	uint32_t segment;
	uint64_t offset; /* in the segment, of the line last returned */
	uint64_t total;  /* bytes of all lines returned, LF included */
	ino_t inode;     /* of the segment */
	size_t from, to; /* what of the buffer is not yet returned */
	char *buffer;    /* owned */
};

/* What lines_next hands out; valid until it is called again. */
struct lines_line {
	enum lines_kind kind;
	const char *text; /* borrowed */
	size_t len;
	uint32_t segment;
	uint64_t offset; /* in the segment */
};

/* ERROR_UNAVAILABLE when there is no first segment. */
int lines_open(int dir_fd, struct lines *ret, struct error *e) MUST_CHECK;
int lines_next(
    struct lines *l, struct lines_line *ret, struct error *e) MUST_CHECK;

/*
 * Is the LINES_LONG just returned what a crash leaves of a file that had grown:
 * a piece of a line, then zeros to the end of the log, LINES_UNWRITTEN_MAX bytes
 * at most?  Then it becomes the LINES_TORN that it is.
 */
#define LINES_UNWRITTEN_MAX (16u << 20)
int lines_judge_long(
    struct lines *l, struct lines_line *line, struct error *e) MUST_CHECK;

/* Go on at this byte of the first segment, which must be the open one. */
int lines_seek(struct lines *l, uint64_t offset, struct error *e) MUST_CHECK;
void lines_close(struct lines *l); /* zeroed by lines_open, even if it failed */

#endif
