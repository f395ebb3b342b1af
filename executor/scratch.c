/*
 * executor/scratch.c - what a run may write: one tmpfs, bounded in bytes and
 * inodes, seen at /sandbox, /tmp and /dev/shm.  Linked by bailiff-launch; runs
 * in the run's memory control group, which thus pays for code and inputs too.
 *
 * It is made ahead of the request by what becomes pid 1 of the run, for a size
 * that the launcher changes if another is asked for; filled by the program's
 * process, while that still has pid 1's uid.
 *
 * Code and inputs belong to that uid, mode 0444: the program can read them,
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
#include "executor/uids.h"

/* The root, three directories, and one for rounding in the kernel. */
#define INODES_OF_OURS 5

struct place {
	const char *name;  /* in the scratch */
	const char *point; /* in the view */
	mode_t mode;
	bool is_filled; /* with what was asked for, before it is handed over */
};

#define SCRATCH_POINT "/sandbox"

static const struct place places[] = {
	{ "sandbox", SCRATCH_POINT, 0755, true },
	{ "tmp", "/tmp", 01777, false },
	{ "shm", "/dev/shm", 01777, false },
};

#define PLACES_N (sizeof(places) / sizeof(places[0]))

/* Texts of the options that bound a scratch. */
struct bounds {
	char size[24], inodes[24];
};

static int put_bounds(
    const struct scratch_size *size, struct bounds *ret, struct error *e)
{
	/* To tmpfs, 0 means no bound. */
	if (size->bytes == 0 || size->inodes == 0)
		return FAIL(e, ERROR_MALFORMED, "a scratch of size 0");
	(void)snprintf(ret->size, sizeof(ret->size), "%" PRIu64, size->bytes);
	(void)snprintf(ret->inodes, sizeof(ret->inodes), "%" PRIu64,
	    size->inodes + INODES_OF_OURS);
	return 0;
}

static int make(const struct sandbox *s, int *ret_fd, struct error *e)
{
	struct bounds bounds;
	const uint64_t no_exec =
	    (s->flags & LAUNCH_NOEXEC) != 0 ? MOUNT_ATTR_NOEXEC : 0;
	const struct mounts_new what = { .type = "tmpfs",
		.attributes =
		    (unsigned int)(omit_from("scratch-flags",
		                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) |
		                   omit_from("scratch-noexec", no_exec)),
		.options = { { "size", bounds.size },
		    { "nr_inodes", bounds.inodes }, { "mode", "0755" } } };

	if (put_bounds(&s->scratch, &bounds, e) < 0)
		return -1;
	return mounts_make(&what, ret_fd, e);
}

struct scratch_size scratch_size_of(const struct launch_run *ask)
{
	/* What we put in ourselves takes none of the program's inodes. */
	return (struct scratch_size){ ask->scratch_bytes,
		ask->scratch_inodes == 0
		    ? 0
		    : ask->scratch_inodes + 1 + ask->inputs.n };
}

int scratch_resize(int fd, const struct scratch_size *size, struct error *e)
{
	struct bounds bounds;
	const struct mounts_option options[MOUNTS_OPTIONS_MAX] = {
		{ "size", bounds.size }, { "nr_inodes", bounds.inodes }
	};

	if (put_bounds(size, &bounds, e) < 0)
		return -1;
	return mounts_change(fd, options, e);
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

/* The owner is who makes it. */
static int put(int dir_fd, const char *name, int from, struct error *e)
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
	return 0;
}

static int give(const struct sandbox *s, int dir_fd, const char *name,
    uint32_t owner, struct error *e)
{
	if (!s->rootless &&
	    fchownat(dir_fd, name, owner, owner, AT_SYMLINK_NOFOLLOW) < 0)
		return FAIL_SYS(e, "set the owner of '%s'", name);
	return 0;
}

/* The program's, but for the one that code goes to: ours, then pid 1's until
 * everything is in place. */
static int prepare(const struct sandbox *s, int fd, struct error *e)
{
	for (size_t i = 0; i < PLACES_N; i++) {
		const struct place *p = &places[i];

		if (mkdirat(fd, p->name, 0700) < 0)
			return FAIL_SYS(e, "make %s", p->name);
		/* Modes first: they are set by right of ownership. */
		if (fchmodat(fd, p->name, p->mode, 0) < 0)
			return FAIL_SYS(e, "set the mode of %s", p->name);
		if (!p->is_filled && give(s, fd, p->name, s->program_id, e) < 0)
			return -1;
	}
	return 0;
}

int scratch_point(const struct sandbox *s, const char *name, struct error *e)
{
	AUTO_FD dir_fd = open(SCRATCH_POINT, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return FAIL_SYS(e, "open the scratch");
	if (judge_name(name, e) < 0)
		return -1;
	if (mkdirat(dir_fd, name, 0555) < 0)
		return FAIL_SYS(e, "make it");
	return give(s, dir_fd, name, s->init_id, e);
}

int scratch_ready(const struct sandbox *s, struct error *e)
{
	return give(s, AT_FDCWD, SCRATCH_POINT, s->init_id, e);
}

static int put_all(const struct sandbox *s, int dir_fd, struct error *e)
{
	const struct launch_run *ask = s->ask;
	const int *given = s->given->fd;

	if (put(dir_fd, ask->source, given[LAUNCH_FD_CODE], e) < 0)
		return FAIL_IN(e, "code '%s'", ask->source);
	for (uint64_t i = 0; i < ask->inputs.n; i++) {
		const struct launch_input *input = &ask->inputs.items[i];

		if (input->is_directory == 0 &&
		    put(dir_fd, input->name, given[LAUNCH_FD_INPUTS + i], e) <
		        0)
			return FAIL_IN(e, "input '%s'", input->name);
	}
	return 0;
}

int scratch_fill(const struct sandbox *s, struct error *e)
{
	AUTO_FD dir_fd = open(SCRATCH_POINT, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return FAIL_SYS(e, "open the scratch");
	if (put_all(s, dir_fd, e) < 0)
		return -1;
	/* The program's own, once everything in it is in place. */
	if (!s->rootless && fchownat(dir_fd, "", UID_INSIDE_PROGRAM,
	                        UID_INSIDE_PROGRAM, AT_EMPTY_PATH) < 0)
		return FAIL_SYS(e, "hand over %s", SCRATCH_POINT);
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

	if (make(s, &fd, e) < 0 || prepare(s, fd, e) < 0)
		return -1;
	return spread(s, fd, e);
}

int sandbox_stdin_ready(struct sandbox *s, struct error *e)
{
	static const struct mounts_new what = { .type = "tmpfs",
		.attributes =
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		.options = { { "nr_inodes", "2" }, { "mode", "0700" } } };
	AUTO_FD dir_fd = -1;

	s->stdin_copy_fd = -1;
	if ((s->flags & LAUNCH_NOEXEC) == 0)
		return 0;
	if (mounts_make(&what, &dir_fd, e) < 0)
		return -1;
	s->stdin_copy_fd =
	    openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0444);
	if (s->stdin_copy_fd < 0)
		return FAIL_SYS(e, "make a file for standard input");
	return 0;
}

int sandbox_stdin_copy(const struct sandbox *s, int *fd, struct error *e)
{
	uint64_t size;

	if (memfd_check(*fd, INT64_MAX, &size, e) < 0)
		return -1;
	/* Nothing in it, and sealed against growth. */
	if (s->stdin_copy_fd < 0 || size == 0)
		return 0;
	if (copy(*fd, s->stdin_copy_fd, size, e) < 0)
		return -1;
	*fd = s->stdin_copy_fd;
	return 0;
}
