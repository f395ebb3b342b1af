/*
 * audit/index.h - audit/index/: the leaves of the log's tree, so that one record
 * is found and proven without reading the others.
 *
 *	leaves	32 bytes a record: its leaf
 *	runs	4 bytes a record: the first 8 digits of the first run id in it
 *	blocks	40 bytes for each 256 records: the root over them, and where the
 *		log goes on behind them (bytes, u64 little-endian)
 *
 * A cache that anybody may have written.  The signer appends to it after the
 * answers and makes what is lost again at a start; whoever reads it checks what
 * comes of it against a signed head (audit/prove.c), and `bailiff audit verify`
 * says when it is wrong.  Nothing here ever fails the log: an index that cannot
 * be written is emptied and left.
 */
#ifndef AUDIT_INDEX_H
#define AUDIT_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/tree.h"

#define INDEX_DIRECTORY "index"
#define INDEX_BLOCK     256 /* records; a full subtree */
#define INDEX_TAG       4
#define INDEX_ENTRY     (TREE_HASH + 8)

enum index_file {
	INDEX_LEAVES,
	INDEX_RUNS,
	INDEX_BLOCKS,
	INDEX_FILES
};

extern const char *const index_names[INDEX_FILES];

/* A place in the log: so many records, so many bytes with their LF. */
struct index_place {
	uint64_t records, bytes;
};

struct index {
	int fds[INDEX_FILES]; /* owned; -1: there is none */
	bool compares;        /* written elsewhere: compare, write nothing */
	bool differs;         /* ... and it is another */
	struct index_place at;
	struct tree block; /* of the records since the last whole block */
	size_t n_pending;
	uint8_t leaves[INDEX_BLOCK * TREE_HASH];
	uint8_t runs[INDEX_BLOCK * INDEX_TAG];
	uint8_t entry[INDEX_ENTRY];
};

/* The tag of a run id's digits, or of a record's; zeros where there is none. */
void index_tag(const char *digits, size_t len, uint8_t ret[INDEX_TAG]);
void index_tag_of(const char *line, size_t len, uint8_t ret[INDEX_TAG]);

/*
 * Open for writing, made if missing, at a log whose first 'durable' records
 * are known to be in it if it holds so many.  x->at is where it goes on: at
 * 'want', or earlier; then the caller adds the records between.
 */
void index_open(int audit_fd, const struct index_place *want, uint64_t durable,
    struct index *x);

/* Open to be compared with a log from its front; no index is none. */
void index_open_to_compare(int audit_fd, struct index *x);

/* The next record, without its LF. */
void index_add(struct index *x, const char *line, size_t len,
    const uint8_t leaf[TREE_HASH]);

/* Hand on what is pending; on stable storage. */
void index_flush(struct index *x);
void index_sync(struct index *x);

/* It is not of this log: empty it; the next start makes it anew. */
void index_give_up(struct index *x);

void index_close(struct index *x);

#endif
