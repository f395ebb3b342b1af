/*
 * executor/view_enter.c - makes the view whole and the root of this process.
 * Linked by bailiff-launch, CAP_SYS_ADMIN and CAP_MKNOD.
 *
 * The mounts are attached in a mount namespace of the initial user namespace,
 * so that a run, whose namespace belongs to a lesser user namespace, gets them
 * locked: it can neither remount nor unmount them (mount_namespaces(7)).
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/mounts.h"
#include "executor/omit.h"
#include "executor/view.h"

const struct view_device view_devices[VIEW_DEVICES_N] = {
	{ "null", 3 },
	{ "zero", 5 },
	{ "full", 7 },
	{ "random", 8 },
	{ "urandom", 9 },
};

struct link {
	const char *target, *name;
};

static const struct link links[] = {
	{ "/proc/self/fd", "fd" },
	{ "/proc/self/fd/0", "stdin" },
	{ "/proc/self/fd/1", "stdout" },
	{ "/proc/self/fd/2", "stderr" },
};

static const char *const points[] = { "proc", "sandbox", "tmp", "dev" };

/* The device, or an empty file to bind the host's on. */
static mode_t kind_of_device(const struct view *v)
{
	return v->rootless ? S_IFREG : S_IFCHR;
}

static int furnish_dev(const struct view *v, struct error *e)
{
	for (size_t i = 0; i < VIEW_DEVICES_N; i++) {
		const char *name = view_devices[i].name;

		/* The mode apart, since the umask takes from mknod's. */
		if (mknodat(v->dev_fd, name, kind_of_device(v) | 0600,
		        makedev(1, view_devices[i].minor)) < 0 ||
		    fchmodat(v->dev_fd, name, 0666, 0) < 0)
			return FAIL_SYS(e, "make /dev/%s", name);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlinkat(links[i].target, v->dev_fd, links[i].name) < 0)
			return FAIL_SYS(e, "make /dev/%s", links[i].name);
	if (mkdirat(v->dev_fd, "shm", 0755) < 0)
		return FAIL_SYS(e, "make /dev/shm");
	return 0;
}

static int furnish(const struct view *v, struct error *e)
{
	int fd;

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		if (mkdirat(v->root_fd, points[i], 0755) < 0)
			return FAIL_SYS(e, "make /%s", points[i]);
	fd = openat(v->root_fd, &VIEW_SENTINEL[1],
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0)
		return FAIL_SYS(e, "make %s", VIEW_SENTINEL);
	(void)close(fd);
	return furnish_dev(v, e);
}

static int attach_tree(
    const struct view *v, const struct view_tree *t, struct error *e)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		           RESOLVE_NO_MAGICLINKS };
	AUTO_FD on_fd =
	    (int)syscall(SYS_openat2, v->root_fd, t->path, &how, sizeof(how));
	AUTO_FD now_fd = -1;
	struct stat st;

	if (on_fd < 0)
		return FAIL_SYS(e, "open mount point %s", t->path);
	if (mounts_attach(t->fd, on_fd, "", e) < 0)
		return FAIL_IN(e, "%s", t->path);
	/* What a run will see there must be what the supervisor meant. */
	now_fd =
	    (int)syscall(SYS_openat2, v->root_fd, t->path, &how, sizeof(how));
	if (now_fd < 0 || fstat(now_fd, &st) < 0)
		return FAIL_SYS(e, "look at %s", t->path);
	if (st.st_dev != t->dev || st.st_ino != t->ino)
		return FAIL(e, ERROR_STATE, "%s is another inode once attached",
		    t->path);
	return 0;
}

/*
 * Layers must be attached somewhere: on the anchor, below the view, and gone
 * with the host's root.
 */
static int stage_trees(struct view *v, const char *anchor, struct error *e)
{
	if (mounts_attach(v->layers_fd, AT_FDCWD, anchor, e) < 0)
		return -1;
	for (size_t i = 0; i < v->n_trees; i++) {
		if (v->trees[i].is_file || omit_has("tree-overlay"))
			continue;
		if (mounts_attach(v->trees[i].fd, AT_FDCWD, anchor, e) < 0 ||
		    view_layer_mount(v, i, e) < 0)
			return FAIL_IN(e, "tree %s", v->trees[i].path);
	}
	return mounts_freeze(v->layers_fd, e);
}

