/*
 * executor/view_layer.c - overlays over the host's trees.  Linked by
 * bailiff-launch, CAP_SYS_ADMIN.
 *
 * A tree enters as the lower layer of an overlay without an upper one, so its
 * superblock has no way to be written, sockets and FIFOs of the host in it are
 * other inodes than those their servers bound, and a whiteout in the layer
 * above takes a name out of lookups and listings alike: an empty directory in
 * its place would still import, as a namespace package of Python.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/mounts.h"
#include "executor/omit.h"
#include "executor/view.h"

int view_layer_open(struct view *v, struct error *e)
{
	static const struct mounts_new layers = { .type = "tmpfs",
		.attributes =
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		.options = { { "size", "1m" }, { "nr_inodes", "4096" },
		    { "mode", "0755" } } };

	return mounts_make(&layers, &v->layers_fd, e);
}

/* Programs see the attributes of the uppermost directory; its owner is root
 * here as it is to them, who map no id of the host. */
static int make_directory(
    int dir_fd, const char *name, mode_t mode, struct error *e)
{
	if (mkdirat(dir_fd, name, 0700) < 0) {
		if (errno == EEXIST)
			return 0;
		return FAIL_SYS(e, "make layer %s", name);
	}
	if (fchmodat(dir_fd, name, mode & 0777, 0) < 0)
		return FAIL_SYS(e, "set the mode of layer %s", name);
	return 0;
}

static void layer_name(size_t tree, char ret[16])
{
	(void)snprintf(ret, 16, "%u", (unsigned int)tree);
}

int view_layer_add(
    const struct view *v, size_t tree, mode_t mode, struct error *e)
{
	char name[16];

	layer_name(tree, name);
	return make_directory(v->layers_fd, name, mode, e);
}

static int open_below(int *fd, const char *name, struct error *e)
{
	int below =
	    openat(*fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (below < 0)
		return FAIL_SYS(e, "open %s", name);
	(void)close(*fd);
	*fd = below;
	return 0;
}

/* The innermost tree that 'path' lies in, or the number of trees. */
static size_t find_tree(const struct view *v, const char *path)
{
	size_t found = v->n_trees;
	size_t longest = 0;

	for (size_t i = 0; i < v->n_trees; i++) {
		size_t n = strlen(v->trees[i].path);

		if (!v->trees[i].is_file && n > longest &&
		    strncmp(path, v->trees[i].path, n) == 0 && path[n] == '/') {
			found = i;
			longest = n;
		}
	}
	return found;
}

/* The same directory in the tree and in its layer; both owned. */
struct pair {
	int tree_fd, layer_fd;
};

static int open_pair(
    const struct view *v, size_t tree, struct pair *ret, struct error *e)
{
	char name[16];

	layer_name(tree, name);
	ret->tree_fd =
	    openat(v->trees[tree].fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ret->layer_fd =
	    openat(v->layers_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->tree_fd < 0 || ret->layer_fd < 0)
		return FAIL_SYS(e, "open a tree and its layer");
	return 0;
}

/* Down to where the last name of 'path' lies. */
static int descend(struct pair *p, const char *path,
    char ret_name[LAUNCH_PATH_MAX], struct error *e)
{
	struct stat st;

	for (;;) {
		size_t n = strcspn(path, "/");

		memcpy(ret_name, path, n);
		ret_name[n] = '\0';
		if (fstatat(p->tree_fd, ret_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return FAIL_SYS(e, "look at %s", ret_name);
		if (path[n] == '\0')
			return 0;
		if (!S_ISDIR(st.st_mode))
			return FAIL(
			    e, ERROR_MALFORMED, "%s is no directory", ret_name);
		if (make_directory(p->layer_fd, ret_name, st.st_mode, e) < 0 ||
		    open_below(&p->tree_fd, ret_name, e) < 0 ||
		    open_below(&p->layer_fd, ret_name, e) < 0)
			return -1;
		path += n + 1;
	}
}

static int hide(struct pair *p, const char *path, struct error *e)
{
	char name[LAUNCH_PATH_MAX];

	if (descend(p, path, name, e) < 0)
		return -1;
	if (mknodat(p->layer_fd, name, S_IFCHR, makedev(0, 0)) < 0)
		return FAIL_SYS(e, "make a whiteout");
	return 0;
}

int view_layer_hide(
    struct view *v, const struct launch_entry *entry, struct error *e)
{
	size_t tree = find_tree(v, entry->path);
	struct pair pair = { -1, -1 };
	int ret;

	if (tree == v->n_trees)
		return FAIL(e, ERROR_MALFORMED, "whiteout '%s' lies in no tree",
		    entry->path);
	if (v->n_hidden == VIEW_HIDDEN_MAX)
		return FAIL(
		    e, ERROR_LIMIT, "more than %d whiteouts", VIEW_HIDDEN_MAX);
	if (omit_has("tree-whiteout"))
		return 0;
	ret = open_pair(v, tree, &pair, e);
	if (ret == 0)
		ret = hide(
		    &pair, entry->path + strlen(v->trees[tree].path) + 1, e);
	own_close(&pair.tree_fd);
	own_close(&pair.layer_fd);
	if (ret < 0)
		return FAIL_IN(e, "whiteout '%s'", entry->path);
	(void)snprintf(
	    v->hidden[v->n_hidden++], LAUNCH_PATH_MAX, "%s", entry->path);
	return 0;
}

static int make_overlay(const struct pair *layers, int *ret_fd, struct error *e)
{
	char lower[64];
	/* Numbers, so that no path of the host stands in a run's mountinfo; and
	 * no attribute of a file of the host says where another one lies. */
	const struct mounts_new overlay = { .type = "overlay",
		.options = { { "lowerdir", lower },
		    { "redirect_dir", "nofollow" }, { "metacopy", "off" } } };

	(void)snprintf(lower, sizeof(lower),
	    "/proc/self/fd/%d:/proc/self/fd/%d", layers->layer_fd,
	    layers->tree_fd);
	return mounts_make(&overlay, ret_fd, e);
}

/* Before the mount itself is read-only, so that this is the superblock. */
static int prove_read_only(int fd, struct error *e)
{
	if (mkdirat(fd, ".probe", 0700) == 0 || errno != EROFS)
		return FAIL(e, ERROR_STATE, "the overlay is not read-only");
	return 0;
}

int view_layer_mount(struct view *v, size_t tree, struct error *e)
{
	struct view_tree *t = &v->trees[tree];
	struct pair layers;
	AUTO_FD fd = -1;
	struct stat st;
	int ret = open_pair(v, tree, &layers, e);

	if (ret == 0)
		ret = make_overlay(&layers, &fd, e);
	own_close(&layers.tree_fd);
	own_close(&layers.layer_fd);
	if (ret < 0 || prove_read_only(fd, e) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat the overlay");
	t->dev = st.st_dev;
	t->ino = st.st_ino;
	(void)close(t->fd);
	t->fd = take_fd(&fd);
	return view_protect(t->fd, e);
}
