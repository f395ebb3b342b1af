/*
 * audit/index_read.h - looking things up in audit/index/.  Linked by the audit
 * reader.  What it answers is a guess of whoever wrote the files: a record that
 * it leads to, and a path, are checked by the caller.
 */
#ifndef AUDIT_INDEX_READ_H
#define AUDIT_INDEX_READ_H

#include "audit/index.h"
#include "base/error.h"

struct index_read {
	int fds[INDEX_FILES]; /* owned */
};

/* ERROR_CLOSED: there is none. */
int index_read_open(
    int audit_fd, struct index_read *ret, struct error *e) MUST_CHECK;
void index_read_close(struct index_read *x); /* also of one that failed */

/* Where to begin reading for record 'seq': at a whole block before it. */
int index_read_place(const struct index_read *x, uint64_t seq,
    struct index_place *ret, struct error *e) MUST_CHECK;

/* The path of record 'seq' in the tree of 'size' records, above 'seq'.  Takes
 * 32 bytes of memory for 256 records. */
int index_read_path(const struct index_read *x, uint64_t seq, uint64_t size,
    struct tree_path *ret, struct error *e) MUST_CHECK;

/* The tree of 'size' records, to which more can be added. */
int index_read_frontier(const struct index_read *x, uint64_t size,
    struct tree *ret, struct error *e) MUST_CHECK;

/* The last record below *seq whose tag is this one; *ret_found false: none.
 * *seq becomes its number. */
int index_read_tag(const struct index_read *x, const uint8_t tag[INDEX_TAG],
    uint64_t *seq, bool *ret_found, struct error *e) MUST_CHECK;

#endif
