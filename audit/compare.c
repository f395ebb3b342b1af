/*
 * audit/compare.c - reads two logs side by side.  Linked by the audit reader;
 * both are hostile.
 */
#include "audit/compare.h"

#include <string.h>

static void keep(struct compare *c, size_t i, const struct lines_line *line)
{
	c->lens[i] = line->len <= LINES_MAX ? line->len : LINES_MAX;
	memcpy(c->lines[i], line->text, c->lens[i]);
}

/* Count what is left of a log, from the line that was read last. */
static int count_rest(
    struct lines *l, struct lines_line *line, uint64_t *size, struct error *e)
{
	while (line->kind == LINES_ONE) {
		(*size)++;
		if (lines_next(l, line, e) < 0)
			return -1;
	}
	return 0;
}

/* Line by line while both have one and it is the same; 'line' is where that
 * ended. */
static int walk(struct lines l[2], struct lines_line line[2],
    struct compare *ret, struct error *e)
{
	for (;; ret->common++) {
		if (lines_next(&l[0], &line[0], e) < 0 ||
		    lines_next(&l[1], &line[1], e) < 0)
			return -1;
		if (line[0].kind != LINES_ONE || line[1].kind != LINES_ONE)
			return 0;
		if (line[0].len == line[1].len &&
		    memcmp(line[0].text, line[1].text, line[0].len) == 0)
			continue;
		ret->verdict = COMPARE_FORK;
		keep(ret, 0, &line[0]);
		keep(ret, 1, &line[1]);
		return 0;
	}
}

static int compare_open(struct lines l[2], struct compare *ret, struct error *e)
{
	struct lines_line line[2];

	if (walk(l, line, ret, e) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		ret->sizes[i] = ret->common;
		if (count_rest(&l[i], &line[i], &ret->sizes[i], e) < 0)
			return -1;
	}
	if (ret->verdict == COMPARE_FORK || ret->sizes[0] == ret->sizes[1])
		return 0;
	ret->verdict = ret->sizes[0] < ret->sizes[1] ? COMPARE_FIRST_BEGINS
	                                             : COMPARE_SECOND_BEGINS;
	return 0;
}

int compare_logs(const int log_fds[2], struct compare *ret, struct error *e)
{
	struct lines l[2] = { { .fd = -1, .next_fd = -1 },
		{ .fd = -1, .next_fd = -1 } };
	int done = -1;

	*ret = (struct compare){ .verdict = COMPARE_EQUAL };
	if (lines_open(log_fds[0], &l[0], e) == 0 &&
	    lines_open(log_fds[1], &l[1], e) == 0)
		done = compare_open(l, ret, e);
	lines_close(&l[0]);
	lines_close(&l[1]);
	return done;
}

static int read_tree(struct lines *l, const struct tree_head *head,
    struct compare *ret, struct error *e)
{
	uint8_t leaf[TREE_HASH];
	struct tree_head reached;
	struct lines_line line;
	struct tree t;

	tree_init(&t);
	for (;;) {
		if (t.size == head->size)
			tree_head_of(&t, &reached);
		if (lines_next(l, &line, e) < 0)
			return -1;
		if (line.kind != LINES_ONE)
			break;
		tree_leaf(line.text, line.len, leaf);
		tree_add(&t, leaf);
	}
	ret->sizes[0] = t.size;
	ret->sizes[1] = head->size;
	if (t.size < head->size)
		ret->verdict = COMPARE_SHORT;
	else if (memcmp(reached.root, head->root, TREE_HASH) != 0)
		ret->verdict = COMPARE_FORK;
	else if (t.size > head->size)
		ret->verdict = COMPARE_SECOND_BEGINS;
	if (ret->verdict == COMPARE_EQUAL ||
	    ret->verdict == COMPARE_SECOND_BEGINS)
		ret->common = head->size;
	return 0;
}

int compare_head(int log_fd, const struct tree_head *head, struct compare *ret,
    struct error *e)
{
	struct lines l;
	int done = -1;

	*ret = (struct compare){ .verdict = COMPARE_EQUAL };
	if (lines_open(log_fd, &l, e) == 0)
		done = read_tree(&l, head, ret, e);
	lines_close(&l);
	return done;
}
