/*
 * executor/mounts.c - mounts by descriptor.  Linked by bailiff-launch, which
 * holds CAP_SYS_ADMIN; every name here is a constant of ours.
 */
#include "executor/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/own.h"

static int configure(
    int context_fd, const struct mounts_option *options, struct error *e)
{
	for (size_t i = 0; i < MOUNTS_OPTIONS_MAX; i++) {
		const struct mounts_option *o = &options[i];
		unsigned int command =
		    o->value != NULL ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		if (o->key == NULL)
			break;
		if (fsconfig(context_fd, command, o->key, o->value, 0) < 0)
			return FAIL_SYS(e, "mount option %s", o->key);
	}
	return 0;
}

int mounts_make(const struct mounts_new *what, int *ret_fd, struct error *e)
{
	AUTO_FD context_fd = fsopen(what->type, FSOPEN_CLOEXEC);
	int fd;

	if (context_fd < 0)
		return FAIL_SYS(e, "open file system %s", what->type);
	if (configure(context_fd, what->options, e) < 0)
		return FAIL_IN(e, "%s", what->type);
	if (fsconfig(context_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return FAIL_SYS(e, "create file system %s", what->type);
	fd = fsmount(context_fd, FSMOUNT_CLOEXEC, what->attributes);
	if (fd < 0)
		return FAIL_SYS(e, "mount file system %s", what->type);
	*ret_fd = fd;
	return 0;
}

int mounts_clone(int dir_fd, const char *path, enum mounts_depth depth,
    int *ret_fd, struct error *e)
{
	unsigned int flags =
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
	    AT_SYMLINK_NOFOLLOW |
	    (depth == MOUNTS_ALL_BELOW ? (unsigned int)AT_RECURSIVE : 0u);
	int fd = open_tree(dir_fd, path, flags);

	if (fd < 0)
		return FAIL_SYS(e, "clone mount '%s'", path);
	*ret_fd = fd;
	return 0;
}

int mounts_set(int fd, unsigned int attributes, struct error *e)
{
	struct mount_attr attr = { .attr_set = attributes,
		.propagation = MS_PRIVATE };

	if (mount_setattr(
	        fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return FAIL_SYS(e, "set mount attributes 0x%x", attributes);
	return 0;
}

int mounts_attach(int fd, int dir_fd, const char *path, struct error *e)
{
	unsigned int flags =
	    MOVE_MOUNT_F_EMPTY_PATH |
	    (path[0] == '\0' ? (unsigned int)MOVE_MOUNT_T_EMPTY_PATH : 0u);

	if (move_mount(fd, "", dir_fd, path, flags) < 0)
		return FAIL_SYS(e, "attach a mount at '%s'", path);
	return 0;
}

int mounts_change(int fd,
    const struct mounts_option options[MOUNTS_OPTIONS_MAX], struct error *e)
{
	AUTO_FD context_fd = fspick(fd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);

	if (context_fd < 0)
		return FAIL_SYS(e, "pick a superblock");
	if (configure(context_fd, options, e) < 0)
		return -1;
	if (fsconfig(context_fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return FAIL_SYS(e, "change a superblock");
	return 0;
}

int mounts_freeze(int fd, struct error *e)
{
	static const struct mounts_option read_only[MOUNTS_OPTIONS_MAX] = {
		{ "ro", NULL }
	};

	if (mounts_change(fd, read_only, e) < 0)
		return FAIL_IN(e, "make it read-only");
	return 0;
}
