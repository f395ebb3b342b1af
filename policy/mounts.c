/*
 * policy/mounts.c - the mounts of a run.  Linked by bailiff-policy and the
 * supervisor.  It trusts the host's mount table and toolchain directories.
 */
#include "policy/mounts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "policy/path.h"

#define MOUNTINFO_MAX 1048576

const char *const mounts_tops[MOUNTS_TOPS_N] = { "usr", "bin", "sbin", "lib",
	"lib32", "lib64", "libx32" };

static const struct mount_line own_of_root[] = {
	{ "/", "tmpfs", true, false },
	{ "/dev", "tmpfs", true, true },
	{ "/dev/shm", "tmpfs", false, false },
	{ "/proc", "proc", false, false },
	{ "/sandbox", "tmpfs", false, false },
	{ "/tmp", "tmpfs", false, false },
};

static const struct mount_line own_of_user[] = {
	{ "/", "tmpfs", true, false },
	{ "/dev", "tmpfs", true, false },
	{ "/dev/full", "tree", true, true },
	{ "/dev/null", "tree", true, true },
	{ "/dev/random", "tree", true, true },
	{ "/dev/shm", "tmpfs", false, false },
	{ "/dev/urandom", "tree", true, true },
	{ "/dev/zero", "tree", true, true },
	{ "/proc", "proc", false, false },
	{ "/sandbox", "tmpfs", false, false },
	{ "/tmp", "tmpfs", false, false },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

const struct mount_line *mounts_own(enum mounts_of of, size_t *ret_n)
{
	*ret_n = of == MOUNTS_OF_ROOT ? ROWS(own_of_root) : ROWS(own_of_user);
	return of == MOUNTS_OF_ROOT ? own_of_root : own_of_user;
}

/* As proc(5) writes it: space, tab, newline and backslash are \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at != '\0'; to++) {
		bool octal = at[0] == '\\' && strspn(at + 1, "01234567") >= 3;

		*to = *at;
		if (octal)
			*to = (char)(unsigned char)((at[1] - '0') * 64 +
			                            (at[2] - '0') * 8 +
			                            (at[3] - '0'));
		at += octal ? 4 : 1;
	}
	*to = '\0';
}

/* The fifth word of a line of mountinfo (proc(5)). */
static int mount_point(const char *line, char ret[MOUNTS_POINT_MAX])
{
	size_t n;

	for (int i = 0; i < 4; i++) {
		line += strcspn(line, " ");
		line += *line == ' ';
	}
	n = strcspn(line, " ");
	if (n == 0 || n >= MOUNTS_POINT_MAX)
		return -1;
	memcpy(ret, line, n);
	ret[n] = '\0';
	unescape(ret);
	return 0;
}

/* "/usr/x" beneath "usr". */
static bool is_inner(const struct mounts_walk *walk, const char *point)
{
	for (size_t i = 0; i < walk->n_tops; i++) {
		size_t n = strlen(walk->tops[i]);

		if (strncmp(point + 1, walk->tops[i], n) == 0 &&
		    point[1 + n] == '/')
			return true;
	}
	return false;
}

int mounts_each_inner(const struct mounts_walk *walk, struct error *e)
{
	AUTO_FD fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	uint8_t *data;
	size_t len;
	char *rest = NULL;

	if (fd < 0)
		return FAIL_SYS(e, "open /proc/self/mountinfo");
	if (file_read_all(fd, MOUNTINFO_MAX, &data, &len, e) < 0)
		return FAIL_IN(e, "/proc/self/mountinfo");
	text = (char *)data;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		char point[MOUNTS_POINT_MAX];

		if (mount_point(line, point) < 0)
			return FAIL(e, ERROR_MALFORMED, "mountinfo");
		if (is_inner(walk, point) &&
		    walk->each(walk->context, point, e) < 0)
			return -1;
	}
	return 0;
}

enum mounts_inner mounts_inner_kind(const char *point, const struct stat *st)
{
	/* Only what stands in mountinfo as it is. */
	if (strpbrk(point, " \t\n\\") != NULL)
		return MOUNTS_INNER_HIDDEN;
	if (S_ISDIR(st->st_mode))
		return MOUNTS_INNER_TREE;
	return S_ISREG(st->st_mode) ? MOUNTS_INNER_FILE : MOUNTS_INNER_HIDDEN;
}

static int add(
    struct mounts *to, const char *point, const char *type, struct error *e)
{
	struct mount_line line = { .read_only = true };
	int n = snprintf(line.point, sizeof(line.point), "%s", point);

	if (n < 0 || (size_t)n >= sizeof(line.point))
		return FAIL(e, ERROR_LIMIT, "%s: path too long", point);
	for (size_t i = 0; i < to->n; i++)
		if (strcmp(to->items[i].point, point) == 0)
			return 0; /* mounted over */
	if (to->n == MOUNTS_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d mounts", MOUNTS_MAX);
	(void)snprintf(line.type, sizeof(line.type), "%s", type);
	to->items[to->n++] = line;
	return 0;
}

static int add_inner(void *context, const char *point, struct error *e)
{
	struct stat st;
	enum mounts_inner kind;
	/* Opened as the service does: what cannot be reached is not there. */
	AUTO_FD fd = open(point, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	kind = mounts_inner_kind(point, &st);
	if (kind == MOUNTS_INNER_HIDDEN)
		return 0;
	return add(
	    context, point, kind == MOUNTS_INNER_TREE ? "overlay" : "tree", e);
}

int mounts_find(enum mounts_of of, struct mounts *ret, struct error *e)
{
	const char *tops[MOUNTS_TOPS_N];
	struct mounts_walk walk = { tops, 0, add_inner, ret };
	size_t n;
	const struct mount_line *own = mounts_own(of, &n);

	memcpy(ret->items, own, n * sizeof(own[0]));
	ret->n = n;
	for (size_t i = 0; i < MOUNTS_TOPS_N; i++) {
		char path[16];
		struct stat st;

		(void)snprintf(path, sizeof(path), "/%s", mounts_tops[i]);
		if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
			continue; /* none, or a link into /usr */
		tops[walk.n_tops++] = mounts_tops[i];
		if (add(ret, path, "overlay", e) < 0)
			return -1;
	}
	return mounts_each_inner(&walk, e);
}

int mounts_add_request(
    struct mounts *to, const struct policy_request *request, struct error *e)
{
	for (size_t i = 0; i < request->n_inputs; i++) {
		const struct policy_input *input = &request->inputs[i];
		char point[sizeof("/sandbox/") + PATH_MOUNT_NAME_MAX];

		if (input->kind != POLICY_INPUT_DIRECTORY)
			continue;
		(void)snprintf(
		    point, sizeof(point), "/sandbox/%s", input->name);
		if (add(to, point, "overlay", e) < 0)
			return -1;
	}
	return 0;
}
