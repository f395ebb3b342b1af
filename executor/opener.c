/*
 * executor/opener.c - main of bailiff-opener: opens one host file for one
 * request, as the principal would, and hands back a sealed copy; or finds one
 * directory and hands that back.
 *
 * Started by bailiff-launch with a channel to the supervisor on descriptor 3,
 * CAP_SETUID and CAP_SETGID, and nothing else.  Its life:
 *   1. receive one OPEN with the root as an O_PATH descriptor;
 *   2. take the principal's groups, fsgid and fsuid, and read them back: the
 *      kernel judges every path from here on as if the principal had asked;
 *   3. enter its jail (no capabilities, Landlock, seccomp);
 *   4. open the root again by its path: the principal must be able to get
 *      there, and it must be the very directory the supervisor holds;
 *   5. find the file beneath it by O_PATH, which opens nothing, and judge it;
 *   6. only then open it, demand the same inode, copy by sendfile(2), which
 *      never brings a byte into this process, and look again that it kept
 *      still meanwhile;
 *   7. answer and end.
 *
 * The real and effective uid stay our own, so that the principal can neither
 * signal nor trace this process.  Root as a principal has root's identity but
 * not its capabilities: what others keep from everybody stays closed.
 *
 * Trusts the supervisor for who the principal is, and nothing about the path.
 * It has no standard streams: it answers on its channel or says nothing.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/file.h"
#include "base/jail.h"
#include "base/memfd.h"
#include "base/own.h"
#include "executor/opener.h"
#include "executor/opener_reason.h"

#define CHANNEL_FD 3

/* All that this process works on; allocated once. */
struct opener {
	struct channel channel;
	struct opener_open request;
	struct opener_opened opened;
	int root_fd; /* owned: the supervisor's */
	int copy_fd; /* owned: what we hand back */
};

/* Why not: filled instead of struct error, since the answer is a word. */
struct refusal {
	const char *reason;
	int saved_errno;
};

static int refuse(struct refusal *r, const char *reason, int saved_errno)
{
	r->reason = reason;
	r->saved_errno = saved_errno;
	return -1;
}

static int refuse_errno(struct refusal *r, enum opener_stage stage)
{
	return refuse(r, opener_reason(stage, errno), errno);
}

static int take_identity(const struct opener_open *q, struct refusal *r)
{
	gid_t groups[OPENER_GROUPS_MAX];
	size_t n = (size_t)q->groups.n;

	/* Without root the principal is the account that we are of already. */
	if (q->uid == geteuid() && q->gid == getegid())
		return 0;
	for (size_t i = 0; i < n; i++)
		groups[i] = q->groups.items[i].gid;
	if (setgroups(n, groups) < 0)
		return refuse(r, "path.failed", errno);
	/* setfsgid(2), setfsuid(2): no error is reported; ask again instead. */
	(void)setfsgid(q->gid);
	(void)setfsuid(q->uid);
	if ((gid_t)setfsgid((gid_t)-1) != q->gid ||
	    (uid_t)setfsuid((uid_t)-1) != q->uid)
		return refuse(r, "path.failed", EPERM);
	return 0;
}

