/*
 * audit/tree.h - the Merkle tree of RFC 6962 over the records of a log.
 *
 * Pure: no files, no keys.  A leaf is SHA-256(0x00 || record without its LF), a
 * node SHA-256(0x01 || left || right), the root of nothing SHA-256("").
 */
#ifndef AUDIT_TREE_H
#define AUDIT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TREE_HASH      32
#define TREE_LEVELS    64 /* full subtrees of any size below 2^64 */
#define TREE_PROOF_MAX 63 /* hashes in a proof; more is malformed */

/* A tree that grows: the roots of its full subtrees, largest first. */
struct tree {
	uint64_t size;                            /* leaves so far */
	uint8_t frontier[TREE_LEVELS][TREE_HASH]; /* popcount(size) are used */
};

/* What a checkpoint says. */
struct tree_head {
	uint64_t size;
	uint8_t root[TREE_HASH];
};

struct tree_path {
	size_t n_hashes; /* at most TREE_PROOF_MAX */
	uint8_t hashes[TREE_PROOF_MAX][TREE_HASH];
};

void tree_leaf(const void *record, size_t len, uint8_t ret[TREE_HASH]);
void tree_node(const uint8_t left[TREE_HASH], const uint8_t right[TREE_HASH],
    uint8_t ret[TREE_HASH]);

void tree_init(struct tree *t); /* no leaf */
void tree_add(struct tree *t, const uint8_t leaf[TREE_HASH]);
void tree_root(const struct tree *t, uint8_t ret[TREE_HASH]);
void tree_head_of(const struct tree *t, struct tree_head *ret);

/* How many hashes the frontier of 'size' leaves has. */
size_t tree_frontier_count(uint64_t size);

/*
 * The tree of 'size' leaves from its frontier, 'n_hashes' times TREE_HASH
 * bytes.  A wrong number of hashes is
 * ERROR_MALFORMED; that the hashes are right shows only when the root is
 * compared.
 */
int tree_restore(struct tree *ret, uint64_t size, const uint8_t *hashes,
    size_t n_hashes, struct error *e) MUST_CHECK;

/*
 * A tree and the leaves that were added to it last: enough to prove any of
 * these leaves without the rest of the log.  With before->size 0 and all
 * leaves it proves any record of the log.
 */
struct tree_group {
	const struct tree *before; /* borrowed; as it was before them */
	const uint8_t *leaves; /* borrowed; n_leaves times TREE_HASH bytes */
	size_t n_leaves;
};

/*
 * The inclusion proof of record 'index' in the tree of before->size + n_leaves
 * records (RFC 6962, 2.1.1).  ERROR_STATE if 'index' is not of the group.
 */
int tree_prove(const struct tree_group *group, uint64_t index,
    struct tree_path *ret, struct error *e) MUST_CHECK;

/*
 * Does 'path' prove that 'leaf' is record 'index' below 'head'?  RFC 9162,
 * 2.1.3.2; false for an index at or past the size.
 */
bool tree_includes(const struct tree_head *head, uint64_t index,
    const uint8_t leaf[TREE_HASH], const struct tree_path *path);

/*
 * Does 'path' prove that 'later' begins with all of 'earlier'?  RFC 9162,
 * 2.1.4.2, for 0 < earlier->size < later->size; false outside of that.
 */
bool tree_extends(const struct tree_head *earlier,
    const struct tree_head *later, const struct tree_path *path);

#endif
