/*
 * audit/store_file.c - small files of the signer.  Linked by the signer.  The
 * directories are the signer's own, but what lies in them is checked each
 * time: whoever restored a backup or ran chmod gets told, not obeyed.
 */
#include "audit/store_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

#define NAME_MAX_LEN 64

/* statfs(2).  What a server keeps may lie about sync, locks and identity. */
static const struct foreign {
	unsigned long magic;
	const char *name;
} foreign[] = {
	{ 0x6969, "NFS" },
	{ 0x517b, "SMB" },
	{ 0xff534d42, "SMB" },
	{ 0xfe534d42, "SMB" },
	{ 0x65735546, "FUSE" },
};

int store_check_dir(int fd, const char *name, struct error *e)
{
	struct stat st;
	struct statfs fs;

	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return FAIL_SYS(e, "look at %s", name);
	if (!S_ISDIR(st.st_mode))
		return FAIL(e, ERROR_MALFORMED, "%s is not a directory", name);
	if (st.st_uid != geteuid())
		return FAIL(e, ERROR_TAMPERED,
		    "%s belongs to uid %u, not to the signer (uid %u)", name,
		    st.st_uid, geteuid());
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return FAIL(e, ERROR_TAMPERED,
		    "%s may be written by others (mode %04o): look who did, "
		    "then chmod go-w",
		    name, st.st_mode & 07777);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if ((unsigned long)fs.f_type == foreign[i].magic)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "%s lies on %s, which does not keep what it "
			    "promises; use a local file system",
			    name, foreign[i].name);
	return 0;
}

int store_open_dir(int dir_fd, const char *name, int *ret_fd, struct error *e)
{
	const struct file_open open = { dir_fd, name, O_RDONLY | O_DIRECTORY,
		0 };
	AUTO_FD fd = -1;

	if (mkdirat(dir_fd, name, S_IRWXU) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make %s", name);
	if (file_open_beneath(&open, &fd, e) < 0)
		return FAIL_IN(e, "%s", name);
	if (store_check_dir(fd, name, e) < 0)
		return -1;
	*ret_fd = take_fd(&fd);
	return 0;
}

int store_open_file(
    const struct store_file *file, int flags, int *ret_fd, struct error *e)
{
	const struct file_open open = { file->dir_fd, file->name, flags,
		S_IRUSR | S_IWUSR };
	struct stat st;
	AUTO_FD fd = -1;

	if (file_open_beneath(&open, &fd, e) < 0)
		return FAIL_IN(e, "%s", file->name);
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at %s", file->name);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return FAIL(e, ERROR_TAMPERED,
		    "%s is not a regular file with one name", file->name);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return FAIL(e, ERROR_TAMPERED,
		    "%s may be written by others (uid %u, mode %04o): look who "
		    "did, then chmod go-w",
		    file->name, st.st_uid, st.st_mode & 07777);
	*ret_fd = take_fd(&fd);
	return 0;
}

int store_check_private(int fd, const char *name, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at %s", name);
	if ((st.st_mode & 07777) != (S_IRUSR | S_IWUSR))
		return FAIL(e, ERROR_TAMPERED,
		    "%s has mode %04o, not 0600: take the key for known to "
		    "others",
		    name, st.st_mode & 07777);
	return 0;
}

int store_replace(const struct store_file *file, struct store_bytes bytes,
    enum store_sync sync, struct error *e)
{
	char name[NAME_MAX_LEN];
	const struct store_file new = { file->dir_fd, name };
	AUTO_FD fd = -1;

	(void)snprintf(name, sizeof(name), "%s.new", file->name);
	if (store_open_file(&new, O_WRONLY | O_CREAT | O_TRUNC, &fd, e) < 0)
		return -1;
	if (file_write_all(fd, bytes.data, bytes.len, e) < 0)
		return FAIL_IN(e, "%s", name);
	if (sync == STORE_SYNC && fsync(fd) < 0)
		return FAIL_SYS(e, "sync %s", name);
	if (renameat(file->dir_fd, name, file->dir_fd, file->name) < 0)
		return FAIL_SYS(e, "rename %s", name);
	if (sync == STORE_SYNC && fsync(file->dir_fd) < 0)
		return FAIL_SYS(e, "sync the directory of %s", file->name);
	return 0;
}

int store_read(const struct store_file *file, char *ret, size_t cap,
    size_t *ret_len, struct error *e)
{
	AUTO_FD fd = -1;
	size_t len = 0;

	if (store_open_file(file, O_RDONLY, &fd, e) < 0) {
		if (e->kind == ERROR_SYSTEM && e->saved_errno == ENOENT)
			return FAIL(
			    e, ERROR_CLOSED, "there is no %s", file->name);
		return -1;
	}
	for (;;) {
		ssize_t got = read(fd, ret + len, cap - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read %s", file->name);
		if (got == 0)
			break;
		len += (size_t)got;
		if (len == cap)
			return FAIL(
			    e, ERROR_LIMIT, "%s is too long", file->name);
	}
	ret[len] = '\0';
	*ret_len = len;
	return 0;
}

int store_is_full(const struct error *e)
{
	return e->kind == ERROR_SYSTEM &&
	       (e->saved_errno == ENOSPC || e->saved_errno == EDQUOT ||
	           e->saved_errno == EFBIG);
}
