/*
 * executor/scratch.c - what a run may write: one tmpfs, bounded in bytes and
 * inodes, seen at /sandbox, /tmp and /dev/shm.  Linked by bailiff-launch; runs
 * in the clone, in the run's memory control group, which thus pays for code
 * and inputs too.
 *
 * Code and inputs belong to pid 1's uid, mode 0444: the program can read them,
 * and the collector can tell them from what the program made.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/mounts.h"
#include "executor/omit.h"
#include "executor/sandbox.h"

/* The root, three directories, and one for rounding in the kernel. */
#define INODES_OF_OURS 5

struct place {
	const char *name;  /* in the scratch */
	const char *point; /* in the view */
	mode_t mode;
};

static const struct place places[] = {
	{ "sandbox", "/sandbox", 0755 },
	{ "tmp", "/tmp", 01777 },
	{ "shm", "/dev/shm", 01777 },
};

#define PLACES_N (sizeof(places) / sizeof(places[0]))

static int make(const struct launch_run *ask, int *ret_fd, struct error *e)
{
	char size[24];
	char inodes[24];
	const uint64_t no_exec =
	    (ask->flags & LAUNCH_NOEXEC) != 0 ? MOUNT_ATTR_NOEXEC : 0;
	const struct mounts_new what = { .type = "tmpfs",
		.attributes =
		    (unsigned int)(omit_from("scratch-flags",
		                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) |
		                   omit_from("scratch-noexec", no_exec)),
		.options = { { "size", size }, { "nr_inodes", inodes },
		    { "mode", "0755" } } };

	/* To tmpfs, 0 means no bound. */
	if (ask->scratch_bytes == 0 || ask->scratch_inodes == 0)
		return FAIL(e, ERROR_MALFORMED, "a scratch of size 0");
	(void)snprintf(size, sizeof(size), "%" PRIu64, ask->scratch_bytes);
	(void)snprintf(inodes, sizeof(inodes), "%" PRIu64,
	    ask->scratch_inodes + INODES_OF_OURS + 1 + ask->inputs.n);
	return mounts_make(&what, ret_fd, e);
}

static int judge_name(const char *name, struct error *e)
{
	if (name[0] == '\0' || strchr(name, '/') != NULL ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return FAIL(e, ERROR_MALFORMED, "'%s' is no file name", name);
	return 0;
}

/* By offset: the descriptor's own position is shared with others. */
static int copy(int from, int to, uint64_t size, struct error *e)
{
	off_t at = 0;

	while ((uint64_t)at < size) {
		ssize_t got =
		    sendfile(to, from, &at, (size_t)(size - (uint64_t)at));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "copy");
		if (got == 0)
			return FAIL(e, ERROR_STATE, "a sealed file shrank");
	}
	return 0;
}

static int put(const struct sandbox *s, int dir_fd, const char *name, int from,
    struct error *e)
{
	uint64_t size;
	AUTO_FD fd = -1;

