/*
 * executor/state_directory.c - directories of STATE.  Linked by the supervisor
 * and bailiff-key; as root it runs before any peer exists.
 */
#include "executor/state_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/account.h"

int state_directory(
    int dir_fd, const char *name, uint32_t role, int *ret_fd, struct error *e)
{
	const struct file_open what = { dir_fd, name, O_RDONLY | O_DIRECTORY,
		0 };
	uint32_t uid = account_uid(role);
	AUTO_FD fd = -1;
	struct stat st;
	bool fresh = mkdirat(dir_fd, name, 0700) == 0;

	if (!fresh && errno != EEXIST)
		return FAIL_SYS(e, "make %s in the state directory", name);
	if (file_open_beneath(&what, &fd, e) < 0)
		return FAIL_IN(e, "%s in the state directory", name);
	if (fresh && (fchown(fd, account_uid(role), account_gid(role)) < 0 ||
	                 fchmod(fd, 0700) < 0))
		return FAIL_SYS(e, "give %s to its user", name);
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat %s", name);
	if (st.st_uid != uid || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return FAIL(e, ERROR_STATE,
		    "%s in the state directory belongs to uid %u with mode "
		    "%04o; it must belong to %u and be writable by nobody "
		    "else: chown %u, chmod 0700",
		    name, st.st_uid, st.st_mode & 07777, uid, uid);
	*ret_fd = take_fd(&fd);
	return 0;
}
