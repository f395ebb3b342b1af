/*
 * audit/store_side.c - what lies beside the log: checkpoint, archive, salts,
 * quarantine.  Linked by the signer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/store.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

#define NAME_LEN   48
#define COPY_BYTES 4096

static int open_for_epoch(
    const struct store_file *file, int *fd, struct error *e)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	return store_open_file(file, O_RDWR | O_APPEND | O_CREAT, fd, e);
}

int store_begin_epoch(struct store *s, uint64_t epoch, struct error *e)
{
	char name[NAME_LEN];
	const struct store_file salts = { s->salts_dir_fd, name };
	const struct store_file archive = { s->archive_dir_fd, name };

	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)epoch);
	if (open_for_epoch(&salts, &s->salts_fd, e) < 0 ||
	    open_for_epoch(&archive, &s->archive_fd, e) < 0)
		return -1;
	/*
	 * An epoch whose opening record did not survive a crash is begun
	 * anew; what it left belongs to no record.
	 */
	if (ftruncate(s->salts_fd, 0) < 0)
		return FAIL_SYS(e, "begin the salts of an epoch");
	s->salts_bytes = 0;
	s->epoch = epoch;
	return 0;
}

int store_salts(struct store *s, struct store_bytes entries, struct error *e)
{
	if (entries.len == 0)
		return 0;
	if (file_write_all(s->salts_fd, entries.data, entries.len, e) < 0) {
		if (!store_is_full(e))
			return FAIL_IN(e, "append to the salts");
		if (ftruncate(s->salts_fd, (off_t)s->salts_bytes) < 0)
			return FAIL_SYS(e, "cut the salts back");
		return FAIL(e, ERROR_LIMIT,
		    "audit: no space for salts; free space on the disk of the "
		    "state directory");
	}
	s->salts_bytes += entries.len;
	return 0;
}

int store_salts_back(struct store *s, uint64_t keep, struct error *e)
{
	if (s->salts_fd >= 0 && ftruncate(s->salts_fd, (off_t)keep) < 0)
		return FAIL_SYS(e, "cut the salts back");
	s->salts_bytes = keep;
	return 0;
}

/* Each note ends with an empty line, as nothing inside a note does twice. */
static int archive(struct store *s, struct store_bytes note, struct error *e)
{
	if (s->archive_fd < 0)
		return 0;
	if (file_write_all(s->archive_fd, note.data, note.len, e) < 0 ||
	    file_write_all(s->archive_fd, "\n", 1, e) < 0)
		return FAIL_IN(e, "archive the checkpoint");
	return 0;
}

int store_note(struct store *s, struct store_bytes note, enum store_sync sync,
    struct error *e)
{
	const struct store_file file = { s->audit_fd, "checkpoint" };

	if (store_replace(&file, note, sync, e) < 0 ||
	    archive(s, note, e) < 0) {
		if (!store_is_full(e))
			return -1;
		s->note_due = true;
		return 0;
	}
	s->note_due = false;
	if (sync == STORE_LAZY)
		s->dirty = true;
	return 0;
}

int store_sync(struct store *s, struct error *e)
{
	const struct store_file file = { s->audit_fd, "checkpoint" };
	AUTO_FD fd = -1;

	if (!s->dirty)
		return 0;
	if (store_open_file(&file, O_RDONLY, &fd, e) < 0)
		return -1;
	if (fsync(fd) < 0 || fsync(s->audit_fd) < 0)
		return FAIL_SYS(e, "sync the checkpoint");
	if (s->archive_fd >= 0 &&
	    (fdatasync(s->archive_fd) < 0 || fdatasync(s->salts_fd) < 0))
		return FAIL_SYS(e, "sync salts and archive");
	s->dirty = false;
	return 0;
}

static void torn_name(uint64_t n, size_t i, char ret[NAME_LEN])
{
	(void)snprintf(
	    ret, NAME_LEN, "%llu-%zu.torn", (unsigned long long)n, i);
}

/* The first number that is free: torn tails can follow one another. */
static int open_torn(
    const struct store *s, uint64_t n, int *ret_fd, struct error *e)
{
	char name[NAME_LEN];
	const struct store_file file = { s->quarantine_fd, name };

	for (size_t i = 0;; i++) {
		torn_name(n, i, name);
		if (store_open_file(
		        &file, O_WRONLY | O_CREAT | O_EXCL, ret_fd, e) == 0)
			return 0;
		if (e->saved_errno != EEXIST)
			return -1;
	}
}

static int copy_from(int from, uint64_t at, int to, struct error *e)
{
	uint8_t block[COPY_BYTES];

	for (;;) {
		ssize_t got = pread(from, block, sizeof(block), (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read the torn tail");
		if (got == 0)
			return 0;
		if (file_write_all(to, block, (size_t)got, e) < 0)
			return FAIL_IN(e, "set the torn tail aside");
		at += (uint64_t)got;
	}
}

int store_quarantine(
    struct store *s, uint64_t keep, uint64_t n, struct error *e)
{
	AUTO_FD fd = -1;

	if (s->bytes - keep > STORE_TORN_MAX)
		return FAIL(e, ERROR_TAMPERED,
		    "%llu bytes behind the last record: more than a crash "
		    "leaves",
		    (unsigned long long)(s->bytes - keep));
	if (open_torn(s, n, &fd, e) < 0 ||
	    copy_from(s->log_fd, keep, fd, e) < 0)
		return -1;
	if (fsync(fd) < 0 || fsync(s->quarantine_fd) < 0)
		return FAIL_SYS(e, "sync the torn tail");
	if (ftruncate(s->log_fd, (off_t)keep) < 0 || fsync(s->log_fd) < 0)
		return FAIL_SYS(e, "cut the torn tail off");
	s->bytes = keep;
	s->synced = keep;
	return 0;
}

int store_torn(const struct store *s, uint64_t n, size_t i,
    struct store_torn *ret, struct error *e)
{
	char name[NAME_LEN];
	const struct store_file file = { s->quarantine_fd, name };
	AUTO_FD fd = -1;

	torn_name(n, i, name);
	if (store_open_file(&file, O_RDONLY, &fd, e) < 0) {
		if (e->saved_errno == ENOENT)
			return FAIL(e, ERROR_CLOSED, "no more torn pieces");
		return -1;
	}
	return sha256_of_fd(fd, ret->sha256, &ret->bytes, e);
}
