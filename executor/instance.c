/*
 * executor/instance.c - instance locks and the sweep.  Linked by
 * bailiff-launch; runs once at start, before any run.
 */
#include "executor/instance.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define LOCK_TRIES    16
#define SWEEP_WAIT_MS 5000

/*
 * Lock the file and make sure that it is still the one of that name: a sweeper
 * may have removed it between our open and our lock.
 */
static int lock_once(
    int dir_fd, const char *name, bool *ret_mine, int *ret_fd, struct error *e)
{
	AUTO_FD fd = openat(
	    dir_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat ours;
	struct stat named;

	if (fd < 0)
		return FAIL_SYS(e, "open instance file %s", name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return FAIL_SYS(e, "lock instance file %s", name);
	if (fstat(fd, &ours) < 0)
		return FAIL_SYS(e, "stat instance file %s", name);
	*ret_mine = fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	            named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
	if (*ret_mine)
		*ret_fd = take_fd(&fd);
	return 0;
}

int instance_lock(int dir_fd, const char *name, int *ret_fd, struct error *e)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		bool mine = false;

		if (lock_once(dir_fd, name, &mine, ret_fd, e) < 0)
			return -1;
		if (mine)
			return 0;
	}
	return FAIL(e, ERROR_STATE, "instance file %s keeps vanishing", name);
}

static bool is_instance(const char *name)
{
	return strlen(name) == CGROUP_HEX - 1 &&
	       strspn(name, "0123456789abcdef") == CGROUP_HEX - 1;
}

static int kill_all(const struct cgroups *g, const char *name, struct error *e)
{
	AUTO_FD fd = openat(g->top_fd[CGROUP_UNIFIED], name,
	    O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return FAIL_SYS(e, "open control group %s", name);
	return cgroup_kill(fd, SWEEP_WAIT_MS, e);
}

/*
 * One name: its lock decides.  Failing to remove what is dead is no reason to
 * refuse a start: it is retried at the next one.
 */
static void sweep_one(int dir_fd, const struct cgroups *g, const char *name)
{
	AUTO_FD fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct error e;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (kill_all(g, name, &e) < 0 || cgroup_remove(g, name, &e) < 0)
		return;
	(void)unlinkat(dir_fd, name, 0);
}

static int lock_directory(int fd, int how)
{
	int ret;

	do
		ret = flock(fd, how);
	while (ret < 0 && errno == EINTR);
	return ret;
}

static int open_directory(int dir_fd, const char *name)
{
	return openat(
	    dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

int instance_lock_turn(const struct cgroups *g, int *ret_fd, struct error *e)
{
	AUTO_FD fd = open_directory(g->top_fd[CGROUP_UNIFIED], ".");

	/* Its holder is as far as we are: at most a sweep away from done. */
	if (fd < 0 || lock_directory(fd, LOCK_EX) < 0)
		return FAIL_SYS(e, "lock control group bailiff");
	*ret_fd = take_fd(&fd);
	return 0;
}

int instance_lock_group(const struct cgroups *g, int *ret_fd, struct error *e)
{
	AUTO_FD fd = open_directory(g->instance_fd[CGROUP_UNIFIED], ".");

	if (fd < 0 || lock_directory(fd, LOCK_EX | LOCK_NB) < 0)
		return FAIL_SYS(e, "lock control group %s", g->instance);
	*ret_fd = take_fd(&fd);
	return 0;
}

/* What has no group in the v2 tree any more is dead as well. */
static void sweep_group(const struct cgroups *g, const char *name)
{
	AUTO_FD fd = open_directory(g->top_fd[CGROUP_UNIFIED], name);
	struct error e;

	if (fd < 0 && errno != ENOENT)
		return;
	if (fd >= 0 && lock_directory(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (kill_all(g, name, &e) == 0)
		(void)!cgroup_remove(g, name, &e);
}

static void sweep_any(int dir_fd, const struct cgroups *g, const char *name)
{
	if (dir_fd >= 0)
		sweep_one(dir_fd, g, name);
	else
		sweep_group(g, name);
}

/* Each instance but ours that 'list_fd' names; its lock, in 'dir_fd' or (-1) on
 * its group, decides. */
static int sweep_tree(
    int dir_fd, const struct cgroups *g, int list_fd, struct error *e)
{
	AUTO_FD fd = openat(list_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir == NULL)
		return FAIL_SYS(e, "list instances");
	(void)take_fd(&fd); /* the stream's now */
	/* NOLINTBEGIN(concurrency-mt-unsafe): one thread */
	for (struct dirent *d = readdir(dir); d != NULL; d = readdir(dir))
		if (is_instance(d->d_name) &&
		    strcmp(d->d_name, g->instance) != 0)
			sweep_any(dir_fd, g, d->d_name);
	/* NOLINTEND(concurrency-mt-unsafe) */
	(void)closedir(dir);
	return 0;
}

int instance_sweep_groups(const struct cgroups *g, struct error *e)
{
	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (g->top_fd[i] >= 0 && sweep_tree(-1, g, g->top_fd[i], e) < 0)
			return -1;
	return 0;
}

/* Lock files without groups are found by the last turn. */
int instance_sweep(int dir_fd, const struct cgroups *g, struct error *e)
{
	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (g->top_fd[i] >= 0 &&
		    sweep_tree(dir_fd, g, g->top_fd[i], e) < 0)
			return -1;
	return sweep_tree(dir_fd, g, dir_fd, e);
}
