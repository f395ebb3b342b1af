/*
 * executor/collect.c - main of bailiff-collect: takes what a run left behind,
 * after its tree is dead.
 *
 * Started by bailiff-launch with a channel to the supervisor on descriptor 3,
 * under a uid of its own, with CAP_DAC_READ_SEARCH and nothing else.  Its
 * life: receive START with the read-only scratch; enter its jail (Landlock:
 * reading beneath the scratch; a few system calls); walk /sandbox; for each
 * file that counts ask the supervisor for a descriptor to write to, copy and
 * hash; end with DONE.
 *
 * CAP_DAC_READ_SEARCH is kept because programs leave files of mode 0600 and
 * directories of mode 0 behind, which belong to the run's uid and not to us.
 * Landlock and the descriptor confine it to the scratch, and no call that the
 * filter allows could use it for anything but reading.
 *
 * What counts: a regular file with one link that the program's uid owns.
 * Content is copied; mode, owner, times and attributes are not.  Everything
 * hostile (names, sizes, depth, kinds) is met here, in a process that holds
 * nothing.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"
#include "executor/collect.h"
#include "executor/collect_jail.h"
#include "executor/picture.h"
#include "executor/walk.h"
#include "policy/environment.h"
#include "policy/glob.h"

#define COPY_BYTES 65536
/* Looked at, whatever they are: some seconds of work at most. */
#define ENTRIES_MAX 262144
/* SKIPPED messages; whatever else is skipped is only counted in DONE. */
#define REPORTS_MAX 1000

_Static_assert(WALK_PATH_MAX <= COLLECT_NAME_MAX, "a path fits a message");

/* What a walk may still take, and what to call it when that is used up. */
struct budget {
	uint64_t files, bytes;
	enum collect_why no_files, no_bytes;
};

/* All that this process works on; allocated once. */
struct collector {
	struct channel channel;
	struct collect_start start;
	struct collect_done done;
	struct budget budget; /* of the walk that is going on */
	uint64_t n_reports;
	int scratch_fd;            /* owned */
	struct walk *plots, *rest; /* owned; 'plots' may be NULL */
	struct walk *walk;         /* the one that is going on */
	struct collect_found found;
	struct collect_skipped skipped;
	uint8_t block[COPY_BYTES];
};

static int say(
    struct collector *c, uint16_t verb, const void *message, struct error *e)
{
	struct channel_send what = { &collect_reply_protocol, verb, message,
		NULL };

	return channel_send(&c->channel, &what, e);
}

static int skip(struct collector *c, const struct walk_entry *entry,
    enum collect_why why, struct error *e)
{
	c->done.skipped++;
	c->done.why |= UINT32_C(1) << why;
	if (why == COLLECT_FOREIGN)
		c->done.foreign++;
	if (c->n_reports == REPORTS_MAX)
		return 0;
	c->n_reports++;
	c->skipped.why = why;
	c->skipped.name.len = entry->path_len;
	memcpy(c->skipped.name.data, entry->path, entry->path_len);
	return say(c, COLLECT_SKIPPED, &c->skipped, e);
}

/* Without root the owner does not tell what we put there. */
static bool is_ours(const struct collector *c, const struct walk_entry *entry)
{
	for (uint64_t i = 0; i < c->start.ours.n; i++) {
		const char *name = c->start.ours.items[i].name;

		if (strlen(name) == entry->path_len &&
		    memcmp(name, entry->path, entry->path_len) == 0)
			return true;
	}
	return false;
}

/* Of what lies among the plots everything is. */
static bool is_wanted(const struct collector *c, const struct walk_entry *entry)
{
	if (c->walk == c->plots)
		return true;
	for (uint64_t i = 0; i < c->start.globs.n; i++)
		if (glob_matches(c->start.globs.items[i].text, entry->path,
		        entry->path_len))
			return true;
	return false;
}

