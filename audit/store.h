/*
 * audit/store.h - the files of a log on disk, for the one process that writes
 * them: log/000000.jsonl, checkpoint, checkpoints/, salts/, quarantine/, lock.
 *
 * Group commit: one write and one fdatasync per group, unless all its records
 * were promised less; no head is signed before the log is synced.  What a signed record
 * can restore (the checkpoint, its archive) or what only opens a commitment
 * (salts) is written with each group but synced at most once a second.
 */
#ifndef AUDIT_STORE_H
#define AUDIT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/store_file.h"
#include "base/error.h"

#define STORE_RESERVE   (1u << 20) /* kept free beside what runs may need */
#define STORE_TORN_MAX  (16u << 20)
#define STORE_SALT_SIZE 40 /* sequence number, big-endian, and 32 bytes */
#define STORE_SYNC_MS   1000
/* Acknowledged bytes that may wait for a sync: with one more group below
 * STORE_TORN_MAX, which a start can set aside. */
#define STORE_LAG_MAX (8u << 20)

struct store {
	int audit_fd; /* borrowed */
	int lock_fd, log_dir_fd, log_fd;
	int archive_dir_fd, archive_fd;
	int salts_dir_fd, salts_fd;
	int quarantine_fd;
	dev_t device;
	ino_t inode;
	mode_t mode;
	uint64_t bytes;    /* of the log that are acknowledged */
	uint64_t synced;   /* of them, on stable storage */
	uint64_t reserved; /* up to here the file system holds space */
	uint64_t salts_bytes;
	uint64_t epoch; /* of salts_fd and archive_fd */
	bool dirty;     /* something waits for store_sync */
	bool note_due;  /* the checkpoint could not be written: no space */
};

enum store_new {
	STORE_EXISTING,
	STORE_NEW
};

/*
 * Take the lock and open everything; directories that are missing are made,
 * the log only with STORE_NEW.  ERROR_STATE, naming the pid, when another
 * signer has the lock.  *ret_busy tells that apart from other failures.
 */
int store_open(int audit_fd, enum store_new is_new, struct store *ret,
    bool *ret_busy, struct error *e) MUST_CHECK;

/* Make sure that the log can grow to 'end' bytes whatever others do to the
 * disk.  ERROR_LIMIT when there is no space. */
int store_reserve(struct store *s, uint64_t end, struct error *e) MUST_CHECK;

/*
 * Append a group and, with STORE_SYNC, sync the log.  ERROR_LIMIT when there was no space: the file
 * is then as before and goes on.  Any other failure is for good: Linux clears
 * a write error once it is told, so a second fdatasync could claim success
 * for pages that are lost.
 */
int store_append(struct store *s, struct store_bytes group,
    enum store_sync sync, struct error *e) MUST_CHECK;

/* Acknowledged bytes that are not on stable storage yet. */
uint64_t store_lags(const struct store *s);

/* Sync the log where it lags.  Any failure is for good. */
int store_flush(struct store *s, struct error *e) MUST_CHECK;

/* Start files of 'epoch' for salts and archived notes. */
int store_begin_epoch(
    struct store *s, uint64_t epoch, struct error *e) MUST_CHECK;

/* Append salt entries; cut back if they do not fit (ERROR_LIMIT). */
int store_salts(
    struct store *s, struct store_bytes entries, struct error *e) MUST_CHECK;

/* Drop the entries behind the first 'keep' bytes: their group was undone. */
int store_salts_back(
    struct store *s, uint64_t keep, struct error *e) MUST_CHECK;

/* Replace the checkpoint and archive it.  Lack of space is no failure here:
 * the note is remembered as due and comes with a later group. */
int store_note(struct store *s, struct store_bytes note, enum store_sync sync,
    struct error *e) MUST_CHECK;

/* Sync what lazy writes left behind. */
int store_sync(struct store *s, struct error *e) MUST_CHECK;

/* Set aside what stands behind byte 'keep' of the log as quarantine/<n>.torn,
 * 'n' records being kept, and cut the log there. */
int store_quarantine(
    struct store *s, uint64_t keep, uint64_t n, struct error *e) MUST_CHECK;

/*
 * The i-th torn piece set aside at a log of 'n' records; ERROR_CLOSED when
 * there are no more.
 */
struct store_torn {
	uint64_t bytes;
	uint8_t sha256[32];
};
int store_torn(const struct store *s, uint64_t n, size_t i,
    struct store_torn *ret, struct error *e) MUST_CHECK;

/* Give reserved space back, at the end. */
int store_release(struct store *s, struct error *e) MUST_CHECK;

void store_close(struct store *s);

#endif