static int enter_jail(const struct opener *o, struct refusal *r)
{
	static const struct jail_call calls[] = {
		{ __NR_openat2, JAIL_ANY, 0 },
		{ __NR_newfstatat, 3, AT_EMPTY_PATH },
		{ __NR_fstat, JAIL_ANY, 0 },
		{ __NR_memfd_create, JAIL_ANY, 0 },
		{ __NR_sendfile, JAIL_ANY, 0 },
		{ __NR_fcntl, 1, F_ADD_SEALS },
		{ __NR_lseek, JAIL_ANY, 0 },
		{ __NR_sendmsg, 0, CHANNEL_FD },
		{ __NR_close, JAIL_ANY, 0 },
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	const struct jail jail = {
		.read_fd = o->root_fd,
		.read = o->request.is_directory != 0
		            ? JAIL_READ_FILES_AND_DIRECTORIES
		            : JAIL_READ_FILES,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
	};
	struct error e = { 0 };

	if (jail_enter(&jail, &e) < 0)
		return refuse(r, "path.failed", e.saved_errno);
	return 0;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whatever changes content changes one of these. */
static bool same_content(const struct stat *a, const struct stat *b)
{
	return same_inode(a, b) && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int open_root(const struct opener *o, int *ret_fd, struct refusal *r)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	struct stat held, found;
	AUTO_FD fd = -1;

	if (o->request.root[0] != '/')
		return refuse(r, "path.failed", EINVAL);
	fd = (int)syscall(
	    SYS_openat2, AT_FDCWD, o->request.root, &how, sizeof(how));
	if (fd < 0)
		return refuse_errno(r, OPENER_STAGE_ROOT);
	if (fstat(fd, &found) < 0 || fstat(o->root_fd, &held) < 0)
		return refuse_errno(r, OPENER_STAGE_COPY);
	if (!same_inode(&held, &found))
		return refuse(r, "path.root_changed", 0);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int open_beneath(
    int root_fd, const char *path, int flags, int *ret_fd, struct refusal *r)
{
	struct error e = { 0 };
	struct file_open what = { root_fd, path, flags, 0 };

	if (file_open_beneath(&what, ret_fd, &e) < 0)
		return refuse(r,
		    opener_reason(OPENER_STAGE_FILE, e.saved_errno),
		    e.saved_errno);
	return 0;
}

/* *ret_stat is the file's before a byte of it was read. */
static int open_file(const struct opener *o, int root_fd, int *ret_fd,
    struct stat *ret_stat, struct refusal *r)
{
	const char *path = o->request.beneath;
	struct stat seen, opened;
	AUTO_FD path_fd = -1;
	AUTO_FD fd = -1;

	if (open_beneath(root_fd, path, O_PATH, &path_fd, r) < 0)
		return -1;
	if (fstat(path_fd, &seen) < 0)
		return refuse_errno(r, OPENER_STAGE_COPY);
	if (!S_ISREG(seen.st_mode))
		return refuse(r, "path.not_regular", 0);
	if ((uint64_t)seen.st_size > o->request.max_bytes)
		return refuse(r, "path.too_large", 0);
	if (open_beneath(root_fd, path, O_RDONLY, &fd, r) < 0)
		return -1;
	if (fstat(fd, &opened) < 0)
		return refuse_errno(r, OPENER_STAGE_COPY);
	if (!same_content(&seen, &opened))
		return refuse(r, "path.changed", 0);
	*ret_fd = take_fd(&fd);
	*ret_stat = opened;
	return 0;
}

/* One byte more than expected is asked for, so that growth shows. */
static int copy(int from_fd, int to_fd, uint64_t expected, struct refusal *r)
{
	uint64_t total = 0;

	for (;;) {
		/* The kernel moves at most 2 GiB at a time. */
		uint64_t want = expected - total + 1;
		ssize_t n = sendfile(to_fd, from_fd, NULL,
		    want < 0x40000000 ? (size_t)want : 0x40000000);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return refuse_errno(r, OPENER_STAGE_COPY);
		if (n == 0)
			break;
		total += (uint64_t)n;
		if (total > expected)
			break;
	}
	if (total != expected)
		return refuse(r, "path.changed", 0);
	return 0;
}

static int copy_sealed(
    struct opener *o, int file_fd, const struct stat *before, struct refusal *r)
{
	struct stat after;
	struct error e = { 0 };
	AUTO_FD copy_fd = -1;

	if (memfd_new("input", &copy_fd, &e) < 0)
		return refuse(r, "path.failed", e.saved_errno);
	if (copy(file_fd, copy_fd, (uint64_t)before->st_size, r) < 0)
		return -1;
	if (fstat(file_fd, &after) < 0)
		return refuse_errno(r, OPENER_STAGE_COPY);
	if (!same_content(before, &after))
		return refuse(r, "path.changed", 0);
	if (memfd_seal(copy_fd, &e) < 0 || lseek(copy_fd, 0, SEEK_SET) < 0)
		return refuse(r, "path.failed", e.saved_errno);
	o->opened = (struct opener_opened){ before->st_dev, before->st_ino,
		(uint64_t)before->st_size };
	o->copy_fd = take_fd(&copy_fd);
	return 0;
}

/*
 * Listing it is what the principal must be able to do; the one who gets the
 * descriptor cannot read by it.
 */
static int open_directory(struct opener *o, int root_fd, struct refusal *r)
{
	const char *path = o->request.beneath;
	struct stat seen;
	struct stat opened;
	AUTO_FD path_fd = -1;
	AUTO_FD fd = -1;

	if (open_beneath(root_fd, path, O_PATH, &path_fd, r) < 0)
		return -1;
	if (fstat(path_fd, &seen) < 0)
		return refuse_errno(r, OPENER_STAGE_COPY);
	if (!S_ISDIR(seen.st_mode))
		return refuse(r, "path.not_directory", 0);
	if (open_beneath(root_fd, path, O_RDONLY | O_DIRECTORY, &fd, r) < 0)
		return -1;
	if (fstat(fd, &opened) < 0)
		return refuse_errno(r, OPENER_STAGE_COPY);
	if (!same_inode(&seen, &opened))
		return refuse(r, "path.changed", 0);
	o->opened = (struct opener_opened){ seen.st_dev, seen.st_ino, 0 };
	o->copy_fd = take_fd(&path_fd);
	return 0;
}

static int serve(struct opener *o, struct refusal *r)
{
	struct stat st;
	AUTO_FD root_fd = -1;
	AUTO_FD file_fd = -1;

	if (take_identity(&o->request, r) < 0 || enter_jail(o, r) < 0 ||
	    open_root(o, &root_fd, r) < 0)
		return -1;
	if (o->request.is_directory != 0)
		return open_directory(o, root_fd, r);
	if (open_file(o, root_fd, &file_fd, &st, r) < 0)
		return -1;
	return copy_sealed(o, file_fd, &st, r);
}

static int receive(struct opener *o, struct error *e)
{
	struct channel_receive what = { &opener_protocol, 1,
		{ &o->request, sizeof(o->request) } };
	struct fd_list fds;
	uint16_t verb;

	if (channel_receive(&o->channel, &what, &verb, &fds, e) < 0)
		return -1;
	if (fds.n != 1)
		return FAIL(e, ERROR_MALFORMED, "OPEN without a root");
	o->root_fd = fds.fd[0];
	return 0;
}

static int answer(struct opener *o, const struct refusal *r, struct error *e)
{
	struct fd_list fds = { 1, { o->copy_fd } };
	struct opener_denied denied = { 0 };
	struct channel_send what = { &opener_reply_protocol, OPENER_OPENED,
		&o->opened, &fds };

	if (r->reason != NULL) {
		denied.saved_errno = (uint32_t)r->saved_errno;
		(void)snprintf(
		    denied.reason, sizeof(denied.reason), "%s", r->reason);
		what = (struct channel_send){ &opener_reply_protocol,
			OPENER_DENIED, &denied, NULL };
	}
	return channel_send(&o->channel, &what, e);
}

int main(void)
{
	struct opener *o = calloc(1, sizeof(*o));
	struct refusal r = { NULL, 0 };
	struct error e = { 0 };

	if (o == NULL)
		return EXIT_FAILURE;
	o->channel.fd = CHANNEL_FD;
	if (receive(o, &e) < 0)
		return EXIT_FAILURE;
	if (serve(o, &r) < 0 && r.reason == NULL)
		return EXIT_FAILURE;
	if (answer(o, &r, &e) < 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
