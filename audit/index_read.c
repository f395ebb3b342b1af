/*
 * audit/index_read.c - looking things up in the index.  Linked by the audit
 * reader; the files are hostile, and so is their absence.
 */
#include "audit/index_read.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

#define TAGS_AT_ONCE 512
#define AT_ONCE      16 /* entries of a block, or leaves */

void index_read_close(struct index_read *x)
{
	for (size_t i = 0; i < INDEX_FILES; i++)
		own_close(&x->fds[i]);
}

int index_read_open(int audit_fd, struct index_read *ret, struct error *e)
{
	const struct file_open dir = { audit_fd, INDEX_DIRECTORY,
		O_RDONLY | O_DIRECTORY, 0 };
	AUTO_FD dir_fd = -1;

	for (size_t i = 0; i < INDEX_FILES; i++)
		ret->fds[i] = -1;
	if (file_open_beneath(&dir, &dir_fd, e) < 0)
		return e->saved_errno == ENOENT
		           ? FAIL(e, ERROR_CLOSED, "no index")
		           : FAIL_IN(e, INDEX_DIRECTORY);
	for (size_t i = 0; i < INDEX_FILES; i++) {
		const struct file_open file = { dir_fd, index_names[i],
			O_RDONLY, 0 };
		struct stat st;

		if (file_open_beneath(&file, &ret->fds[i], e) < 0)
			return FAIL_IN(
			    e, INDEX_DIRECTORY "/%s", index_names[i]);
		if (fstat(ret->fds[i], &st) < 0 || !S_ISREG(st.st_mode))
			return FAIL(e, ERROR_TAMPERED,
			    INDEX_DIRECTORY "/%s is not a regular file",
			    index_names[i]);
	}
	return 0;
}

