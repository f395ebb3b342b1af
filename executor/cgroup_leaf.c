/*
 * executor/cgroup_leaf.c - the groups of one run: limits written, read back,
 * watched, removed.  Linked by bailiff-launch; allocates nothing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "executor/cgroup_leaf.h"
#include "executor/knob.h"
#include "executor/omit.h"

#define RMDIR_TRIES 200

/* Where a value comes from. */
enum source {
	MEMORY,
	SOCKETS,
	PIDS,
	ZERO,
	ONE
};

enum presence {
	ALWAYS,
	IF_THERE /* the kernel was built or booted without it */
};

/* One name per source, for builds that leave it out. */
static const char *const layers[] = { "memory-limit", "socket-limit",
	"pids-limit", "swap-limit", "group-oom" };

struct limit_row {
	enum cgroup_tree tree;
	const char *file;
	enum source source;
	enum presence presence;
};

/* In this order: v1 refuses a memsw limit below the memory limit. */
static const struct limit_row limits_v1[] = {
	{ CGROUP_MEMORY, "memory.limit_in_bytes", MEMORY, ALWAYS },
	{ CGROUP_MEMORY, "memory.memsw.limit_in_bytes", MEMORY, IF_THERE },
	{ CGROUP_MEMORY, "memory.swappiness", ZERO, IF_THERE },
	/* Until it is set, v1 does not count socket buffers at all; then it
	 * does so beside 'memory' and not in it. */
	{ CGROUP_MEMORY, "memory.kmem.tcp.limit_in_bytes", SOCKETS, IF_THERE },
	{ CGROUP_PIDS, "pids.max", PIDS, ALWAYS },
};

static const struct limit_row limits_v2[] = {
	{ CGROUP_UNIFIED, "memory.max", MEMORY, ALWAYS },
	{ CGROUP_UNIFIED, "memory.swap.max", ZERO, IF_THERE },
	{ CGROUP_UNIFIED, "memory.oom.group", ONE, ALWAYS },
	{ CGROUP_UNIFIED, "pids.max", PIDS, ALWAYS },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t value_of(enum source source, const struct cgroup_limits *limits)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	switch (source) {
	case MEMORY:
		return limits->memory / page * page; /* the kernel's unit */
	case SOCKETS:
		return limits->memory / 4 / page * page;
	case PIDS:
		return limits->pids;
	case ONE:
		return 1;
	case ZERO:
		break;
	}
	return 0;
}

struct limit_rows {
	const struct limit_row *rows;
	size_t n;
};

static struct limit_rows rows_of(const struct cgroups *g)
{
	return g->mode == CGROUP_V2
	           ? (struct limit_rows){ limits_v2, ROWS(limits_v2) }
	           : (struct limit_rows){ limits_v1, ROWS(limits_v1) };
}

_Static_assert(
    ROWS(limits_v1) <= CGROUP_LIMITS && ROWS(limits_v2) <= CGROUP_LIMITS,
    "a descriptor for each");

static int open_limits(
    const struct cgroups *g, struct cgroup_leaf *leaf, struct error *e)
{
	const struct limit_rows limits = rows_of(g);

	for (size_t i = 0; i < limits.n; i++) {
		const struct limit_row *r = &limits.rows[i];

		leaf->limit_fd[i] = openat(leaf->fd[r->tree], r->file,
		    O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (leaf->limit_fd[i] < 0 &&
		    (r->presence == ALWAYS || errno != ENOENT))
			return FAIL_SYS(e, "open %s", r->file);
	}
	return 0;
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
		fds[i] = -1;
	}
}

int cgroup_leaf_limit(const struct cgroups *g, struct cgroup_leaf *leaf,
    const struct cgroup_limits *limits, struct error *e)
{
	const struct limit_rows rows = rows_of(g);

	for (size_t i = 0; i < rows.n; i++) {
		const struct limit_row *r = &rows.rows[i];

		if (omit_has(layers[r->source]) || leaf->limit_fd[i] < 0)
			continue;
		if (knob_set(leaf->limit_fd[i], r->file,
		        value_of(r->source, limits), e) < 0)
			return -1;
	}
	return 0;
}

