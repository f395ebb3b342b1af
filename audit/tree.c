/*
 * audit/tree.c - the Merkle tree.  Linked by signer and audit reader; trusts
 * neither sizes nor hashes of a proof.
 */
#include "audit/tree.h"

#include <string.h>

#include "base/sha256.h"

void tree_leaf(const void *record, size_t len, uint8_t ret[TREE_HASH])
{
	static const uint8_t prefix[] = { 0x00 };
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, prefix, sizeof(prefix));
	sha256_add(&h, record, len);
	sha256_done(&h, ret);
}

void tree_node(const uint8_t left[TREE_HASH], const uint8_t right[TREE_HASH],
    uint8_t ret[TREE_HASH])
{
	uint8_t node[1 + 2 * TREE_HASH] = { 0x01 };

	memcpy(node + 1, left, TREE_HASH);
	memcpy(node + 1 + TREE_HASH, right, TREE_HASH);
	sha256_of(node, sizeof(node), ret);
}

size_t tree_frontier_count(uint64_t size)
{
	return (size_t)__builtin_popcountll(size);
}

void tree_init(struct tree *t)
{
	memset(t, 0, sizeof(*t));
}

/* Each trailing one bit of the old size is a full subtree to merge with. */
void tree_add(struct tree *t, const uint8_t leaf[TREE_HASH])
{
	size_t n = tree_frontier_count(t->size);
	uint8_t hash[TREE_HASH];

	memcpy(hash, leaf, TREE_HASH);
	for (uint64_t bits = t->size; (bits & 1) != 0; bits >>= 1)
		tree_node(t->frontier[--n], hash, hash);
	memcpy(t->frontier[n], hash, TREE_HASH);
	t->size++;
}

void tree_root(const struct tree *t, uint8_t ret[TREE_HASH])
{
	size_t n = tree_frontier_count(t->size);

	if (n == 0) {
		sha256_of("", 0, ret);
		return;
	}
	memmove(ret, t->frontier[--n], TREE_HASH);
	while (n > 0)
		tree_node(t->frontier[--n], ret, ret);
}

void tree_head_of(const struct tree *t, struct tree_head *ret)
{
	ret->size = t->size;
	tree_root(t, ret->root);
}

int tree_restore(struct tree *ret, uint64_t size, const uint8_t *hashes,
    size_t n_hashes, struct error *e)
{
	if (n_hashes != tree_frontier_count(size))
		return FAIL(e, ERROR_MALFORMED,
		    "tree of %llu records has %zu frontier hashes, not %zu",
		    (unsigned long long)size, tree_frontier_count(size),
		    n_hashes);
	tree_init(ret);
	ret->size = size;
	if (n_hashes > 0)
		memcpy(ret->frontier, hashes, n_hashes * TREE_HASH);
	return 0;
}

/* The largest power of two below 'n', for n > 1. */
static uint64_t split(uint64_t n)
{
	return (uint64_t)1 << (63 - __builtin_clzll(n - 1));
}

/* The frontier of the part of 'before' that begins at record 'from', which is
 * the start of one of its full subtrees. */
static void tree_from(
    const struct tree *before, uint64_t from, struct tree *ret)
{
	size_t skip = 0;
	uint64_t at = 0;

	while (at < from) {
		uint64_t left = before->size - at;

		at += (uint64_t)1 << (63 - __builtin_clzll(left));
		skip++;
	}
	tree_init(ret);
	ret->size = before->size - at;
	memcpy(ret->frontier, before->frontier + skip,
	    tree_frontier_count(ret->size) * TREE_HASH);
}

/*
 * The root over records [from, from + n).  A sibling on the way to a record of
 * the group either holds no old record, or starts where a full subtree of
 * 'before' starts: its parent also holds a new record, so no larger subtree of
 * 'before' can cover it.
 */
