/*
 * executor/mountinfo.c - whether something is mounted beneath a directory.
 * Linked by bailiff-launch, where it runs in a child of the clone, in the host's
 * mount namespace, and by the supervisor.  Allocates nothing.
 *
 * A layer of an overlay is one mount alone: where another is mounted on it, it
 * has what lies hidden below, which the principal cannot see.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/mountinfo.h"

struct place {
	unsigned long long mount; /* its mount id */
	/* Its path, as mountinfo writes paths, and a slash. */
	char *path;
	size_t len;
};

/* show_mountinfo() of the kernel: these four are written as octal. */
static void escape(const char *from, size_t n, struct place *to)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr(" \t\n\\", from[i]) == NULL)
			to->path[to->len++] = from[i];
		else
			to->len += (size_t)snprintf(to->path + to->len, 5,
			    "\\%03o", (unsigned int)from[i]);
	}
	if (to->len == 0 || to->path[to->len - 1] != '/')
		to->path[to->len++] = '/';
}

#define PATH_BYTES 4096

/* Half the block is for the path, escaped. */
static int find_place(int fd, char *block, struct place *ret, struct error *e)
{
	char link[32];
	char *path = block;
	struct statx st;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 ||
	    (st.stx_mask & STATX_MNT_ID) == 0)
		return FAIL_SYS(e, "read a mount id");
	/* NOLINTNEXTLINE(readability-suspicious-call-argument) */
	n = readlink(link, path, PATH_BYTES);
	if (n <= 0 || n == PATH_BYTES)
		return FAIL_SYS(e, "read a path");
	*ret = (struct place){ st.stx_mnt_id, block + PATH_BYTES, 0 };
	escape(path, (size_t)n, ret);
	return 0;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT ..." (proc(5)), ended by a NUL. */
static bool is_below(const char *line, const struct place *place)
{
	char *at;
	unsigned long long parent;

	(void)strtoull(line, &at, 10);
	parent = strtoull(at, &at, 10);
	for (int i = 0; i < 3; i++) {
		at += strspn(at, " ");
		at += i < 2 ? strcspn(at, " ") : 0;
	}
	return parent == place->mount &&
	       strncmp(at, place->path, place->len) == 0;
}

/* Look at the whole lines in 'text'; the number of bytes they are. */
static size_t look(
    char *text, size_t n, const struct place *place, bool *ret_found)
{
	size_t done = 0;
	char *end;

	while ((end = memchr(text + done, '\n', n - done)) != NULL) {
		*end = '\0';
		*ret_found = *ret_found || is_below(text + done, place);
		done = (size_t)(end + 1 - text);
	}
	return done;
}

int mountinfo_below(
    int fd, struct mountinfo_block block, bool *ret_found, struct error *e)
{
	AUTO_FD info_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	const size_t used = (size_t)6 * PATH_BYTES;
	char *text = block.data + used;
	size_t cap = block.size > used ? block.size - used : 0;
	size_t have = 0;
	bool found = false;
	struct place place;

	if (info_fd < 0)
		return FAIL_SYS(e, "open /proc/self/mountinfo");
	if (cap == 0)
		return FAIL(e, ERROR_LIMIT, "no room for a line");
	if (find_place(fd, block.data, &place, e) < 0)
		return -1;
	for (;;) {
		ssize_t n = read(info_fd, text + have, cap - have);
		size_t done;

		if (n < 0)
			return FAIL_SYS(e, "read /proc/self/mountinfo");
		if (n == 0)
			break;
		have += (size_t)n;
		done = look(text, have, &place, &found);
		memmove(text, text + done, have - done);
		have -= done;
	}
	if (have != 0) {
		errno = E2BIG;
		return FAIL_SYS(e, "a line of mountinfo");
	}
	*ret_found = found;
	return 0;
}
