/*
 * executor/view.c - entries of the view: directories, links, files and trees
 * in a tmpfs that nobody else sees yet.  Linked by bailiff-launch.  Paths come
 * from the supervisor and are judged here all the same.
 */
#include "executor/view.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/mounts.h"
#include "executor/omit.h"

#define FILE_MAX (16u << 20)

static const char *const reserved[] = { "proc", "sandbox", "tmp", "dev",
	&VIEW_SENTINEL[1] };

int view_open(struct view *v, struct error *e)
{
	/* The size bounds what a supervisor can make us hold. */
	static const struct mounts_new root = { .type = "tmpfs",
		.attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		.options = { { "size", "64m" }, { "nr_inodes", "8192" },
		    { "mode", "0755" } } };
	const struct mounts_new dev = { .type = "tmpfs",
		.attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC |
		              (v->rootless ? MOUNT_ATTR_NODEV : 0),
		.options = { { "size", "64k" }, { "nr_inodes", "32" },
		    { "mode", "0755" } } };

	v->n_trees = 0;
	v->n_hidden = 0;
	v->n_tops = 0;
	if (mounts_make(&root, &v->root_fd, e) < 0 ||
	    mounts_make(&dev, &v->dev_fd, e) < 0 || view_layer_open(v, e) < 0)
		return FAIL_IN(e, "file view");
	if (v->rootless && view_user_open(v, e) < 0)
		return FAIL_IN(e, "file view");
	return 0;
}

static size_t component(const char *path)
{
	return strcspn(path, "/");
}

/* Clean: no empty, "." or ".." component; the first is not one of ours. */
static int judge_path(const char *path, struct error *e)
{
	size_t first = component(path);

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strlen(reserved[i]) == first &&
		    memcmp(reserved[i], path, first) == 0)
			return FAIL(e, ERROR_MALFORMED,
			    "view entry '%s' lies in a place of ours", path);
	for (const char *p = path;; p++) {
		size_t n = component(p);
		bool dots =
		    n > 0 && n <= 2 && p[0] == '.' && (n == 1 || p[1] == '.');

		if (n == 0 || n > NAME_MAX || dots)
			return FAIL(e, ERROR_MALFORMED,
			    "view entry '%s' is no clean relative path", path);
		p += n;
		if (*p == '\0')
			return 0;
	}
}

/* Where an entry goes: its parent, made if missing, and its last name. */
struct spot {
	int dir_fd; /* owned */
	char name[LAUNCH_PATH_MAX];
};