static void range_root(const struct tree_group *group, uint64_t from,
    uint64_t n, uint8_t ret[TREE_HASH])
{
	uint64_t old = group->before->size;
	struct tree part;

	tree_init(&part);
	if (from < old)
		tree_from(group->before, from, &part);
	if (from + n <= old) {
		memcpy(ret, part.frontier[0], TREE_HASH);
		return;
	}
	for (uint64_t i = from > old ? from : old; i < from + n; i++)
		tree_add(&part, group->leaves + (i - old) * TREE_HASH);
	tree_root(&part, ret);
}

int tree_prove(const struct tree_group *group, uint64_t index,
    struct tree_path *ret, struct error *e)
{
	uint64_t old = group->before->size;
	uint64_t from = 0;
	uint64_t n = old + group->n_leaves;
	size_t depth = 0;

	if (index < old || index >= n)
		return FAIL(e, ERROR_STATE,
		    "record %llu is not of the group to be proven",
		    (unsigned long long)index);
	/* From the root down; a proof lists siblings from the leaf up. */
	for (; n > 1; depth++) {
		uint64_t k = split(n);

		if (depth == TREE_PROOF_MAX)
			return FAIL(e, ERROR_LIMIT, "tree too deep to prove");
		if (index - from < k) {
			range_root(group, from + k, n - k, ret->hashes[depth]);
			n = k;
		} else {
			range_root(group, from, k, ret->hashes[depth]);
			from += k;
			n -= k;
		}
	}
	ret->n_hashes = depth;
	for (size_t i = 0; i < depth / 2; i++) {
		uint8_t swap[TREE_HASH];

		memcpy(swap, ret->hashes[i], TREE_HASH);
		memcpy(ret->hashes[i], ret->hashes[depth - 1 - i], TREE_HASH);
		memcpy(ret->hashes[depth - 1 - i], swap, TREE_HASH);
	}
	return 0;
}

/* Both walks: go up while the node is a left child that is the last one. */
static void climb(uint64_t *node, uint64_t *last)
{
	while ((*node & 1) == 0 && *node != 0) {
		*node >>= 1;
		*last >>= 1;
	}
}

bool tree_includes(const struct tree_head *head, uint64_t index,
    const uint8_t leaf[TREE_HASH], const struct tree_path *path)
{
	uint8_t root[TREE_HASH];
	uint64_t node = index;
	uint64_t last = head->size - 1;

	if (index >= head->size || path->n_hashes > TREE_PROOF_MAX)
		return false;
	memcpy(root, leaf, TREE_HASH);
	for (size_t i = 0; i < path->n_hashes; i++) {
		if (last == 0)
			return false;
		if ((node & 1) != 0 || node == last) {
			tree_node(path->hashes[i], root, root);
			climb(&node, &last);
		} else {
			tree_node(root, path->hashes[i], root);
		}
		node >>= 1;
		last >>= 1;
	}
	return last == 0 && memcmp(root, head->root, TREE_HASH) == 0;
}

bool tree_extends(const struct tree_head *earlier,
    const struct tree_head *later, const struct tree_path *path)
{
	bool whole = (earlier->size & (earlier->size - 1)) == 0;
	uint64_t node = earlier->size - 1;
	uint64_t last = later->size - 1;
	size_t i = whole ? 0 : 1;
	uint8_t old[TREE_HASH], new[TREE_HASH];

	if (earlier->size == 0 || earlier->size >= later->size ||
	    path->n_hashes == 0 || path->n_hashes > TREE_PROOF_MAX)
		return false;
	for (; (node & 1) != 0; node >>= 1)
		last >>= 1;
	/* A full subtree needs no hash of its own in the proof. */
	memcpy(old, whole ? earlier->root : path->hashes[0], TREE_HASH);
	memcpy(new, old, TREE_HASH);
	for (; i < path->n_hashes; i++) {
		if (last == 0)
			return false;
		if ((node & 1) != 0 || node == last) {
			tree_node(path->hashes[i], old, old);
			tree_node(path->hashes[i], new, new);
			climb(&node, &last);
		} else {
			tree_node(new, path->hashes[i], new);
		}
		node >>= 1;
		last >>= 1;
	}
	return last == 0 && memcmp(old, earlier->root, TREE_HASH) == 0 &&
	       memcmp(new, later->root, TREE_HASH) == 0;
}
