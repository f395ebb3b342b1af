/*
 * executor/cgroup.c - the tree above the leaves: found, opened, delegated,
 * swept.  Linked by bailiff-launch.  Groups are reached by descriptor
 * only, since the launcher later has no path to them.
 */
#include "executor/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/cgroup_own.h"
#include "executor/knob.h"
#include "executor/mounts.h"

/* A host with thousands of mounts still fits. */
#define MOUNTINFO_MAX (4u << 20)

static int open_group(
    int dir_fd, const char *name, int *ret_fd, struct error *e)
{
	int fd =
	    openat(dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return FAIL_SYS(e, "open control group %s", name);
	*ret_fd = fd;
	return 0;
}

static int make_group(
    int dir_fd, const char *name, int *ret_fd, struct error *e)
{
	if (mkdirat(dir_fd, name, 0755) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make control group %s", name);
	return open_group(dir_fd, name, ret_fd, e);
}

int cgroup_hand_down(const struct cgroups *g, int fd, struct error *e)
{
	if (g->mode != CGROUP_V2)
		return 0;
	if (knob_write(fd, "cgroup.subtree_control", "+memory +pids", e) < 0)
		return FAIL_IN(e, "hand memory and pids down");
	return 0;
}

static int read_controllers(struct cgroup_roots *ret, struct error *e)
{
	const char *path = ret->places.path[CGROUP_UNIFIED];
	AUTO_FD fd = -1;

	if (open_group(AT_FDCWD, path, &fd, e) < 0)
		return -1;
	return knob_read(fd, "cgroup.controllers", ret->controllers,
	    sizeof(ret->controllers), e);
}

int cgroup_roots_find(struct cgroup_roots *ret, struct error *e)
{
	AUTO_FD fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE uint8_t *text = NULL;
	size_t len;

	if (fd < 0)
		return FAIL_SYS(e, "open /proc/self/mountinfo");
	if (file_read_all(fd, MOUNTINFO_MAX, &text, &len, e) < 0)
		return FAIL_IN(e, "/proc/self/mountinfo");
	memset(ret, 0, sizeof(*ret));
	cgroup_find((const char *)text, &ret->places);
	if (ret->places.path[CGROUP_UNIFIED][0] == '\0')
		return 0;
	return read_controllers(ret, e);
}

/* The tops of the hierarchies, v2 mounted for ourselves if nobody did. */
static int open_roots(struct cgroups *g, int fds[CGROUP_TREES], struct error *e)
{
	static const struct mounts_new v2 = { .type = "cgroup2",
		.attributes =
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	struct cgroup_roots roots;
	const struct cgroup_places *places = &roots.places;

	if (cgroup_roots_find(&roots, e) < 0)
		return -1;
	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (places->path[i][0] != '\0' &&
		    open_group(AT_FDCWD, places->path[i], &fds[i], e) < 0)
			return -1;
	if (cgroup_judge(places, roots.controllers, &g->mode, e) < 0)
		return -1;
	if (fds[CGROUP_UNIFIED] < 0)
		return mounts_make(&v2, &fds[CGROUP_UNIFIED], e);
	return 0;
}

static bool is_used(const struct cgroups *g, size_t tree)
{
	return tree == CGROUP_UNIFIED || g->mode != CGROUP_V2;
}

int cgroup_top_make(
    struct cgroups *g, enum cgroup_tree tree, int fd, struct error *e)
{
	int services_fd;

	if (make_group(fd, "bailiff", &g->top_fd[tree], e) < 0 ||
	    make_group(g->top_fd[tree], "services", &services_fd, e) < 0)
		return -1;
	(void)close(services_fd);
	return 0;
}

static int open_tops(
    struct cgroups *g, const int fds[CGROUP_TREES], struct error *e)
{
	for (enum cgroup_tree i = CGROUP_UNIFIED; i < CGROUP_TREES; i++)
		if (is_used(g, i) &&
		    (cgroup_hand_down(g, fds[i], e) < 0 ||
		        cgroup_top_make(g, i, fds[i], e) < 0 ||
		        cgroup_hand_down(g, g->top_fd[i], e) < 0))
			return -1;
	return 0;
}

int cgroup_open(struct cgroups *g, struct error *e)
{
	int fds[CGROUP_TREES] = { -1, -1, -1 };
	int ret = open_roots(g, fds, e);

	if (ret == 0)
		ret = open_tops(g, fds, e);
	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	return ret;
}

int cgroup_serve(const struct cgroups *g, pid_t pid, struct error *e)
{
	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (is_used(g, i) &&
		    knob_write_number(g->top_fd[i], "services/cgroup.procs",
		        (uint64_t)pid, e) < 0)
			return FAIL_IN(
			    e, "move process %d to bailiff/services", (int)pid);
	return 0;
}

int cgroup_instance(struct cgroups *g, struct error *e)
{
	for (size_t i = 0; i < CGROUP_TREES; i++)
		if (is_used(g, i) &&
		    (make_group(g->top_fd[i], g->instance, &g->instance_fd[i],
		         e) < 0 ||
		        cgroup_hand_down(g, g->instance_fd[i], e) < 0))
			return -1;
	return 0;
}

static int is_populated(int group_fd, bool *ret, struct error *e)
{
	char text[KNOB_TEXT_MAX];

	if (knob_read(group_fd, "cgroup.events", text, sizeof(text), e) < 0)
		return -1;
	*ret = strstr(text, "populated 0") == NULL;
	return 0;
}

/* The kernel wakes POLLPRI sleepers of cgroup.events; the pause is a net. */
int cgroup_await_empty(int group_fd, int wait_ms, struct error *e)
{
	const struct timespec pause = { 0, 1000000 };
	bool populated = true;

	for (int waited = 0; waited <= wait_ms; waited++) {
		if (is_populated(group_fd, &populated, e) < 0)
			return -1;
		if (!populated)
			return 0;
		(void)nanosleep(&pause, NULL);
	}
	return FAIL(
	    e, ERROR_LIMIT, "processes live %d ms after cgroup.kill", wait_ms);
}

int cgroup_kill(int group_fd, int wait_ms, struct error *e)
{
	bool populated;

	if (is_populated(group_fd, &populated, e) < 0)
		return -1;
	if (!populated)
		return 0;
	if (knob_write(group_fd, "cgroup.kill", "1", e) < 0)
		return -1;
	return cgroup_await_empty(group_fd, wait_ms, e);
}

static int remove_leaves(int group_fd, struct error *e)
{
	AUTO_FD fd = openat(group_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int ret = 0;

	if (dir == NULL)
		return FAIL_SYS(e, "list a control group");
	(void)take_fd(&fd); /* the stream's now */
	/* NOLINTBEGIN(concurrency-mt-unsafe): one thread */
	for (struct dirent *d = readdir(dir); d != NULL && ret == 0;
	     d = readdir(dir))
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			ret = cgroup_rmdir(group_fd, d->d_name, e);
	/* NOLINTEND(concurrency-mt-unsafe) */
	(void)closedir(dir);
	return ret;
}

int cgroup_remove(const struct cgroups *g, const char *name, struct error *e)
{
	for (size_t i = 0; i < CGROUP_TREES; i++) {
		AUTO_FD fd = -1;

		if (!is_used(g, i))
			continue;
		fd = openat(g->top_fd[i], name,
		    O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return FAIL_SYS(e, "open control group %s", name);
		if (remove_leaves(fd, e) < 0 ||
		    cgroup_rmdir(g->top_fd[i], name, e) < 0)
			return -1;
	}
	return 0;
}

int cgroup_instance_end(struct cgroups *g, struct error *e)
{
	/* By its name: a group that was made and could not be opened is left
	 * otherwise.  What did not die keeps its group from being removed. */
	if (g->instance[0] == '\0' || g->top_fd[CGROUP_UNIFIED] < 0)
		return 0;
	if (g->instance_fd[CGROUP_UNIFIED] >= 0)
		(void)!cgroup_kill(g->instance_fd[CGROUP_UNIFIED], 2000, e);
	return cgroup_remove(g, g->instance, e);
}
