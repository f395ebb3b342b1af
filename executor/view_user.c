/*
 * executor/view_user.c - what the view of an account that is not root takes
 * from the host by other means.  Linked by bailiff-launch; runs inside the
 * launcher's user namespace, where no device node can be made.
 *
 * Devices are bound one by one, each judged by its number.  The host's proc
 * stands at /proc until a run has mounted its own: the kernel lets a lesser
 * namespace mount one only beside another that is whole (mount_too_revealing
 * in fs/namespace.c).
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/mounts.h"
#include "executor/view.h"

static int clone_device(
    const struct view_device *d, int *ret_fd, struct error *e)
{
	char path[32];
	struct stat st;
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "/dev/%s", d->name);
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "open %s", path);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, d->minor))
		return FAIL(e, ERROR_UNAVAILABLE,
		    "%s of this host is another device", path);
	if (mounts_clone(fd, "", MOUNTS_ONE, ret_fd, e) < 0)
		return FAIL_IN(e, "%s", path);
	return mounts_set(*ret_fd,
	    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, e);
}

int view_user_open(struct view *v, struct error *e)
{
	for (size_t i = 0; i < VIEW_DEVICES_N; i++)
		if (clone_device(&view_devices[i], &v->device_fds[i], e) < 0)
			return -1;
	return mounts_clone(
	    AT_FDCWD, "/proc", MOUNTS_ALL_BELOW, &v->host_proc_fd, e);
}

int view_user_tree(
    const char *path, const struct stat *meant, int *ret_fd, struct error *e)
{
	char host[LAUNCH_PATH_MAX + 1];
	struct stat st;
	AUTO_FD fd = -1;

	(void)snprintf(host, sizeof(host), "/%s", path);
	fd = open(host, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "open %s", host);
	if (st.st_dev != meant->st_dev || st.st_ino != meant->st_ino)
		return FAIL(e, ERROR_STATE,
		    "%s is not what the supervisor opened", host);
	/* What the host has mounted below is locked to it (mount_namespaces(7));
	 * the overlay on top shows none of it. */
	return mounts_clone(fd, "", MOUNTS_ALL_BELOW, ret_fd, e);
}

int view_user_attach_devices(const struct view *v, struct error *e)
{
	for (size_t i = 0; i < VIEW_DEVICES_N; i++)
		if (mounts_attach(v->device_fds[i], v->dev_fd,
		        view_devices[i].name, e) < 0)
			return FAIL_IN(e, "/dev");
	return 0;
}

int view_user_attach_proc(const struct view *v, struct error *e)
{
	return mounts_attach(v->host_proc_fd, v->root_fd, "proc", e);
}