/* 0 if the file counts, else why not. */
static uint32_t judge(const struct collector *c, const struct walk_entry *entry)
{
	const struct stat *st = &entry->st;

	if (S_ISLNK(st->st_mode))
		return COLLECT_LINK;
	if (!S_ISREG(st->st_mode))
		return COLLECT_SPECIAL;
	/* Before the owner: a second name of an input is the program's doing. */
	if (st->st_nlink != 1)
		return COLLECT_LINK;
	if (st->st_uid != c->start.uid || is_ours(c, entry))
		return COLLECT_FOREIGN;
	if (!is_wanted(c, entry))
		return COLLECT_PATTERN;
	if (c->budget.files == 0)
		return c->budget.no_files;
	/* By size, before a byte is read: sparse files cost nothing to make. */
	if ((uint64_t)st->st_size > c->budget.bytes)
		return c->budget.no_bytes;
	return 0;
}

/* *ret_fd is -1 for SKIP. */
static int ask(struct collector *c, const struct walk_entry *entry, int *ret_fd,
    struct error *e)
{
	struct channel_receive what = { &collect_protocol, 1, { NULL, 0 } };
	struct fd_list fds;
	uint16_t verb;

	c->found.size = (uint64_t)entry->st.st_size;
	c->found.name.len = entry->path_len;
	memcpy(c->found.name.data, entry->path, entry->path_len);
	if (say(c, COLLECT_FOUND, &c->found, e) < 0 ||
	    channel_receive(&c->channel, &what, &verb, &fds, e) < 0)
		return -1;
	if (fds.n != (verb == COLLECT_TAKE ? 1 : 0)) {
		fd_list_close(&fds);
		return FAIL(e, ERROR_MALFORMED, "descriptors out of place");
	}
	*ret_fd = verb == COLLECT_TAKE ? fds.fd[0] : -1;
	return 0;
}

static ssize_t read_block(int fd, uint8_t *to, size_t len)
{
	ssize_t got;

	do
		got = read(fd, to, len);
	while (got < 0 && errno == EINTR);
	return got;
}

static void note_picture(
    const struct collector *c, size_t len, struct collect_copied *ret)
{
	struct picture picture;

	_Static_assert(COPY_BYTES == PICTURE_PREFIX, "one block is enough");
	picture_look(c->block, len, &picture);
	ret->kind = picture.kind;
	ret->width = picture.width;
	ret->height = picture.height;
}

/*
 * Copy 'size' bytes, hashing; the first block says what it is.  0, or why not:
 * the tree is dead, so a file that ends early or goes on is a fault, and is not
 * taken.
 */
static uint32_t copy(
    struct collector *c, int from_fd, int to_fd, struct collect_copied *ret)
{
	struct sha256 hash;
	struct error e;

	sha256_init(&hash);
	for (uint64_t left = ret->size + 1;;) {
		size_t want = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
		ssize_t got = read_block(from_fd, c->block, want);

		if (got < 0 || (got == 0 && left != 1) || (uint64_t)got == left)
			return COLLECT_READ;
		if (got == 0)
			break;
		if (left == ret->size + 1)
			note_picture(c, (size_t)got, ret);
		left -= (uint64_t)got;
		sha256_add(&hash, c->block, (size_t)got);
		if (file_write_all(to_fd, c->block, (size_t)got, &e) < 0)
			return COLLECT_WRITE;
	}
	sha256_done(&hash, ret->sha256);
	return 0;
}

/* The supervisor has said where to; what it gets is COPIED or SKIPPED. */
static int take(struct collector *c, const struct walk_entry *entry,
    int from_fd, int to_fd, struct error *e)
{
	struct collect_copied copied = { 0 };
	uint32_t why;

	copied.size = (uint64_t)entry->st.st_size;
	why = copy(c, from_fd, to_fd, &copied);
	if (why != 0)
		return skip(c, entry, why, e);
	c->done.files++;
	c->done.bytes += copied.size;
	c->budget.files--;
	c->budget.bytes -= copied.size;
	return say(c, COLLECT_COPIED, &copied, e);
}

static int consider(
    struct collector *c, struct walk_entry *entry, struct error *e)
{
	struct file_open what = { entry->dir_fd, entry->name, O_RDONLY, 0 };
	uint32_t why = judge(c, entry);
	AUTO_FD from_fd = -1;
	AUTO_FD to_fd = -1;
	struct error ignored;