static int read_at(const struct index_read *x, enum index_file file, void *to,
    const uint64_t span[2], struct error *e)
{
	uint8_t *at = to;
	uint64_t done = 0;

	while (done < span[1]) {
		ssize_t got = pread(x->fds[file], at + done,
		    (size_t)(span[1] - done), (off_t)(span[0] + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read the index");
		if (got == 0)
			return FAIL(
			    e, ERROR_TAMPERED, "the index is too short");
		done += (uint64_t)got;
	}
	return 0;
}

int index_read_place(const struct index_read *x, uint64_t seq,
    struct index_place *ret, struct error *e)
{
	uint64_t block = seq / INDEX_BLOCK;
	uint64_t end;
	const uint64_t span[] = { block * INDEX_ENTRY - sizeof(end),
		sizeof(end) };

	*ret = (struct index_place){ block * INDEX_BLOCK, 0 };
	if (block == 0)
		return 0;
	if (read_at(x, INDEX_BLOCKS, &end, span, e) < 0)
		return -1;
	ret->bytes = le64toh(end);
	return 0;
}

/* The roots of all whole blocks. */
static int read_blocks(const struct index_read *x, uint64_t whole,
    uint8_t *blocks, struct error *e)
{
	uint8_t entries[AT_ONCE * INDEX_ENTRY];

	for (uint64_t from = 0; from < whole; from += AT_ONCE) {
		uint64_t n = whole - from < AT_ONCE ? whole - from : AT_ONCE;
		const uint64_t span[] = { from * INDEX_ENTRY, n * INDEX_ENTRY };

		if (read_at(x, INDEX_BLOCKS, entries, span, e) < 0)
			return -1;
		for (uint64_t i = 0; i < n; i++)
			memcpy(blocks + (from + i) * TREE_HASH,
			    entries + i * INDEX_ENTRY, TREE_HASH);
	}
	return 0;
}

/* The block that is not whole, from its leaves. */
static int read_rest(const struct index_read *x, uint64_t size,
    struct tree *ret, struct error *e)
{
	uint8_t leaves[AT_ONCE * TREE_HASH];
	uint64_t from = size - size % INDEX_BLOCK;

	tree_init(ret);
	for (; from < size; from += AT_ONCE) {
		uint64_t n = size - from < AT_ONCE ? size - from : AT_ONCE;
		const uint64_t span[] = { from * TREE_HASH, n * TREE_HASH };

		if (read_at(x, INDEX_LEAVES, leaves, span, e) < 0)
			return -1;
		for (uint64_t i = 0; i < n; i++)
			tree_add(ret, leaves + i * TREE_HASH);
	}
	return 0;
}

/* The roots of all blocks. */
static int read_all(
    const struct index_read *x, uint64_t size, uint8_t *blocks, struct error *e)
{
	uint64_t whole = size / INDEX_BLOCK;
	struct tree rest;

	if (read_blocks(x, whole, blocks, e) < 0 ||
	    read_rest(x, size, &rest, e) < 0)
		return -1;
	if (rest.size > 0)
		tree_root(&rest, blocks + whole * TREE_HASH);
	return 0;
}

/* Its full subtrees are those of the tree of whole blocks, then those of the
 * last one. */
int index_read_frontier(const struct index_read *x, uint64_t size,
    struct tree *ret, struct error *e)
{
	uint64_t whole = size / INDEX_BLOCK;
	AUTO_FREE uint8_t *blocks =
	    reallocarray(NULL, (size_t)whole + 1, TREE_HASH);
	struct tree rest;

	if (blocks == NULL)
		return FAIL_SYS(e, "allocate the blocks of the index");
	if (read_blocks(x, whole, blocks, e) < 0 ||
	    read_rest(x, size, &rest, e) < 0)
		return -1;
	tree_init(ret);
	for (uint64_t i = 0; i < whole; i++)
		tree_add(ret, blocks + i * TREE_HASH);
	memcpy(ret->frontier + tree_frontier_count(whole), rest.frontier,
	    tree_frontier_count(rest.size) * TREE_HASH);
	ret->size = size;
	return 0;
}

static int prove_in_block(const struct index_read *x, uint64_t seq,
    uint64_t size, struct tree_path *ret, struct error *e)
{
	uint64_t from = seq - seq % INDEX_BLOCK;
	uint64_t n = size - from < INDEX_BLOCK ? size - from : INDEX_BLOCK;
	const uint64_t span[] = { from * TREE_HASH, n * TREE_HASH };
	AUTO_FREE uint8_t *leaves = malloc((size_t)span[1]);
	struct tree before;
	const struct tree_group group = { &before, leaves, (size_t)n };

	if (leaves == NULL)
		return FAIL_SYS(e, "allocate a block of the index");
	tree_init(&before);
	if (read_at(x, INDEX_LEAVES, leaves, span, e) < 0)
		return -1;
	return tree_prove(&group, seq - from, ret, e);
}

/*
 * RFC 6962 splits at powers of two, so above blocks of 256 leaves, the last of
 * which may be smaller, stands the tree of their roots: the path of the record
 * in its block, then that of the block.
 */
int index_read_path(const struct index_read *x, uint64_t seq, uint64_t size,
    struct tree_path *ret, struct error *e)
{
	size_t n = (size_t)((size + INDEX_BLOCK - 1) / INDEX_BLOCK);
	AUTO_FREE uint8_t *blocks = reallocarray(NULL, n + 1, TREE_HASH);
	struct tree before;
	const struct tree_group group = { &before, blocks, n };
	struct tree_path above;

	if (blocks == NULL)
		return FAIL_SYS(e, "allocate the blocks of the index");
	tree_init(&before);
	if (prove_in_block(x, seq, size, ret, e) < 0 ||
	    read_all(x, size, blocks, e) < 0 ||
	    tree_prove(&group, seq / INDEX_BLOCK, &above, e) < 0)
		return -1;
	if (ret->n_hashes + above.n_hashes > TREE_PROOF_MAX)
		return FAIL(e, ERROR_LIMIT, "tree too deep to prove");
	memcpy(ret->hashes[ret->n_hashes], above.hashes[0],
	    above.n_hashes * TREE_HASH);
	ret->n_hashes += above.n_hashes;
	return 0;
}

int index_read_tag(const struct index_read *x, const uint8_t tag[INDEX_TAG],
    uint64_t *seq, bool *ret_found, struct error *e)
{
	uint8_t tags[TAGS_AT_ONCE * INDEX_TAG];

	*ret_found = false;
	while (*seq > 0) {
		uint64_t n = *seq < TAGS_AT_ONCE ? *seq : TAGS_AT_ONCE;
		uint64_t from = *seq - n;
		const uint64_t span[] = { from * INDEX_TAG, n * INDEX_TAG };

		if (read_at(x, INDEX_RUNS, tags, span, e) < 0)
			return -1;
		for (; *seq > from; (*seq)--)
			if (memcmp(tags + (*seq - 1 - from) * INDEX_TAG, tag,
			        INDEX_TAG) == 0) {
				(*seq)--;
				*ret_found = true;
				return 0;
			}
	}
	return 0;
}