	if (judge_name(name, e) < 0 ||
	    memfd_check(from, INT64_MAX, &size, e) < 0)
		return -1;
	fd = openat(dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
	if (fd < 0)
		return FAIL_SYS(e, "make it");
	if (copy(from, fd, size, e) < 0)
		return -1;
	if (fchmod(fd, 0444) < 0)
		return FAIL_SYS(e, "set its mode");
	if (!s->rootless && fchown(fd, s->init_id, s->init_id) < 0)
		return FAIL_SYS(e, "set its owner");
	return 0;
}

/* Where directories.c will attach one; what lies below is nobody's. */
static int put_point(
    const struct sandbox *s, int dir_fd, const char *name, struct error *e)
{
	if (judge_name(name, e) < 0)
		return -1;
	if (mkdirat(dir_fd, name, 0555) < 0)
		return FAIL_SYS(e, "make it");
	if (!s->rootless && fchownat(dir_fd, name, s->init_id, s->init_id,
	                        AT_SYMLINK_NOFOLLOW) < 0)
		return FAIL_SYS(e, "set its owner");
	return 0;
}

static int fill(const struct sandbox *s, int scratch_fd, struct error *e)
{
	const struct launch_run *ask = s->ask;
	const int *given = s->given->fd;
	AUTO_FD dir_fd =
	    openat(scratch_fd, "sandbox", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return FAIL_SYS(e, "open the scratch");
	if (put(s, dir_fd, ask->source, given[LAUNCH_FD_CODE], e) < 0)
		return FAIL_IN(e, "code '%s'", ask->source);
	for (uint64_t i = 0; i < ask->inputs.n; i++) {
		const struct launch_input *input = &ask->inputs.items[i];

		if ((input->is_directory != 0
		            ? put_point(s, dir_fd, input->name, e)
		            : put(s, dir_fd, input->name,
		                  given[LAUNCH_FD_INPUTS + i], e)) < 0)
			return FAIL_IN(e, "input '%s'", input->name);
	}
	return 0;
}

/*
 * The program's own, once everything in them is in place.  Modes first: they
 * are set by right of ownership.
 */
static int hand_over(const struct sandbox *s, int scratch_fd, struct error *e)
{
	for (size_t i = 0; i < PLACES_N; i++)
		if (fchmodat(scratch_fd, places[i].name, places[i].mode, 0) <
		        0 ||
		    (!s->rootless &&
		        fchownat(scratch_fd, places[i].name, s->program_id,
		            s->program_id, AT_SYMLINK_NOFOLLOW) < 0))
			return FAIL_SYS(e, "hand over %s", places[i].point);
	return 0;
}

/*
 * Linux 6.1 clones attached mounts only: attach the whole for a moment, clone
 * its parts and the read-only view for the collector, and take it off again.
 */
static int spread(struct sandbox *s, int scratch_fd, struct error *e)
{
	int part_fd[PLACES_N] = { -1, -1, -1 };
	int ret = mounts_attach(scratch_fd, AT_FDCWD, places[0].point, e);

	for (size_t i = 0; i < PLACES_N && ret == 0; i++)
		ret = mounts_clone(
		    scratch_fd, places[i].name, MOUNTS_ONE, &part_fd[i], e);
	if (ret == 0)
		ret =
		    mounts_clone(scratch_fd, "", MOUNTS_ONE, &s->scratch_fd, e);
	if (ret == 0)
		ret = mounts_set(s->scratch_fd,
		    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
		        MOUNT_ATTR_NOEXEC,
		    e);
	if (ret == 0 && umount2(places[0].point, MNT_DETACH) < 0)
		ret = FAIL_SYS(e, "take the scratch off");
	for (size_t i = 0; i < PLACES_N; i++) {
		if (ret == 0)
			ret = mounts_attach(
			    part_fd[i], AT_FDCWD, places[i].point, e);
		if (part_fd[i] >= 0)
			(void)close(part_fd[i]);
	}
	return ret;
}

int sandbox_scratch(struct sandbox *s, struct error *e)
{
	AUTO_FD fd = -1;

	if (make(s->ask, &fd, e) < 0)
		return -1;
	for (size_t i = 0; i < PLACES_N; i++)
		if (mkdirat(fd, places[i].name, 0700) < 0)
			return FAIL_SYS(e, "make %s", places[i].name);
	if (fill(s, fd, e) < 0 || hand_over(s, fd, e) < 0)
		return -1;
	return spread(s, fd, e);
}

int sandbox_stdin_copy(struct sandbox *s, int *fd, struct error *e)
{
	static const struct mounts_new what = { .type = "tmpfs",
		.attributes =
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		.options = { { "nr_inodes", "2" }, { "mode", "0700" } } };
	AUTO_FD dir_fd = -1;
	AUTO_FD copy_fd = -1;
	uint64_t size;

	if (memfd_check(*fd, INT64_MAX, &size, e) < 0)
		return -1;
	/* Nothing in it, and sealed against growth. */
	if ((s->ask->flags & LAUNCH_NOEXEC) == 0 || size == 0)
		return 0;
	if (mounts_make(&what, &dir_fd, e) < 0)
		return -1;
	copy_fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0444);
	if (copy_fd < 0)
		return FAIL_SYS(e, "make a file for standard input");
	if (copy(*fd, copy_fd, size, e) < 0)
		return -1;
	*fd = take_fd(&copy_fd);
	return 0;
}
