/*
 * audit/index.c - writing the index, or comparing it.  Linked by the signer and
 * the audit reader.  Its files are opened with care and never believed.
 */
#include "audit/index.h"

#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store_file.h"
#include "base/file.h"
#include "base/own.h"

#define COMPARED 1024 /* bytes at a time */

const char *const index_names[INDEX_FILES] = { "leaves", "runs", "blocks" };

/* Bytes that so many records take in each file. */
static uint64_t bytes_of(enum index_file file, uint64_t records)
{
	if (file == INDEX_BLOCKS)
		return records / INDEX_BLOCK * INDEX_ENTRY;
	return records * (file == INDEX_LEAVES ? TREE_HASH : INDEX_TAG);
}

static unsigned nibble(char c)
{
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10u;
	return c >= '0' && c <= '9' ? (unsigned)(c - '0') : 0;
}

void index_tag(const char *digits, size_t len, uint8_t ret[INDEX_TAG])
{
	memset(ret, 0, INDEX_TAG);
	for (size_t i = 0; len >= (size_t)2 * INDEX_TAG && i < INDEX_TAG; i++)
		ret[i] = (uint8_t)(nibble(digits[2 * i]) << 4 |
		                   nibble(digits[2 * i + 1]));
}

void index_tag_of(const char *line, size_t len, uint8_t ret[INDEX_TAG])
{
	static const char member[] = "\"req\":\"r_";
	const char *at = memmem(line, len, member, sizeof(member) - 1);

	memset(ret, 0, INDEX_TAG);
	if (at == NULL)
		return;
	at += sizeof(member) - 1;
	index_tag(at, (size_t)(line + len - at), ret);
}

void index_close(struct index *x)
{
	for (size_t i = 0; i < INDEX_FILES; i++)
		own_close(&x->fds[i]);
}

static void clear(struct index *x)
{
	memset(x, 0, sizeof(*x));
	for (size_t i = 0; i < INDEX_FILES; i++)
		x->fds[i] = -1;
}

void index_give_up(struct index *x)
{
	/* What cannot even be emptied is of the wrong size, or wrong; a reader
	 * finds out. */
	for (size_t i = 0; i < INDEX_FILES && !x->compares; i++)
		if (x->fds[i] >= 0 && ftruncate(x->fds[i], 0) < 0)
			continue;
	index_close(x);
}

static bool open_files(int audit_fd, struct index *x)
{
	struct error ignored; /* no index, then */
	AUTO_FD dir_fd = -1;

	if (store_open_dir(audit_fd, INDEX_DIRECTORY, &dir_fd, &ignored) < 0)
		return false;
	for (size_t i = 0; i < INDEX_FILES; i++) {
		const struct store_file file = { dir_fd, index_names[i] };

		if (store_open_file(
		        &file, O_RDWR | O_CREAT, &x->fds[i], &ignored) < 0)
			return false;
	}
	return true;
}

/* How many of 'most' records all three files hold. */
static bool held(const struct index *x, uint64_t most, uint64_t *ret)
{
	uint64_t n = most;

	for (size_t i = 0; i < INDEX_FILES; i++) {
		struct stat st;

		if (fstat(x->fds[i], &st) < 0)
			return false;
		while (n > 0 &&
		       bytes_of((enum index_file)i, n) > (uint64_t)st.st_size)
			n = n % INDEX_BLOCK != 0 ? n - n % INDEX_BLOCK
			                         : n - INDEX_BLOCK;
	}
	*ret = n;
	return true;
}

/* The block that is not yet whole, from its leaves. */
static bool restore_block(struct index *x)
{
	size_t n = (size_t)(x->at.records % INDEX_BLOCK);
	ssize_t want = (ssize_t)(n * TREE_HASH);

	tree_init(&x->block);
	if (pread(x->fds[INDEX_LEAVES], x->leaves, (size_t)want,
	        (off_t)((x->at.records - n) * TREE_HASH)) != want)
		return false;
	for (size_t i = 0; i < n; i++)
		tree_add(&x->block, x->leaves + i * TREE_HASH);
	return true;
}

/* Go on behind whole blocks: where that is in the log is written there. */
static bool start_at_block(struct index *x, uint64_t records)
{
	uint64_t end;

	x->at = (struct index_place){ 0, 0 };
	if (records == 0)
		return true;
	if (pread(x->fds[INDEX_BLOCKS], &end, sizeof(end),
	        (off_t)(bytes_of(INDEX_BLOCKS, records) - sizeof(end))) !=
	    (ssize_t)sizeof(end))
		return false;
	x->at = (struct index_place){ records, le64toh(end) };
	return true;
}