static int make_dirs(
    const struct cgroups *g, struct cgroup_leaf *leaf, struct error *e)
{
	for (size_t i = 0; i < CGROUP_TREES; i++) {
		if (g->instance_fd[i] < 0)
			continue;
		if (mkdirat(g->instance_fd[i], leaf->name, 0755) < 0)
			return FAIL_SYS(e, "make control group %s", leaf->name);
		leaf->fd[i] = openat(g->instance_fd[i], leaf->name,
		    O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (leaf->fd[i] < 0)
			return FAIL_SYS(e, "open control group %s", leaf->name);
	}
	return 0;
}

int cgroup_leaf_join(const struct cgroup_leaf *leaf, struct error *e)
{
	for (size_t i = CGROUP_UNIFIED + 1; i < CGROUP_TREES; i++)
		if (leaf->fd[i] >= 0 &&
		    knob_write(leaf->fd[i], "cgroup.procs", "0", e) < 0)
			return FAIL_IN(e, "join a control group");
	return 0;
}

/* First that exists of up to three names. */
struct file_row {
	enum cgroup_tree tree_v1; /* on v2 always UNIFIED */
	const char *v2[3], *v1[3];
};

static const struct file_row files[CGROUP_FILES] = {
	{ CGROUP_UNIFIED, { "cgroup.kill" }, { "cgroup.kill" } },
	{ CGROUP_UNIFIED, { "cgroup.events" }, { "cgroup.events" } },
	{ CGROUP_UNIFIED, { "cpu.stat" }, { "cpu.stat" } },
	{ CGROUP_MEMORY, { "memory.peak", "memory.current" },
	    { "memory.max_usage_in_bytes" } },
	{ CGROUP_MEMORY, { "memory.events.local" }, { "memory.oom_control" } },
	{ CGROUP_PIDS, { "pids.peak", "pids.current" },
	    { "pids.peak", "pids.current" } },
	{ CGROUP_PIDS, { "pids.events" }, { "pids.events" } },
};

static int open_first(
    int dir_fd, const char *const names[3], int flags, struct error *e)
{
	int fd = -1;

	/* Another file is not taken because this one could not be opened. */
	errno = ENOENT;
	for (size_t i = 0; i < 3 && names[i] != NULL && fd < 0; i++)
		if (errno == ENOENT)
			fd = openat(
			    dir_fd, names[i], flags | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return FAIL_SYS(e, "open %s", names[0]);
	return fd;
}

static int open_files(
    const struct cgroups *g, struct cgroup_leaf *leaf, struct error *e)
{
	for (size_t i = 0; i < CGROUP_FILES; i++) {
		const struct file_row *r = &files[i];
		bool v2 = g->mode == CGROUP_V2;

		leaf->file_fd[i] =
		    open_first(leaf->fd[v2 ? CGROUP_UNIFIED : r->tree_v1],
		        v2 ? r->v2 : r->v1, i == 0 ? O_WRONLY : O_RDONLY, e);
		if (leaf->file_fd[i] < 0)
			return -1;
	}
	return 0;
}

int cgroup_leaf_make(const struct cgroups *g, uint64_t slot,
    struct cgroup_leaf *ret, struct error *e)
{
	struct error ignored;

	*ret = CGROUP_NO_LEAF;
	(void)snprintf(ret->name, sizeof(ret->name), "%016" PRIx64, slot);
	if (make_dirs(g, ret, e) == 0 && open_limits(g, ret, e) == 0 &&
	    open_files(g, ret, e) == 0)
		return 0;
	(void)!cgroup_leaf_remove(g, ret, &ignored);
	return -1;
}

void cgroup_leaf_going(struct cgroup_leaf *leaf)
{
	close_all(leaf->limit_fd, CGROUP_LIMITS);
	close_all(leaf->file_fd, CGROUP_FILES);
}

int cgroup_rmdir(int dir_fd, const char *name, struct error *e)
{
	const struct timespec pause = { 0, 1000000 };

	for (int i = 0; i < RMDIR_TRIES; i++) {
		if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return FAIL_SYS(e, "remove control group %s", name);
}

int cgroup_leaf_remove(
    const struct cgroups *g, struct cgroup_leaf *leaf, struct error *e)
{
	int ret = 0;

	close_all(leaf->limit_fd, CGROUP_LIMITS);
	close_all(leaf->file_fd, CGROUP_FILES);
	close_all(leaf->fd, CGROUP_TREES);
	for (size_t i = 0; i < CGROUP_TREES; i++) {
		if (g->instance_fd[i] >= 0 &&
		    cgroup_rmdir(g->instance_fd[i], leaf->name, e) < 0)
			ret = -1;
	}
	return ret;
}
