/*
 * executor/directories.c - host directories that a run may read.  Linked by
 * bailiff-launch; runs in the clone, before its user namespace is made.
 *
 * Each is an overlay of an empty top layer and one layer of the host: a socket
 * or FIFO in it is another inode than the host's, so nobody answers behind it;
 * and nothing can be written.  A directory with mounts beneath is refused.
 *
 * An overlay asks twice: may the caller, and might he who mounted it.  Here the
 * first is the program, a stranger to every file, and the second has the
 * principal's file-system identity.  So the program reads what everybody may
 * read and the principal can, and no owner or group gives it more.  Without
 * root the three are one account, and the program reads what the account can.
 *
 * An overlay takes its layers from the mount namespace that it is made in, and
 * the directory came from the host's: a child of ours goes there and back comes
 * only the mount.  It shares our descriptors and puts the mount in the place of
 * the directory, so its exit status, an errno, says all.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/directories.h"
#include "executor/mountinfo.h"
#include "executor/mounts.h"
#include "executor/sandbox.h"

#define READ_ONLY                                                   \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | \
	    MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW)

/* No capability over files is left, root's neither; mounting needs one. */
static int take_capability(struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	const uint32_t mount = 1u << CAP_SYS_ADMIN;
	struct __user_cap_data_struct sets[2] = { { mount, mount, 0 },
		{ 0, 0, 0 } };

	if (syscall(SYS_capset, &header, sets) < 0)
		return FAIL_SYS(e, "drop capabilities");
	return 0;
}

static int take_identity(const struct sandbox *s, struct error *e)
{
	const struct launch_run *ask = s->ask;
	gid_t groups[LAUNCH_GROUPS_MAX];
	size_t n = (size_t)ask->groups.n;

	/* It is ours already, or it is not to be had. */
	if (s->rootless && ask->uid == geteuid() && ask->gid == getegid())
		return take_capability(e);
	for (size_t i = 0; i < n; i++)
		groups[i] = ask->groups.items[i].gid;
	if (setgroups(n, groups) < 0)
		return FAIL_SYS(e, "take groups");
	/* No error is reported; ask again instead. */
	(void)setfsgid(ask->gid);
	(void)setfsuid(ask->uid);
	if ((gid_t)setfsgid((gid_t)-1) != ask->gid ||
	    (uid_t)setfsuid((uid_t)-1) != ask->uid) {
		errno = EPERM;
		return FAIL_SYS(e, "take an identity");
	}
	return take_capability(e);
}

static int refuse_mounts(const struct sandbox *s, int fd, struct error *e)
{
	struct channel *scrap = &s->memory->channel;
	const struct mountinfo_block block = { (char *)scrap->buffer,
		sizeof(scrap->buffer) };
	bool found = false;

	if (mountinfo_below(fd, block, &found, e) < 0)
		return -1;
	if (found) {
		errno = EXDEV;
		return FAIL_SYS(e, "something is mounted beneath it");
	}
	return 0;
}

/* In the host's mount namespace, or in our copy of it without root; the layer
 * as it can be mounted there. */
static int open_layer(
    const struct sandbox *s, int fd, int *ret_fd, struct error *e)
{
	if (s->rootless)
		return directories_own_open(fd, ret_fd, e);
	*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*ret_fd < 0)
		return FAIL_SYS(e, "hold it");
	return 0;
}

static int open_empty(const struct sandbox *s, int *ret_fd, struct error *e)
{
	if (s->rootless)
		return directories_own_empty(ret_fd, e);
	*ret_fd =
	    open(SANDBOX_EMPTY, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd < 0)
		return FAIL_SYS(e, "open %s", SANDBOX_EMPTY);
	return 0;
}

