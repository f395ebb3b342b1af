/*
 * audit/store.c - opening the files of a log, and appending to it.  Linked by
 * the signer.  It is the only writer and checks before each group that it still
 * is: same file, same size, same mode.
 */
#include "audit/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "audit/store_log.h"
#include "base/file.h"
#include "base/own.h"

#define PID_TEXT     16
#define LOCK_TRIES   30
#define LOCK_WAIT_NS 10000000 /* 10 ms */

/*
 * A reader may hold the lock shared for a moment, to see whether a signer
 * lives; hence a few tries.
 */
static int take_lock(struct store *s, bool *ret_busy, struct error *e)
{
	const struct store_file file = { s->audit_fd, "lock" };
	const struct timespec moment = { 0, LOCK_WAIT_NS };
	char text[PID_TEXT] = "";
	int len;

	if (store_open_file(&file, O_RDWR | O_CREAT, &s->lock_fd, e) < 0)
		return -1;
	for (int i = 0; flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK)
			return FAIL_SYS(e, "lock the log");
		if (i < LOCK_TRIES) {
			(void)nanosleep(&moment, NULL);
			continue;
		}
		if (pread(s->lock_fd, text, sizeof(text) - 1, 0) <= 0)
			text[0] = '?';
		text[strspn(text, "0123456789?")] = '\0';
		*ret_busy = true;
		return FAIL(e, ERROR_STATE,
		    "another signer has this log (pid %s)", text);
	}
	len = snprintf(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(s->lock_fd, 0) < 0 ||
	    pwrite(s->lock_fd, text, (size_t)len, 0) != len)
		return FAIL_SYS(e, "write the lock");
	return 0;
}

static int open_dirs(struct store *s, struct error *e)
{
	if (store_check_dir(s->audit_fd, "audit/", e) < 0)
		return -1;
	if (store_open_dir(s->audit_fd, "log", &s->log_dir_fd, e) < 0 ||
	    store_open_dir(s->audit_fd, "checkpoints", &s->archive_dir_fd, e) <
	        0 ||
	    store_open_dir(s->audit_fd, "salts", &s->salts_dir_fd, e) < 0 ||
	    store_open_dir(s->audit_fd, "quarantine", &s->quarantine_fd, e) < 0)
		return -1;
	return 0;
}

static int open_log(struct store *s, enum store_new is_new, struct error *e)
{
	const struct store_file file = { s->log_dir_fd, STORE_LOG_NAME };
	int flags = O_RDWR | O_APPEND | (is_new == STORE_NEW ? O_CREAT : 0);
	struct stat st;

	if (store_open_file(&file, flags, &s->log_fd, e) < 0)
		return -1;
	if (fstat(s->log_fd, &st) < 0)
		return FAIL_SYS(e, "look at the log");
	if (is_new == STORE_NEW && st.st_size != 0)
		return FAIL(e, ERROR_STATE,
		    "audit/log holds records, but keys/ holds no log key: put "
		    "the keys back, or move audit/ away to begin a new log");
	if (is_new == STORE_NEW &&
	    (fsync(s->log_fd) < 0 || fsync(s->log_dir_fd) < 0 ||
	        fsync(s->audit_fd) < 0))
		return FAIL_SYS(e, "sync the new log");
	s->device = st.st_dev;
	s->inode = st.st_ino;
	s->mode = st.st_mode;
	/* What a killed signer left unsynced, resume_log syncs. */
	s->bytes = (uint64_t)st.st_size;
	s->synced = s->bytes;
	return 0;
}

