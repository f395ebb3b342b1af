/*
 * executor/walk.c - the walk.  Linked by bailiff-collect.  Names are hostile,
 * except that the kernel lets neither NUL nor slash into one.
 */
#include "executor/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

#define BLOCK_BYTES 32768
/* The shortest record of getdents64(2) takes 24 bytes. */
#define BLOCK_NAMES (BLOCK_BYTES / 24)

/* One directory on the way down. */
struct level {
	int fd;
	size_t path_len; /* of the directory's own path */
	size_t n, at;    /* names of this block */
	const char *names[BLOCK_NAMES];
	_Alignas(struct dirent64) char block[BLOCK_BYTES];
};

struct walk {
	size_t depth; /* levels in use; 0: the end */
	size_t max_depth;
	uint64_t n_entries, max_entries;
	const char *only, *but; /* at the top; borrowed */
	char path[WALK_PATH_MAX + 1];
	struct level levels[WALK_DEPTH_MAX];
};

int walk_open(int take_dir_fd, struct walk_limits limits, struct walk **ret,
    struct error *e)
{
	/* Levels that are never reached are never touched. */
	struct walk *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		(void)close(take_dir_fd);
		return FAIL(e, ERROR_LIMIT, "no memory for a walk");
	}
	w->max_depth = limits.max_depth < WALK_DEPTH_MAX
	                   ? (size_t)limits.max_depth
	                   : WALK_DEPTH_MAX;
	w->max_entries = limits.max_entries;
	w->only = limits.only;
	w->but = limits.but;
	w->levels[0].fd = take_dir_fd;
	w->depth = 1;
	*ret = w;
	return 0;
}

void walk_free(struct walk *w)
{
	if (w == NULL)
		return;
	while (w->depth > 0)
		(void)close(w->levels[--w->depth].fd);
	free(w);
}

/* Shell sort: no recursion, no memory; a block has some thousand names. */
static void sort(const char **names, size_t n)
{
	for (size_t gap = n / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < n; i++) {
			const char *name = names[i];
			size_t j = i;

			while (j >= gap && strcmp(names[j - gap], name) > 0) {
				names[j] = names[j - gap];
				j -= gap;
			}
			names[j] = name;
		}
}

/* Keep the names of one buffer, sorted. */
static void keep_names(struct level *l, long len)
{
	for (long at = 0; at < len;) {
		const struct dirent64 *entry =
		    (const struct dirent64 *)(const void *)(l->block + at);

		at += entry->d_reclen;
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 && l->n < BLOCK_NAMES)
			l->names[l->n++] = entry->d_name;
	}
	sort(l->names, l->n);
}

/* The next block of names; n is 0 at the end.  False if it cannot be read. */
static bool fill(struct level *l)
{
	long got;

	l->n = 0;
	l->at = 0;
	/* A buffer of nothing but "." and ".." is not the end. */
	do {
		got =
		    syscall(SYS_getdents64, l->fd, l->block, sizeof(l->block));
		if (got > 0)
			keep_names(l, got);
	} while (got > 0 && l->n == 0);
	return got >= 0;
}

static void leave(struct walk *w)
{
	(void)close(w->levels[--w->depth].fd);
}

/* The path of 'name' in 'l'; false if it had to be cut. */
static bool compose(
    struct walk *w, const struct level *l, const char *name, size_t *ret_len)
{
	size_t at = l->path_len;
	size_t room;
	size_t len = strlen(name);

	if (at > 0 && at < WALK_PATH_MAX)
		w->path[at++] = '/';
	room = WALK_PATH_MAX - at;
	*ret_len = at + (len < room ? len : room);
	memcpy(w->path + at, name, *ret_len - at);
	w->path[*ret_len] = '\0';
	return len <= room;
}

static bool enter(struct walk *w, const struct walk_entry *entry)
{
	struct level *next = &w->levels[w->depth];
	struct file_open what = { entry->dir_fd, entry->name,
		O_RDONLY | O_DIRECTORY, 0 };
	struct error e;

	if (file_open_beneath(&what, &next->fd, &e) < 0)
		return false;
	next->path_len = entry->path_len;
	next->n = 0;
	next->at = 0;
	w->depth++;
	return true;
}

static void give_directory(
    struct walk *w, enum walk_what what, struct walk_entry *ret)
{
	const struct level *l = &w->levels[w->depth - 1];

	w->path[l->path_len] = '\0';
	ret->what = what;
	ret->path_len = l->path_len;
}

/* A name at the top that this walk is not about. */
static bool is_passed_over(const struct walk *w, const char *name)
{
	return (w->only != NULL && strcmp(name, w->only) != 0) ||
	       (w->but != NULL && strcmp(name, w->but) == 0);
}

/* WALK_END stands for "passed over" or "a directory that was entered": nothing
 * to say. */
static enum walk_what look(struct walk *w, struct walk_entry *ret)
{
	struct level *l = &w->levels[w->depth - 1];

	ret->name = l->names[l->at++];
	ret->dir_fd = l->fd;
	if (w->depth == 1 && is_passed_over(w, ret->name))
		return WALK_END;
	if (!compose(w, l, ret->name, &ret->path_len))
		return WALK_LONG;
	if (fstatat(l->fd, ret->name, &ret->st, AT_SYMLINK_NOFOLLOW) < 0)
		return WALK_UNREADABLE;
	if (!S_ISDIR(ret->st.st_mode))
		return WALK_ENTRY;
	if (w->depth >= w->max_depth)
		return WALK_DEEP;
	return enter(w, ret) ? WALK_END : WALK_UNREADABLE;
}

void walk_next(struct walk *w, struct walk_entry *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->path = w->path;
	ret->dir_fd = -1;
	while (w->depth > 0) {
		struct level *l = &w->levels[w->depth - 1];

		if (w->depth > w->max_depth) { /* no depth at all is allowed */
			give_directory(w, WALK_DEEP, ret);
			leave(w);
			return;
		}
		if (l->at == l->n && !fill(l)) {
			give_directory(w, WALK_UNREADABLE, ret);
			leave(w);
			return;
		}
		if (l->n == 0) {
			leave(w);
			continue;
		}
		if (w->n_entries++ == w->max_entries) {
			give_directory(w, WALK_FULL, ret);
			while (w->depth > 0)
				leave(w);
			return;
		}
		ret->what = look(w, ret);
		if (ret->what != WALK_END)
			return;
	}
	*ret = (struct walk_entry){ WALK_END, .path = "", .dir_fd = -1 };
}