static bool start(
    struct index *x, const struct index_place *want, uint64_t durable)
{
	uint64_t n;

	if (!held(x, durable < want->records ? durable : want->records, &n))
		return false;
	if (n == want->records)
		x->at = *want;
	else if (!start_at_block(x, n - n % INDEX_BLOCK))
		return false;
	for (size_t i = 0; i < INDEX_FILES; i++)
		if (ftruncate(x->fds[i],
		        (off_t)bytes_of((enum index_file)i, x->at.records)) < 0)
			return false;
	return restore_block(x);
}

void index_open(int audit_fd, const struct index_place *want, uint64_t durable,
    struct index *x)
{
	clear(x);
	if (!open_files(audit_fd, x) || !start(x, want, durable))
		index_give_up(x);
}

void index_open_to_compare(int audit_fd, struct index *x)
{
	struct error ignored; /* no index, then */
	AUTO_FD dir_fd = -1;
	const struct file_open dir = { audit_fd, INDEX_DIRECTORY,
		O_RDONLY | O_DIRECTORY, 0 };

	clear(x);
	x->compares = true;
	if (file_open_beneath(&dir, &dir_fd, &ignored) < 0)
		return;
	for (size_t i = 0; i < INDEX_FILES; i++) {
		const struct file_open file = { dir_fd, index_names[i],
			O_RDONLY, 0 };
		struct stat st;

		if (file_open_beneath(&file, &x->fds[i], &ignored) < 0 ||
		    fstat(x->fds[i], &st) < 0 || !S_ISREG(st.st_mode)) {
			index_close(x);
			return;
		}
	}
}

/* Beyond its end an index that is compared is only short. */
static bool is_there(struct index *x, enum index_file file,
    const struct store_bytes *what, uint64_t from)
{
	const uint8_t *data = what->data;
	uint8_t there[COMPARED];

	for (size_t done = 0; done < what->len;) {
		size_t left = what->len - done;
		size_t want = left < sizeof(there) ? left : sizeof(there);
		ssize_t got =
		    pread(x->fds[file], there, want, (off_t)(from + done));

		if (got <= 0)
			return false;
		if (memcmp(there, data + done, (size_t)got) != 0) {
			x->differs = true;
			return false;
		}
		done += (size_t)got;
	}
	return true;
}

static bool hand_on(
    struct index *x, enum index_file file, const uint8_t *data, uint64_t to)
{
	uint64_t end = bytes_of(file, to);
	uint64_t from = file == INDEX_BLOCKS
	                    ? end - INDEX_ENTRY
	                    : bytes_of(file, to - x->n_pending);
	size_t len = (size_t)(end - from);

	if (x->compares)
		return is_there(
		    x, file, &(struct store_bytes){ data, len }, from);
	return pwrite(x->fds[file], data, len, (off_t)from) == (ssize_t)len;
}

void index_flush(struct index *x)
{
	if (x->n_pending == 0 || x->fds[0] < 0)
		return;
	if (!hand_on(x, INDEX_LEAVES, x->leaves, x->at.records) ||
	    !hand_on(x, INDEX_RUNS, x->runs, x->at.records) ||
	    (x->at.records % INDEX_BLOCK == 0 &&
	        !hand_on(x, INDEX_BLOCKS, x->entry, x->at.records)))
		index_give_up(x);
	x->n_pending = 0;
}

static void end_block(struct index *x)
{
	uint64_t end = htole64(x->at.bytes);

	tree_root(&x->block, x->entry);
	memcpy(x->entry + TREE_HASH, &end, sizeof(end));
	tree_init(&x->block);
	index_flush(x);
}

void index_add(struct index *x, const char *line, size_t len,
    const uint8_t leaf[TREE_HASH])
{
	if (x->fds[0] < 0)
		return;
	memcpy(x->leaves + x->n_pending * TREE_HASH, leaf, TREE_HASH);
	index_tag_of(line, len, x->runs + x->n_pending * INDEX_TAG);
	x->n_pending++;
	tree_add(&x->block, leaf);
	x->at.records++;
	x->at.bytes += len + 1;
	if (x->at.records % INDEX_BLOCK == 0)
		end_block(x);
}

void index_sync(struct index *x)
{
	index_flush(x);
	for (size_t i = 0; i < INDEX_FILES && x->fds[0] >= 0; i++)
		if (fdatasync(x->fds[i]) < 0)
			index_give_up(x);
}