	if (why != 0)
		return skip(c, entry, why, e);
	/* Judge again what was really opened. */
	if (file_open_beneath(&what, &from_fd, &ignored) < 0 ||
	    fstat(from_fd, &entry->st) < 0)
		return skip(c, entry, COLLECT_READ, e);
	why = judge(c, entry);
	if (why != 0)
		return skip(c, entry, why, e);
	if (ask(c, entry, &to_fd, e) < 0)
		return -1;
	if (to_fd < 0) { /* it has heard the name already */
		c->done.skipped++;
		c->done.why |= UINT32_C(1) << COLLECT_NAME;
		return 0;
	}
	return take(c, entry, from_fd, to_fd, e);
}

static int walk_through(struct collector *c, struct error *e)
{
	/* clang-format off */
	static const uint32_t why[] = {
		[WALK_DEEP] = COLLECT_DEPTH,
		[WALK_FULL] = COLLECT_LIMIT,
		[WALK_LONG] = COLLECT_NAME,
		[WALK_UNREADABLE] = COLLECT_READ,
	};
	/* clang-format on */
	struct walk_entry entry;
	int result = 0;

	for (;;) {
		walk_next(c->walk, &entry);
		if (entry.what == WALK_END)
			return 0;
		if (entry.what == WALK_ENTRY)
			result = consider(c, &entry, e);
		else
			result = skip(c, &entry, why[entry.what], e);
		if (result < 0)
			return -1;
	}
}

static int receive_start(struct collector *c, struct error *e)
{
	struct channel_receive what = { &collect_protocol, 1,
		{ &c->start, sizeof(c->start) } };
	struct fd_list fds;
	uint16_t verb;

	if (channel_receive(&c->channel, &what, &verb, &fds, e) < 0)
		return -1;
	if (verb != COLLECT_START || fds.n != 1)
		return FAIL(e, ERROR_MALFORMED, "no START with a scratch");
	c->scratch_fd = fds.fd[0];
	return 0;
}

/* A walk takes all its memory here, before the jail. */
static int open_walk(struct collector *c, const char *only, const char *but,
    struct walk **ret, struct error *e)
{
	/* A figure lies in the directory of figures, whatever else may lie how
	 * deep. */
	uint64_t depth =
	    only != NULL && c->start.max_depth < 2 ? 2 : c->start.max_depth;
	const struct file_open sandbox = { c->scratch_fd, "sandbox",
		O_RDONLY | O_DIRECTORY, 0 };
	const struct walk_limits limits = { depth, ENTRIES_MAX, only, but };
	int sandbox_fd;

	if (file_open_beneath(&sandbox, &sandbox_fd, e) < 0)
		return -1;
	return walk_open(sandbox_fd, limits, ret, e);
}

/* Plots first: what else a program leaves cannot crowd them out. */
static int walk_plots(struct collector *c, struct error *e)
{
	c->walk = c->plots;
	c->budget = (struct budget){ c->start.max_plots,
		c->start.max_plot_bytes, COLLECT_PLOTS, COLLECT_PLOT_BYTES };
	return walk_through(c, e);
}

static int walk_rest(struct collector *c, struct error *e)
{
	c->walk = c->rest;
	c->budget = (struct budget){ c->start.max_files, c->start.max_bytes,
		COLLECT_LIMIT, COLLECT_BYTES };
	return walk_through(c, e);
}

static int collect(struct collector *c, struct error *e)
{
	const char *apart;

	if (receive_start(c, e) < 0)
		return -1;
	apart = c->start.max_plots > 0 ? LANGUAGE_PLOTS : NULL;
	if (apart != NULL && open_walk(c, apart, NULL, &c->plots, e) < 0)
		return -1;
	if (open_walk(c, NULL, apart, &c->rest, e) < 0 ||
	    collect_enter_jail(c->scratch_fd, e) < 0)
		return -1;
	if (apart != NULL && walk_plots(c, e) < 0)
		return -1;
	if (walk_rest(c, e) < 0)
		return -1;
	return say(c, COLLECT_DONE, &c->done, e);
}

/* It has no standard streams: what fails shows as a channel that closes
 * before DONE. */
int main(void)
{
	struct collector *c = calloc(1, sizeof(*c));
	struct error e = { 0 };

	if (c == NULL)
		return EXIT_FAILURE;
	c->channel.fd = COLLECT_CHANNEL_FD;
	if (collect(c, &e) < 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