int store_open(int audit_fd, enum store_new is_new, struct store *ret,
    bool *ret_busy, struct error *e)
{
	struct store s = { .audit_fd = audit_fd,
		.lock_fd = -1,
		.log_dir_fd = -1,
		.log_fd = -1,
		.archive_dir_fd = -1,
		.archive_fd = -1,
		.salts_dir_fd = -1,
		.salts_fd = -1,
		.quarantine_fd = -1 };

	*ret_busy = false;
	if (open_dirs(&s, e) < 0 || take_lock(&s, ret_busy, e) < 0 ||
	    open_log(&s, is_new, e) < 0) {
		store_close(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

static int no_space(struct error *e)
{
	return FAIL(e, ERROR_LIMIT,
	    "audit: no space for records; free space on the disk of the state "
	    "directory");
}

int store_reserve(struct store *s, uint64_t end, struct error *e)
{
	/* Ahead of need, so that most groups ask for nothing. */
	const uint64_t goals[] = { end + STORE_RESERVE, end };

	if (end <= s->reserved)
		return 0;
	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
		if (fallocate(s->log_fd, FALLOC_FL_KEEP_SIZE, (off_t)s->bytes,
		        (off_t)(goals[i] - s->bytes)) == 0) {
			s->reserved = goals[i];
			return 0;
		}
		(void)FAIL_SYS(e, "reserve space for the log");
		if (!store_is_full(e))
			return -1;
	}
	return no_space(e);
}

/* Is the name still ours, and has nobody else written? */
static int check_identity(struct store *s, struct error *e)
{
	struct stat here, there;

	if (fstat(s->log_fd, &here) < 0 ||
	    fstatat(
	        s->log_dir_fd, STORE_LOG_NAME, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return FAIL_SYS(e, "look at the log");
	if (here.st_dev != there.st_dev || here.st_ino != there.st_ino ||
	    here.st_ino != s->inode || here.st_dev != s->device)
		return FAIL(e, ERROR_TAMPERED,
		    "the log was moved or replaced while we write it");
	if ((uint64_t)here.st_size != s->bytes)
		return FAIL(e, ERROR_TAMPERED,
		    "the log has %lld bytes, we wrote %llu: somebody else "
		    "writes it",
		    (long long)here.st_size, (unsigned long long)s->bytes);
	if (here.st_mode != s->mode)
		return FAIL(e, ERROR_TAMPERED,
		    "the mode of the log changed to %04o",
		    here.st_mode & 07777);
	return 0;
}

/* Back to the last acknowledged length; what cannot be undone is for good. */
static int cut_back(struct store *s, struct error *e)
{
	if (ftruncate(s->log_fd, (off_t)s->bytes) < 0 ||
	    fdatasync(s->log_fd) < 0)
		return FAIL_SYS(e, "cut the log back after a failed write");
	s->reserved = 0; /* ftruncate gave the reserve back */
	s->synced = s->bytes;
	return no_space(e);
}

int store_append(struct store *s, struct store_bytes group,
    enum store_sync sync, struct error *e)
{
	if (check_identity(s, e) < 0)
		return -1;
	if (file_write_all(s->log_fd, group.data, group.len, e) < 0)
		return store_is_full(e) ? cut_back(s, e)
		                        : FAIL_IN(e, "append to the log");
	s->bytes += group.len;
	return sync == STORE_SYNC ? store_flush(s, e) : 0;
}

uint64_t store_lags(const struct store *s)
{
	return s->bytes - s->synced;
}

int store_flush(struct store *s, struct error *e)
{
	if (s->synced == s->bytes)
		return 0;
	if (fdatasync(s->log_fd) < 0)
		return FAIL_SYS(e, "sync the log");
	s->synced = s->bytes;
	return 0;
}

/* Gives the reserve back; the length stays. */
int store_release(struct store *s, struct error *e)
{
	struct stat st;

	if (fstat(s->log_fd, &st) < 0)
		return FAIL_SYS(e, "look at the log");
	/* Never cut off what somebody else put there: that is evidence. */
	if ((uint64_t)st.st_size == s->bytes &&
	    ftruncate(s->log_fd, st.st_size) < 0)
		return FAIL_SYS(e, "give the reserve back");
	s->reserved = 0;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void store_close(struct store *s)
{
	close_fd(&s->log_fd);
	close_fd(&s->log_dir_fd);
	close_fd(&s->archive_fd);
	close_fd(&s->archive_dir_fd);
	close_fd(&s->salts_fd);
	close_fd(&s->salts_dir_fd);
	close_fd(&s->quarantine_fd);
	close_fd(&s->lock_fd); /* last: it tells that we are gone */
}