static int step_into(struct spot *s, struct error *e)
{
	int fd;

	if (mkdirat(s->dir_fd, s->name, 0755) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make directory %s", s->name);
	fd = openat(
	    s->dir_fd, s->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return FAIL_SYS(e, "open directory %s", s->name);
	(void)close(s->dir_fd);
	s->dir_fd = fd;
	return 0;
}

static int find_spot(
    int root_fd, const char *path, struct spot *ret, struct error *e)
{
	size_t n;

	ret->dir_fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir_fd < 0)
		return FAIL_SYS(e, "open the view");
	for (;;) {
		n = component(path);
		memcpy(ret->name, path, n);
		ret->name[n] = '\0';
		if (path[n] == '\0')
			return 0;
		if (step_into(ret, e) < 0) {
			(void)close(ret->dir_fd);
			return -1;
		}
		path += n + 1;
	}
}

static int add_directory(
    const struct spot *s, const struct launch_entry *entry, struct error *e)
{
	if (mkdirat(s->dir_fd, s->name, entry->mode & 0755) < 0 &&
	    errno != EEXIST)
		return FAIL_SYS(e, "make directory");
	return 0;
}

static int copy_bytes(int from, int to, struct error *e)
{
	char block[4096];
	off_t at = 0;

	for (;;) {
		ssize_t got = pread(from, block, sizeof(block), at);

		if (got < 0)
			return FAIL_SYS(e, "read");
		if (got == 0)
			return 0;
		if (write(to, block, (size_t)got) != got)
			return FAIL_SYS(e, "write");
		at += got;
		if (at > (off_t)FILE_MAX)
			return FAIL(
			    e, ERROR_LIMIT, "more than %u bytes", FILE_MAX);
	}
}

static int add_file(const struct spot *s, const struct launch_entry *entry,
    int from_fd, struct error *e)
{
	AUTO_FD fd = openat(s->dir_fd, s->name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return FAIL_SYS(e, "make file");
	if (copy_bytes(from_fd, fd, e) < 0)
		return -1;
	if (fchmod(fd, entry->mode & 0555) < 0)
		return FAIL_SYS(e, "set mode");
	return 0;
}

/* A mount point of the tree's kind. */
static int make_point(const struct spot *s, mode_t mode, struct error *e)
{
	int fd;

	if (S_ISDIR(mode)) {
		if (mkdirat(s->dir_fd, s->name, 0755) < 0 && errno != EEXIST)
			return FAIL_SYS(e, "make mount point");
		return 0;
	}
	if (!S_ISREG(mode))
		return FAIL(e, ERROR_MALFORMED,
		    "is neither a directory nor a regular file");
	fd = openat(s->dir_fd, s->name,
	    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
	if (fd < 0)
		return FAIL_SYS(e, "make mount point");
	(void)close(fd);
	return 0;
}

int view_protect(int fd, struct error *e)
{
	return mounts_set(fd,
	    (unsigned int)omit_from("tree-flags",
	        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV),
	    e);
}

static int add_tree(struct view *v, const struct spot *s,
    const struct launch_entry *entry, int from_fd, struct error *e)
{
	struct view_tree *t = &v->trees[v->n_trees];
	struct stat of_source;
	struct stat of_clone;

	if (v->n_trees == VIEW_TREES_MAX)
		return FAIL(
		    e, ERROR_LIMIT, "more than %d trees", VIEW_TREES_MAX);
	if (fstat(from_fd, &of_source) < 0)
		return FAIL_SYS(e, "stat the tree");
	if (make_point(s, of_source.st_mode, e) < 0)
		return -1;
	/* The descriptor is of the host's mount namespace, which root's launcher
	 * is still in; another one must find the tree in its own. */
	if (v->rootless ? view_user_tree(entry->path, &of_source, &t->fd, e) < 0
	                : mounts_clone(from_fd, "", MOUNTS_ONE, &t->fd, e) < 0)
		return -1;
	v->n_trees++;
	t->is_file = !S_ISDIR(of_source.st_mode);
	if (fstat(t->fd, &of_clone) < 0)
		return FAIL_SYS(e, "stat the clone");
	if (of_source.st_dev != of_clone.st_dev ||
	    of_source.st_ino != of_clone.st_ino)
		return FAIL(e, ERROR_STATE, "the clone is another inode");
	t->dev = of_clone.st_dev;
	t->ino = of_clone.st_ino;
	(void)snprintf(t->path, sizeof(t->path), "%s", entry->path);
	if (!t->is_file &&
	    view_layer_add(v, v->n_trees - 1, of_source.st_mode, e) < 0)
		return -1;
	return view_protect(t->fd, e);
}

/* Remember the first component; a symbolic link leads to another top. */
static int add_top(
    struct view *v, const struct launch_entry *entry, struct error *e)
{
	size_t n = component(entry->path);

	if (entry->kind == ENTRY_SYMLINK && entry->path[n] == '\0')
		return 0;
	for (size_t i = 0; i < v->n_tops; i++)
		if (strlen(v->tops[i]) == n &&
		    memcmp(v->tops[i], entry->path, n) == 0)
			return 0;
	if (v->n_tops == VIEW_TOPS_MAX || n >= VIEW_NAME_MAX)
		return FAIL(e, ERROR_LIMIT,
		    "more than %d names at the top, or one of %d bytes",
		    VIEW_TOPS_MAX, VIEW_NAME_MAX);
	memcpy(v->tops[v->n_tops], entry->path, n);
	v->tops[v->n_tops++][n] = '\0';
	return 0;
}

static int add(struct view *v, const struct spot *s,
    const struct launch_entry *entry, int fd, struct error *e)
{
	bool takes_fd = entry->kind == ENTRY_FILE || entry->kind == ENTRY_TREE;

	if (takes_fd != (fd >= 0))
		return FAIL(e, ERROR_MALFORMED, "wrong count of descriptors");
	switch (entry->kind) {
	case ENTRY_DIRECTORY:
		return add_directory(s, entry, e);
	case ENTRY_SYMLINK:
		if (symlinkat(entry->target, s->dir_fd, s->name) < 0)
			return FAIL_SYS(e, "make link");
		return 0;
	case ENTRY_FILE:
		return add_file(s, entry, fd, e);
	case ENTRY_TREE:
		return add_tree(v, s, entry, fd, e);
	default:
		return FAIL(e, ERROR_MALFORMED, "unknown kind %u", entry->kind);
	}
}

int view_entry(
    struct view *v, const struct launch_entry *entry, int fd, struct error *e)
{
	struct spot spot;
	int ret;

	if (judge_path(entry->path, e) < 0)
		return -1;
	if (entry->kind == ENTRY_WHITEOUT) {
		if (fd >= 0)
			return FAIL(
			    e, ERROR_MALFORMED, "wrong count of descriptors");
		return view_layer_hide(v, entry, e);
	}
	if (add_top(v, entry, e) < 0)
		return -1;
	if (find_spot(v->root_fd, entry->path, &spot, e) < 0)
		return FAIL_IN(e, "view entry '%s'", entry->path);
	ret = add(v, &spot, entry, fd, e);
	(void)close(spot.dir_fd);
	if (ret < 0)
		return FAIL_IN(e, "view entry '%s'", entry->path);
	return 0;
}