static int attach_all(struct view *v, const char *anchor, struct error *e)
{
	if (unshare(CLONE_NEWNS) < 0)
		return FAIL_SYS(e, "leave the host's mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return FAIL_SYS(e, "make mounts private");
	if (stage_trees(v, anchor, e) < 0 ||
	    mounts_attach(v->root_fd, AT_FDCWD, anchor, e) < 0 ||
	    mounts_attach(v->dev_fd, v->root_fd, "dev", e) < 0)
		return -1;
	if (v->rootless && view_user_attach_devices(v, e) < 0)
		return -1;
	for (size_t i = 0; i < v->n_trees; i++)
		if (attach_tree(v, &v->trees[i], e) < 0)
			return -1;
	return 0;
}

/* Absent from where runs will look, not only from a layer. */
static int prove_hidden(const struct view *v, struct error *e)
{
	struct stat st;

	for (size_t i = 0; i < v->n_hidden; i++)
		if (fstatat(v->root_fd, v->hidden[i], &st,
		        AT_SYMLINK_NOFOLLOW) == 0 ||
		    errno != ENOENT)
			return FAIL(
			    e, ERROR_STATE, "%s is still there", v->hidden[i]);
	return 0;
}

static int freeze(const struct view *v, struct error *e)
{
	static const struct mount_attr read_only = { .attr_set =
		                                         MOUNT_ATTR_RDONLY };
	struct mount_attr attr = read_only;

	if (omit_has("view-read-only"))
		return 0;
	if (mount_setattr(v->root_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
	        sizeof(attr)) < 0)
		return FAIL_SYS(e, "make the view read-only");
	if (mounts_freeze(v->root_fd, e) < 0 || mounts_freeze(v->dev_fd, e) < 0)
		return -1;
	if (mkdirat(v->root_fd, ".probe", 0700) == 0 || errno != EROFS)
		return FAIL(e, ERROR_STATE, "the view is not read-only");
	return 0;
}

static int pivot(const struct view *v, struct error *e)
{
	struct stat root;
	struct stat above;

	if (fchdir(v->root_fd) < 0)
		return FAIL_SYS(e, "enter the view");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return FAIL_SYS(e, "make the view the root");
	if (umount2(".", MNT_DETACH) < 0)
		return FAIL_SYS(e, "let go of the host's root");
	if (chdir("/") < 0)
		return FAIL_SYS(e, "enter the root");
	if (stat("/", &root) < 0 || stat("/..", &above) < 0)
		return FAIL_SYS(e, "look at the root");
	if (root.st_dev != above.st_dev || root.st_ino != above.st_ino)
		return FAIL(e, ERROR_STATE, "something lies above the root");
	return 0;
}

static void close_all(struct view *v)
{
	for (size_t i = 0; v->rootless && i < VIEW_DEVICES_N; i++)
		(void)close(v->device_fds[i]);
	if (v->rootless)
		(void)close(v->host_proc_fd);
	for (size_t i = 0; i < v->n_trees; i++)
		(void)close(v->trees[i].fd);
	v->n_trees = 0;
	(void)close(v->layers_fd);
	(void)close(v->dev_fd);
	(void)close(v->root_fd);
	v->layers_fd = -1;
	v->dev_fd = -1;
	v->root_fd = -1;
}

int view_enter(struct view *v, const char *anchor, struct error *e)
{
	if (furnish(v, e) < 0 || attach_all(v, anchor, e) < 0 ||
	    prove_hidden(v, e) < 0 || freeze(v, e) < 0)
		return -1;
	if (v->rootless && view_user_attach_proc(v, e) < 0)
		return -1;
	if (pivot(v, e) < 0)
		return -1;
	close_all(v);
	return 0;
}
