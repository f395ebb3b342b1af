/*
 * executor/view.h - the file view that runs see, built once, read-only, and
 * made the launcher's own root.
 *
 * A tmpfs with the supervisor's entries, the host's trees by descriptor, each
 * beneath a layer of ours in a read-only overlay, and what every view has: /proc, /sandbox and /tmp as mount
 * points, /dev with five devices and shm, and a sentinel file that no Landlock
 * rule covers.  Every run's CLONE_NEWNS starts with a copy of it.
 */
#ifndef EXECUTOR_VIEW_H
#define EXECUTOR_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "executor/launch.h"

#define VIEW_TREES_MAX  64
#define VIEW_TOPS_MAX   64
#define VIEW_NAME_MAX   64
#define VIEW_HIDDEN_MAX 1024
#define VIEW_SENTINEL   "/.sentinel"

/* A host tree, cloned when its entry came, attached when the view is built. */
struct view_tree {
	int fd;       /* owned, detached */
	bool is_file; /* bound as it is: a file holds no socket */
	dev_t dev;
	ino_t ino;
	char path[LAUNCH_PATH_MAX];
};

/* Character devices of major 1 (Documentation/admin-guide/devices.txt). */
struct view_device {
	const char *name;
	unsigned int minor;
};

#define VIEW_DEVICES_N 5
extern const struct view_device view_devices[VIEW_DEVICES_N];

struct view {
	/* Set before view_open: in a user namespace of our own, where devices
	 * are bound instead of made. */
	bool rootless;
	int device_fds[VIEW_DEVICES_N]; /* rootless: owned, until built */
	int host_proc_fd;               /* rootless: owned, until built */
	int root_fd;   /* owned, detached until built; -1 before view_open */
	int dev_fd;    /* owned, the file system of /dev, until built */
	int layers_fd; /* owned, a directory of whiteouts for each tree */
	size_t n_trees, n_tops;
	struct view_tree trees[VIEW_TREES_MAX];
	/* What whiteouts name; looked for once the view is whole. */
	size_t n_hidden;
	char hidden[VIEW_HIDDEN_MAX][LAUNCH_PATH_MAX];
	/* First components of entries: what a program may read and execute. */
	char tops[VIEW_TOPS_MAX][VIEW_NAME_MAX];
};

int view_open(struct view *v, struct error *e) MUST_CHECK;

/*
 * One entry.  'fd' is -1 where the kind takes none; it stays the caller's.
 * Missing parents are made with mode 0755.  A path that is not clean and
 * relative, or that lies in what every view has, is ERROR_MALFORMED.
 */
int view_entry(struct view *v, const struct launch_entry *entry, int fd,
    struct error *e) MUST_CHECK;

/*
 * view_layer.c: what of a tree is absent.  Each tree has a directory in a file
 * system of whiteouts (character device 0:0, overlayfs.rst "whiteouts and
 * opaque directories"), empty unless a WHITEOUT names something in the tree.
 */
int view_layer_open(struct view *v, struct error *e) MUST_CHECK;
int view_layer_add(
    const struct view *v, size_t tree, mode_t mode, struct error *e) MUST_CHECK;
int view_layer_hide(struct view *v, const struct launch_entry *entry,
    struct error *e) MUST_CHECK;

/*
 * Put an overlay in the place of a tree's clone.  Layers and clone must be
 * attached in this mount namespace: Linux 6.1 takes nothing else as a layer.
 */
int view_layer_mount(struct view *v, size_t tree, struct error *e) MUST_CHECK;

/* view.c: the flags of a tree's mount. */
int view_protect(int fd, struct error *e) MUST_CHECK;

/*
 * Leave the host's mount namespace, attach everything, make it read-only and
 * the root of this process.  'anchor' is a directory of the host to build on.
 */
int view_enter(struct view *v, const char *anchor, struct error *e) MUST_CHECK;

/* view_user.c, for view.c and view_enter.c: clone devices and proc. */
int view_user_open(struct view *v, struct error *e) MUST_CHECK;
/* Clone the host's /'path', which must be the inode that 'meant' tells of. */
int view_user_tree(const char *path, const struct stat *meant, int *ret_fd,
    struct error *e) MUST_CHECK;
int view_user_attach_devices(const struct view *v, struct error *e) MUST_CHECK;
int view_user_attach_proc(const struct view *v, struct error *e) MUST_CHECK;

#endif
