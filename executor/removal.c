/*
 * executor/removal.c - removes result folders.  Linked by the supervisor.  The
 * folders are ours alone, but names in them came from programs nobody has read:
 * each directory is opened beneath the one before it, and no link is followed.
 */
#include "executor/removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/own.h"

#define PRUNING "results/.pruning"
#define FOLDER  ".pruning"
#define LIST    ".pruned"
#define OLD     ".pruned.old"
/* Deeper directories are taken up to the top, and so is what is in them. */
#define DEPTH_MAX 8
#define ID_LEN    (2 + 2 * (size_t)EVENT_RUN_BYTES)
#define BLOCK     ((off_t)PRUNED_LINE * 64)

void removal_run_id(const uint8_t run[EVENT_RUN_BYTES], char ret[40])
{
	(void)snprintf(ret, 40, "r_");
	for (size_t i = 0; i < EVENT_RUN_BYTES; i++)
		(void)snprintf(ret + 2 + 2 * i, 3, "%02x", run[i]);
}

static int open_at(
    int dir_fd, const char *name, int flags, int *ret_fd, struct error *e)
{
	const struct file_open what = { dir_fd, name, flags,
		flags & O_CREAT ? 0600 : 0 };

	return file_open_beneath(&what, ret_fd, e);
}

