/*
 * mcp/feed.c - lines of hostile bytes, bounded.  Linked by bailiff-mcp.
 */
#include "mcp/feed.h"

#include <stdlib.h>
#include <string.h>

#define FEED_KEPT 1048576 /* a larger block is not worth keeping */

void feed_free(struct feed *l)
{
	free(l->data);
	*l = (struct feed){ 0 };
}

/* What is left moves to the front of a block of 'cap' bytes. */
static int move_to(struct feed *l, size_t cap, struct error *e)
{
	char *data;

	if (l->at > 0)
		memmove(l->data, l->data + l->at, l->len);
	l->at = 0;
	if (cap == l->cap)
		return 0;
	data = realloc(l->data, cap);
	if (data == NULL)
		return FAIL_SYS(e, "no memory for a line");
	l->data = data;
	l->cap = cap;
	return 0;
}

int feed_room(struct feed *l, char **ret, struct error *e)
{
	size_t need = l->len + FEED_CHUNK;
	size_t cap = l->cap;

	if (need > cap)
		cap = need + need / 2;
	else if (cap > FEED_KEPT && need <= FEED_KEPT)
		cap = FEED_KEPT;
	if ((cap != l->cap || l->at + need > cap) && move_to(l, cap, e) < 0)
		return -1;
	*ret = l->data + l->at + l->len;
	return 0;
}

void feed_added(struct feed *l, size_t n)
{
	l->len += n;
}

static void drop(struct feed *l, size_t n)
{
	l->at += n;
	l->len -= n;
	l->searched = 0;
	if (l->len == 0)
		l->at = 0;
}

/* The rest of a line that is too long; true at its end. */
static bool skip_rest(struct feed *l, const char *end)
{
	l->discarding = end == NULL;
	drop(l, end == NULL ? l->len : (size_t)(end - (l->data + l->at)) + 1);
	return end != NULL;
}

/* The newline of the first line, or NULL. */
static const char *find_end(struct feed *l)
{
	const char *start = l->data + l->at;
	const char *end = NULL;

	if (l->len > l->searched)
		end = memchr(start + l->searched, '\n', l->len - l->searched);
	l->searched = l->len;
	return end;
}

enum feed_event feed_next(
    struct feed *l, const char **ret_line, size_t *ret_len)
{
	const char *end = find_end(l);
	const char *start;
	size_t n;

	if (l->discarding) {
		if (!skip_rest(l, end))
			return FEED_NONE;
		end = find_end(l);
	}
	start = l->data + l->at;
	n = end == NULL ? l->len : (size_t)(end - start);
	if (n > FEED_MAX) {
		(void)skip_rest(l, end);
		return FEED_TOO_LONG;
	}
	if (end == NULL)
		return FEED_NONE;
	drop(l, n + 1);
	*ret_line = start;
	*ret_len = n > 0 && start[n - 1] == '\r' ? n - 1 : n;
	return FEED_ONE;
}
