/*
 * audit/lines.c - reads a log line by line.  Linked by the audit reader; the
 * files are hostile, and may grow while they are read.
 */
#include "audit/lines.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

#define BUFFER_BYTES ((size_t)4 * 65536)

/* *ret_fd stays -1 where there is no such segment. */
static int open_segment(
    int dir_fd, uint32_t segment, int *ret_fd, struct error *e)
{
	char name[32];
	struct file_open what = { dir_fd, name, O_RDONLY, 0 };
	struct stat st;
	AUTO_FD fd = -1;

	(void)snprintf(name, sizeof(name), "%06u.jsonl", segment);
	if (file_open_beneath(&what, &fd, e) < 0) {
		if (e->saved_errno == ENOENT)
			return 0;
		return FAIL_IN(e, "log/%s", name);
	}
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "log/%s", name);
	if (!S_ISREG(st.st_mode))
		return FAIL(
		    e, ERROR_UNAVAILABLE, "log/%s: not a regular file", name);
	*ret_fd = take_fd(&fd);
	return 0;
}

int lines_open(int dir_fd, struct lines *ret, struct error *e)
{
	*ret = (struct lines){ .dir_fd = dir_fd, .fd = -1, .next_fd = -1 };
	if (open_segment(dir_fd, 0, &ret->fd, e) < 0)
		return -1;
	if (ret->fd < 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "log/000000.jsonl: no such file, so there is no log here");
	ret->buffer = malloc(BUFFER_BYTES);
	if (ret->buffer == NULL)
		return FAIL_SYS(e, "allocate a buffer for the log");
	return 0;
}

void lines_close(struct lines *l)
{
	own_close(&l->fd);
	own_close(&l->next_fd);
	free(l->buffer);
	*l = (struct lines){ .fd = -1, .next_fd = -1 };
}

int lines_seek(struct lines *l, uint64_t offset, struct error *e)
{
	if (lseek(l->fd, (off_t)offset, SEEK_SET) < 0)
		return FAIL_SYS(e, "seek in log/%06u.jsonl", l->segment);
	l->offset = offset;
	l->from = 0;
	l->to = 0;
	return 0;
}

/* More bytes behind what the buffer holds; *ret_got is 0 at the end. */
static int fill(struct lines *l, size_t *ret_got, struct error *e)
{
	ssize_t got;

	if (l->from > 0) {
		memmove(l->buffer, l->buffer + l->from, l->to - l->from);
		l->to -= l->from;
		l->from = 0;
	}
	do
		got = read(l->fd, l->buffer + l->to, BUFFER_BYTES - l->to);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return FAIL_SYS(e, "read log/%06u.jsonl", l->segment);
	l->to += (size_t)got;
	*ret_got = (size_t)got;
	return 0;
}

/*
 * At the end of a segment.  A writer finishes one before it begins the next,
 * so once the next is there one more read sees all of this one.
 */
static int fill_or_move(struct lines *l, bool *ret_end, struct error *e)
{
	size_t got;

	*ret_end = false;
	if (fill(l, &got, e) < 0)
		return -1;
	if (got > 0)
		return 0;
	if (l->next_fd >= 0 && l->from == l->to) {
		own_close(&l->fd);
		l->fd = take_fd(&l->next_fd);
		l->segment++;
		l->offset = 0;
		return 0;
	}
	*ret_end = l->next_fd >= 0;
	if (l->next_fd < 0 &&
	    open_segment(l->dir_fd, l->segment + 1, &l->next_fd, e) < 0)
		return -1;
	*ret_end = *ret_end || l->next_fd < 0;
	return 0;
}

/* Zeros from 'at' to the end of the segment?  *ret_end is where that is. */
static int ends_in_zeros(
    struct lines *l, uint64_t at, bool *ret, uint64_t *ret_end, struct error *e)
{
	uint8_t block[4096];
	uint64_t most = at + LINES_UNWRITTEN_MAX;

	*ret = true;
	while (*ret && at < most) {
		ssize_t got = pread(l->fd, block, sizeof(block), (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read log/%06u.jsonl", l->segment);
		if (got == 0)
			break;
		for (ssize_t i = 0; i < got; i++)
			*ret = *ret && block[i] == 0;
		at += (uint64_t)got;
	}
	*ret = *ret && at < most;
	*ret_end = at;
	return 0;
}

int lines_judge_long(struct lines *l, struct lines_line *line, struct error *e)
{
	const char *zero = memchr(line->text, '\0', line->len);
	uint64_t end;
	AUTO_FD next_fd = -1;
	bool zeros;

	if (zero == NULL)
		return 0;
	if (open_segment(l->dir_fd, l->segment + 1, &next_fd, e) < 0 ||
	    ends_in_zeros(l, line->offset + (size_t)(zero - line->text), &zeros,
	        &end, e) < 0)
		return -1;
	if (!zeros || next_fd >= 0)
		return 0;
	line->kind = LINES_TORN;
	line->len = (size_t)(end - line->offset);
	/* All of it is read. */
	l->offset = end;
	l->from = l->to;
	return 0;
}

static enum lines_kind kind_at_end(const struct lines *l)
{
	if (l->from == l->to)
		return LINES_END;
	return l->next_fd >= 0 ? LINES_CUT : LINES_TORN;
}

int lines_next(struct lines *l, struct lines_line *ret, struct error *e)
{
	size_t seen = 0;

	for (;;) {
		const char *from = l->buffer + l->from;
		size_t have = l->to - l->from;
		const char *lf = memchr(from + seen, '\n', have - seen);
		size_t len = lf != NULL ? (size_t)(lf - from) : have;
		bool end = false;

		*ret = (struct lines_line){ LINES_ONE, from, len, l->segment,
			l->offset };
		if (lf != NULL && len <= LINES_MAX) {
			l->from += len + 1;
			l->offset += len + 1;
			l->total += len + 1;
			return 0;
		}
		if (len > LINES_MAX) {
			ret->kind = LINES_LONG;
			return 0;
		}
		seen = have;
		if (fill_or_move(l, &end, e) < 0)
			return -1;
		if (end) {
			ret->text = l->buffer + l->from;
			ret->kind = kind_at_end(l);
			return 0;
		}
		if (l->from == l->to)
			seen = 0;
	}
}