/* In the child: 'fd' becomes the mount. */
static int make(
    const struct sandbox *s, int fd, unsigned int attributes, struct error *e)
{
	char layers[64];
	/* What a layer says of itself in xattrs leads nowhere. */
	const struct mounts_new what = { .type = "overlay",
		.attributes = attributes,
		.options = { { "lowerdir", layers },
		    { "redirect_dir", "nofollow" }, { "metacopy", "off" } } };
	AUTO_FD layer_fd = -1;
	AUTO_FD empty_fd = -1;
	AUTO_FD mount_fd = -1;

	if (setns(s->host_ns_fd, CLONE_NEWNS) < 0)
		return FAIL_SYS(e, "enter the host's mount namespace");
	if (open_layer(s, fd, &layer_fd, e) < 0 ||
	    refuse_mounts(s, layer_fd, e) < 0 ||
	    open_empty(s, &empty_fd, e) < 0)
		return -1;
	(void)snprintf(layers, sizeof(layers),
	    "/proc/self/fd/%d:/proc/self/fd/%d", empty_fd, layer_fd);
	if (take_identity(s, e) < 0 || mounts_make(&what, &mount_fd, e) < 0)
		return -1;
	if (dup3(mount_fd, fd, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "put the mount in its place");
	return 0;
}

static int make_in_child(
    const struct sandbox *s, int fd, unsigned int attributes, struct error *e)
{
	static const struct sandbox_clone sharing = { .flags = CLONE_FILES,
		.cgroup_fd = -1 };
	int pid_fd = -1;
	int status = 0;
	pid_t pid = sandbox_fork(&sharing, &pid_fd, e);

	if (pid < 0)
		return -1;
	if (pid == 0) {
		struct error why = { 0 };

		if (make(s, fd, attributes, &why) == 0)
			_exit(0);
		_exit(why.saved_errno > 0 && why.saved_errno < 255
		          ? why.saved_errno
		          : EIO);
	}
	(void)close(pid_fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return FAIL_SYS(e, "wait for the mount");
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
	if (errno == EXDEV)
		return FAIL_SYS(e, "something is mounted beneath it");
	if (errno == ESTALE)
		return FAIL_SYS(e, "the host has another at its path by now");
	if (errno != 0)
		return FAIL_SYS(e, "make its overlay");
	return 0;
}

/* Layers of ours hold libraries that are to be loaded; their mount points
 * stand in the view. */
static int add_layer(
    const struct sandbox *s, const char *name, int fd, struct error *e)
{
	char path[LAUNCH_NAME_MAX + 16];

	if (strchr(name, '/') != NULL || name[0] == '.')
		return FAIL(e, ERROR_MALFORMED, "is no name of ours");
	if (make_in_child(
	        s, fd, READ_ONLY & ~(unsigned int)MOUNT_ATTR_NOEXEC, e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/opt/%s", name);
	return mounts_attach(fd, AT_FDCWD, path, e);
}

static int add(struct sandbox *s, const struct launch_input *input, int fd,
    struct error *e)
{
	char path[LAUNCH_NAME_MAX + 16];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at it");
	if (!S_ISDIR(st.st_mode))
		return FAIL(e, ERROR_MALFORMED, "is no directory");
	if (input->is_directory == LAUNCH_PLACE_OPT)
		return add_layer(s, input->name, fd, e);
	if (scratch_point(s, input->name, e) < 0 ||
	    make_in_child(s, fd, READ_ONLY, e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/sandbox/%s", input->name);
	return mounts_attach(fd, AT_FDCWD, path, e);
}

int sandbox_directories(struct sandbox *s, struct error *e)
{
	const struct launch_run *ask = s->ask;

	for (size_t i = 0; s->has_directories && i < ask->inputs.n; i++) {
		const struct launch_input *input = &ask->inputs.items[i];

		if (input->is_directory != LAUNCH_PLACE_FILE &&
		    add(s, input, s->given->fd[LAUNCH_FD_INPUTS + i], e) < 0)
			return FAIL_IN(e, "directory '%s'", input->name);
	}
	(void)close(s->host_ns_fd);
	s->host_ns_fd = -1;
	return 0;
}