static int open_pruning(int results_fd, int *ret_fd, struct error *e)
{
	if (mkdirat(results_fd, FOLDER, 0700) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make " PRUNING);
	if (open_at(results_fd, FOLDER, O_RDONLY | O_DIRECTORY, ret_fd, e) < 0)
		return FAIL_IN(e, PRUNING);
	return 0;
}

/* Begins another list when this one is full. */
static int open_list(int results_fd, int *ret_fd, struct error *e)
{
	struct stat st;
	AUTO_FD fd = -1;

	if (open_at(results_fd, LIST, O_WRONLY | O_APPEND | O_CREAT, &fd, e) <
	        0 ||
	    fstat(fd, &st) < 0)
		return FAIL_IN(e, "results/" LIST);
	if ((uint64_t)st.st_size < PRUNED_BYTES_MAX) {
		*ret_fd = take_fd(&fd);
		return 0;
	}
	if (renameat(results_fd, LIST, results_fd, OLD) < 0)
		return FAIL_SYS(e, "begin another results/" LIST);
	if (open_at(
	        results_fd, LIST, O_WRONLY | O_APPEND | O_CREAT, ret_fd, e) < 0)
		return FAIL_IN(e, "results/" LIST);
	return 0;
}

static int note_it(
    int results_fd, const struct removal_note *note, struct error *e)
{
	char line[PRUNED_LINE + 1], id[40];
	AUTO_FD fd = -1;
	int n;

	removal_run_id(note->run, id);
	n = snprintf(line, sizeof(line), "%s %" PRIu32 " %" PRIu64 " %s", id,
	    note->uid, note->when_s, note->why);
	if (n < 0 || n >= PRUNED_LINE)
		return FAIL(e, ERROR_LIMIT, "a line too long for " LIST);
	memset(line + n, ' ', PRUNED_LINE - 1 - (size_t)n);
	line[PRUNED_LINE - 1] = '\n';
	if (open_list(results_fd, &fd, e) < 0)
		return -1;
	return file_write_all(fd, line, PRUNED_LINE, e);
}

int removal_take(
    int results_fd, const struct removal_note *note, struct error *e)
{
	AUTO_FD pruning_fd = -1;
	char id[40];

	removal_run_id(note->run, id);
	if (open_pruning(results_fd, &pruning_fd, e) < 0 ||
	    note_it(results_fd, note, e) < 0)
		return -1;
	if (renameat(results_fd, id, pruning_fd, id) < 0 && errno != ENOENT)
		return FAIL_SYS(e, "take results/%s away", id);
	return 0;
}

static bool parse_line(const char *line, struct removal_note *ret)
{
	const struct number_range ids = { 0, UINT32_MAX };
	const struct number_range times = { 0, UINT32_MAX * UINT64_C(100) };
	char text[PRUNED_LINE], *rest = NULL;
	const char *uid, *when, *why;
	struct error no;
	uint64_t id;

	memcpy(text, line, sizeof(text));
	text[PRUNED_LINE - 1] = '\0';
	uid = strtok_r(text + ID_LEN, " ", &rest);
	when = strtok_r(NULL, " ", &rest);
	why = strtok_r(NULL, " ", &rest);
	if (why == NULL || strlen(why) >= sizeof(ret->why) ||
	    number_parse(uid, "uid", ids, &id, &no) < 0 ||
	    number_parse(when, "time", times, &ret->when_s, &no) < 0)
		return false;
	ret->uid = (uint32_t)id;
	memcpy(ret->why, why, strlen(why) + 1);
	return true;
}

/* From the end: the last that is said of it counts. */
static bool find_in(
    int fd, off_t size, const char *run_id, struct removal_note *ret)
{
	char block[BLOCK];

	size -= size % PRUNED_LINE;
	while (size > 0) {
		off_t want = size < BLOCK ? size : BLOCK;

		if (pread(fd, block, (size_t)want, size - want) != want)
			return false;
		for (off_t at = want - PRUNED_LINE; at >= 0; at -= PRUNED_LINE)
			if (memcmp(block + at, run_id, ID_LEN) == 0)
				return parse_line(block + at, ret);
		size -= want;
	}
	return false;
}

bool removal_find(int results_fd, const char *run_id, struct removal_note *ret)
{
	static const char *const lists[] = { LIST, OLD };

	for (size_t i = 0; strlen(run_id) == ID_LEN && i < 2; i++) {
		AUTO_FD fd = -1;
		struct error no;
		struct stat st;

		if (open_at(results_fd, lists[i], O_RDONLY, &fd, &no) == 0 &&
		    fstat(fd, &st) == 0 && find_in(fd, st.st_size, run_id, ret))
			return true;
	}
	return false;
}

struct sweep {
	int top_fd; /* borrowed: .pruning */
	size_t budget;
	unsigned lifted; /* directories taken up so far */
};

static int sweep_dir(struct sweep *s, int dir_fd, int depth, struct error *e);

/* Up to the top, under a name that no run has. */
static int lift(struct sweep *s, int dir_fd, const char *name, struct error *e)
{
	char to[32];

	for (int tries = 0; tries < 1000; tries++) {
		(void)snprintf(to, sizeof(to), "deep-%u", s->lifted++);
		if (renameat(dir_fd, name, s->top_fd, to) == 0)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			break;
	}
	return FAIL_SYS(e, "lift a directory out of a result folder");
}

/* NOLINTBEGIN(misc-no-recursion): it ends at DEPTH_MAX */
static int sweep_name(
    struct sweep *s, int dir_fd, const char *name, int depth, struct error *e)
{
	AUTO_FD fd = -1;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return FAIL_SYS(e, "remove a file of a result folder");
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return FAIL_SYS(e, "remove a directory of a result folder");
	if (depth == DEPTH_MAX)
		return lift(s, dir_fd, name, e);
	if (open_at(dir_fd, name, O_RDONLY | O_DIRECTORY, &fd, e) < 0 ||
	    sweep_dir(s, fd, depth + 1, e) < 0)
		return -1;
	if (s->budget > 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 &&
	    errno != ENOENT && errno != ENOTEMPTY)
		return FAIL_SYS(e, "remove a directory of a result folder");
	return 0;
}

/* Each name costs one of the budget, also the directories on the way. */
static int sweep_dir(struct sweep *s, int dir_fd, int depth, struct error *e)
{
	int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *d;
	int failed = 0;

	if (dir == NULL) {
		own_close(&copy);
		return FAIL_SYS(e, "read a result folder");
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (failed == 0 && s->budget > 0 && (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		s->budget--;
		failed = sweep_name(s, dir_fd, d->d_name, depth, e);
	}
	(void)closedir(dir);
	return failed;
}
/* NOLINTEND(misc-no-recursion) */

int removal_step(int results_fd, size_t budget, bool *ret_more, struct error *e)
{
	AUTO_FD top_fd = -1;
	struct sweep s = { -1, budget, 0 };
	struct error no;

	*ret_more = false;
	if (open_at(results_fd, FOLDER, O_RDONLY | O_DIRECTORY, &top_fd, &no) <
	    0) {
		if (no.saved_errno == ENOENT)
			return 0;
		*e = no;
		return FAIL_IN(e, PRUNING);
	}
	s.top_fd = top_fd;
	if (sweep_dir(&s, top_fd, 0, e) < 0)
		return -1;
	/* What was lifted may stand behind where the reading began. */
	*ret_more = s.budget == 0 || s.lifted > 0;
	return 0;
}
