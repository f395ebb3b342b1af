/*
 * audit/heads.c - a binary heap of signed heads.  Linked by the audit reader.
 */
#include "audit/heads.h"

#include <stdlib.h>
#include <string.h>

int heads_add(struct heads *h, const struct heads_one *one, struct error *e)
{
	size_t i = h->n;

	if (h->n == h->cap) {
		size_t cap = h->cap > 0 ? h->cap * 2 : 64;
		struct heads_one *heap =
		    reallocarray(h->heap, cap, sizeof(h->heap[0]));

		if (heap == NULL)
			return FAIL_SYS(e, "allocate the heads to be met");
		h->heap = heap;
		h->cap = cap;
	}
	while (i > 0 && h->heap[(i - 1) / 2].head.size > one->head.size) {
		h->heap[i] = h->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->heap[i] = *one;
	h->n++;
	return 0;
}

/* Put 'one' where the top was and let it sink. */
static void sink(struct heads *h, const struct heads_one *one)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < h->n &&
		    h->heap[child + 1].head.size < h->heap[child].head.size)
			child++;
		if (child >= h->n || h->heap[child].head.size >= one->head.size)
			break;
		h->heap[i] = h->heap[child];
		i = child;
	}
	h->heap[i] = *one;
}

bool heads_take(struct heads *h, uint64_t size, struct heads_one *ret)
{
	struct heads_one last;

	if (h->n == 0 || h->heap[0].head.size > size)
		return false;
	*ret = h->heap[0];
	last = h->heap[--h->n];
	if (h->n > 0)
		sink(h, &last);
	return true;
}

void heads_done(struct heads *h)
{
	free(h->heap);
	memset(h, 0, sizeof(*h));
}
