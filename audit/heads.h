/*
 * audit/heads.h - signed heads to be met while the tree grows: a heap by size,
 * so that a log is read once whatever heads are held against it.
 */
#ifndef AUDIT_HEADS_H
#define AUDIT_HEADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/tree.h"
#include "base/error.h"

enum heads_source {
	HEAD_CHECKPOINT, /* the log's own */
	HEAD_KNOWN,      /* held by the caller; 'index' says which */
	HEAD_RECEIPT,    /* of a result; 'index' is its outcome's seq */
};

struct heads_one {
	struct tree_head head;
	enum heads_source source;
	uint64_t index;
	uint8_t run[16]; /* of a receipt */
	bool proves;     /* a receipt whose path leads to its root */
};

struct heads {
	struct heads_one *heap; /* owned; the smallest size first */
	size_t n, cap;
};

int heads_add(
    struct heads *h, const struct heads_one *one, struct error *e) MUST_CHECK;
/* Take the head of the smallest size, if that is at most 'size'. */
bool heads_take(struct heads *h, uint64_t size, struct heads_one *ret);
void heads_done(struct heads *h);

#endif
