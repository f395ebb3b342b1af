/*
 * executor/directories_own.c - layers for the overlay of a host directory, for
 * an account that is not root.  Linked by bailiff-launch; runs in a child of
 * the clone, with capabilities over the launcher's own namespaces alone and,
 * to files, the rights of the account.  Allocates nothing.
 */
#include "executor/directories.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/mounts.h"

/* Any directory that every host has: what lies there is hidden from us alone,
 * and not from a descriptor that was opened before. */
#define ANCHOR "/usr"

/* The kernel's path; of a mount that is not in our namespace, from its top. */
static int read_path(int fd, char ret[PATH_MAX], struct error *e)
{
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* NOLINTNEXTLINE(readability-suspicious-call-argument) */
	n = readlink(link, ret, PATH_MAX);
	if (n <= 0 || n == PATH_MAX)
		return FAIL_SYS(e, "read a path");
	ret[n] = '\0';
	return 0;
}

int directories_own_open(int fd, int *ret_fd, struct error *e)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	char path[PATH_MAX];
	struct stat meant;
	struct stat found;
	AUTO_FD own_fd = -1;

	if (unshare(CLONE_NEWNS) < 0)
		return FAIL_SYS(e, "copy the host's mounts");
	if (read_path(fd, path, e) < 0)
		return -1;
	own_fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (own_fd < 0)
		return FAIL_SYS(e, "open it again");
	if (fstat(fd, &meant) < 0 || fstat(own_fd, &found) < 0)
		return FAIL_SYS(e, "look at it again");
	if (meant.st_dev != found.st_dev || meant.st_ino != found.st_ino) {
		errno = ESTALE;
		return FAIL_SYS(e, "is another by now");
	}
	*ret_fd = take_fd(&own_fd);
	return 0;
}

int directories_own_empty(int *ret_fd, struct error *e)
{
	static const struct mounts_new what = { .type = "tmpfs",
		.attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
		              MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	AUTO_FD fd = -1;

	if (mounts_make(&what, &fd, e) < 0 ||
	    mounts_attach(fd, AT_FDCWD, ANCHOR, e) < 0)
		return FAIL_IN(e, "an empty layer");
	*ret_fd = take_fd(&fd);
	return 0;
}
