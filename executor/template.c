/*
 * executor/template.c - the file view as data.  Linked by the supervisor, used
 * once at start, before any peer exists.  It trusts the host's /usr and /etc.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/template_maker.h"
#include "policy/environment.h"
#include "policy/mounts.h"

enum {
	MODE_DIRECTORY = 0755,
	MODE_FILE = 0444
};
#define ETC_FILE_MAX 1048576

/* Files that say who and where the program is, the same on every host. */
static const struct {
	const char *path;
	const char *text;
} generated[] = {
	{ "etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
	                "sandbox:x:1000:1000:sandbox:/sandbox:/bin/sh\n"
	                "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n" },
	{ "etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n" },
	{ "etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n" },
	{ "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
	{ "etc/hostname", "sandbox\n" },
};

static void hash_text(struct sha256 *h, const char *text)
{
	sha256_add(h, text, strlen(text) + 1);
}

/* One more entry; 'fd' is taken, also on failure. */
static int add(struct maker *m, const struct launch_entry *entry, int take)
{
	AUTO_FD fd = take;
	struct template *t = m->t;
	uint8_t digest[SHA256_BYTES] = { 0 };
	char head[64];
	uint64_t size = 0;

	if (t->n == TEMPLATE_ENTRIES_MAX)
		return FAIL(m->e, ERROR_LIMIT,
		    "more than %d entries in the view", TEMPLATE_ENTRIES_MAX);
	if (entry->kind == ENTRY_FILE &&
	    sha256_of_fd(fd, digest, &size, m->e) < 0)
		return -1;
	(void)snprintf(head, sizeof(head), "%u %o %" PRIu64, entry->kind,
	    entry->mode, size);
	hash_text(&m->hash, head);
	hash_text(&m->hash, entry->path);
	hash_text(&m->hash, entry->target);
	sha256_add(&m->hash, digest, sizeof(digest));
	t->items[t->n].entry = *entry;
	t->items[t->n].fd = take_fd(&fd);
	t->n++;
	return 0;
}

static int set_text(char *to, size_t cap, const char *text, struct error *e)
{
	size_t n = strlen(text);

	if (n >= cap)
		return FAIL(e, ERROR_LIMIT, "%s: path too long", text);
	memcpy(to, text, n + 1);
	return 0;
}

int maker_add(struct maker *m, uint32_t kind, const char *path, int take)
{
	AUTO_FD fd = take;
	struct launch_entry entry = { .kind = kind,
		.mode = kind == ENTRY_FILE ? MODE_FILE : MODE_DIRECTORY };

	if (set_text(entry.path, sizeof(entry.path), path, m->e) < 0)
		return -1;
	return add(m, &entry, take_fd(&fd));
}

static int add_symlink(
    struct maker *m, int dir_fd, const char *name, const char *path)
{
	struct launch_entry entry = { .kind = ENTRY_SYMLINK, .mode = 0777 };
	ssize_t n =
	    readlinkat(dir_fd, name, entry.target, sizeof(entry.target) - 1);

	if (n < 0)
		return FAIL_SYS(m->e, "read the link %s", name);
	if ((size_t)n == sizeof(entry.target) - 1)
		return FAIL(m->e, ERROR_LIMIT, "%s: link too long", name);
	if (set_text(entry.path, sizeof(entry.path), path, m->e) < 0)
		return -1;
	return add(m, &entry, -1);
}

/* A copy of one small file that everybody may read. */
static int add_file(
    struct maker *m, int dir_fd, const char *name, const char *path)
{
	AUTO_FD fd = openat(
	    dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int copy;
	uint64_t size;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(m->e, "open /%s", path);
	if (!S_ISREG(st.st_mode) || (st.st_mode & S_IROTH) == 0)
		return FAIL(m->e, ERROR_DENIED,
		    "/%s: not a file that everybody may read", path);
	if (memfd_copy(fd, ETC_FILE_MAX, &copy, &size, m->e) < 0)
		return FAIL_IN(m->e, "/%s", path);
	return maker_add(m, ENTRY_FILE, path, copy);
}

/* What lies in a directory, not deeper: links and files. */
static int add_inner(
    struct maker *m, int dir_fd, const char *name, const char *path)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return FAIL_SYS(m->e, "stat /%s", path);
	if (S_ISLNK(st.st_mode))
		return add_symlink(m, dir_fd, name, path);
	return S_ISREG(st.st_mode) ? add_file(m, dir_fd, name, path) : 0;
}

/* Of alternatives(1), say. */
static int add_directory(struct maker *m, int take_dir_fd, const char *path)
{
	DIR *dir = fdopendir(take_dir_fd);
	const struct dirent *d;
	int failed;

	if (dir == NULL) {
		own_close(&take_dir_fd);
		return FAIL_SYS(m->e, "read /%s", path);
	}
	failed = maker_add(m, ENTRY_DIRECTORY, path, -1);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (failed == 0 && (d = readdir(dir)) != NULL) {
		char inner[2 * LAUNCH_PATH_MAX];

		(void)snprintf(inner, sizeof(inner), "%s/%s", path, d->d_name);
		failed = add_inner(m, dirfd(dir), d->d_name, inner);
	}
	(void)closedir(dir);
	return failed;
}

bool maker_has(const struct maker *m, const char *path)
{
	for (size_t i = 0; i < m->t->n; i++)
		if (strcmp(m->t->items[i].entry.path, path) == 0)
			return true;
	return false;
}

/* Directories between "etc" and the entry. */
static int add_parents(struct maker *m, const char *path)
{
	char parent[LAUNCH_PATH_MAX];

	for (const char *at = strchr(path, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		(void)snprintf(
		    parent, sizeof(parent), "%.*s", (int)(at - path), path);
		if (!maker_has(m, parent) &&
		    maker_add(m, ENTRY_DIRECTORY, parent, -1) < 0)
			return -1;
	}
	return 0;
}

/* 'name' is beneath /etc, with or without that in front. */
static int add_etc(struct maker *m, const char *name)
{
	char path[LAUNCH_PATH_MAX];
	char host[LAUNCH_PATH_MAX + 1];
	struct stat st;
	int n;

	if (strncmp(name, "/etc/", 5) == 0)
		name += 5;
	n = snprintf(path, sizeof(path), "etc/%s", name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return FAIL(m->e, ERROR_LIMIT, "%s: path too long", name);
	(void)snprintf(host, sizeof(host), "/%s", path);
	if (maker_has(m, path) || lstat(host, &st) < 0)
		return 0; /* this host has none */
	if (add_parents(m, path) < 0)
		return -1;
	if (S_ISLNK(st.st_mode))
		return add_symlink(m, AT_FDCWD, host, path);
	if (S_ISDIR(st.st_mode)) {
		int fd =
		    open(host, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return FAIL_SYS(m->e, "open %s", host);
		return add_directory(m, fd, path);
	}
	return add_file(m, AT_FDCWD, host, path);
}

static int add_top(struct maker *m)
{
	if (maker_add_tree(m, mounts_tops[0]) < 0)
		return -1;
	/* Either links into /usr (a merged /usr) or trees of their own. */
	for (size_t i = 1; i < MOUNTS_TOPS_N; i++) {
		char path[16];
		struct stat st;

		(void)snprintf(path, sizeof(path), "/%s", mounts_tops[i]);
		if (lstat(path, &st) < 0)
			continue; /* this host has none */
		if (S_ISLNK(st.st_mode)
		        ? add_symlink(m, AT_FDCWD, path, mounts_tops[i]) < 0
		        : maker_add_tree(m, mounts_tops[i]) < 0)
			return -1;
	}
	return maker_add(m, ENTRY_DIRECTORY, "etc", -1);
}

static int add_generated(struct maker *m)
{
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++) {
		int fd;

		if (memfd_of("view", generated[i].text,
		        strlen(generated[i].text), &fd, m->e) < 0 ||
		    maker_add(m, ENTRY_FILE, generated[i].path, fd) < 0)
			return -1;
	}
	return 0;
}

/* Where layers of ours are mounted: executor/launch.h, LAUNCH_PLACE_OPT. */
static int add_points(struct maker *m, const struct policy_language *l)
{
	static const char *const points[] = { "opt", "opt/libraries",
		"opt/sources" };

	if (l->n_libraries == 0)
		return 0;
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		if (!maker_has(m, points[i]) &&
		    maker_add(m, ENTRY_DIRECTORY, points[i], -1) < 0)
			return -1;
	return 0;
}

static int add_languages(struct maker *m, const struct policy *policy)
{
	for (size_t i = 0; i < policy->n_languages; i++) {
		const struct language *l = &policy->languages[i].language;

		for (size_t j = 0; j < l->n_etc; j++)
			if (add_etc(m, l->etc[j]) < 0)
				return FAIL_IN(m->e, "language %s", l->name);
		if (add_points(m, &policy->languages[i]) < 0 ||
		    maker_add_denied(m, &policy->languages[i]) < 0)
			return FAIL_IN(m->e, "language %s", l->name);
	}
	return 0;
}

static int add_parts(struct maker *m)
{
	for (size_t i = 0; i < m->t->n_parts; i++) {
		const struct policy_part *part = &m->t->parts[i];
		char path[LAUNCH_PATH_MAX];
		int fd;

		(void)snprintf(path, sizeof(path), "%s/%s", &LANGUAGE_PLACE[1],
		    part->path);
		if (memfd_of("view", part->data, part->len, &fd, m->e) < 0 ||
		    maker_add(m, ENTRY_FILE, path, fd) < 0)
			return FAIL_IN(m->e, "/%s", path);
	}
	return 0;
}

/* The table of the posture has the same words. */
static int add_own(
    struct template *t, const struct mount_line *own, struct error *e)
{
	struct posture_mount mount = { .read_only = own->read_only,
		.devices = own->devices };

	_Static_assert(sizeof(mount.point) == sizeof(own->point) &&
	                   sizeof(mount.type) == sizeof(own->type),
	    "a line fits");
	memcpy(mount.point, own->point, sizeof(mount.point));
	memcpy(mount.type, own->type, sizeof(mount.type));
	return template_add_own(t, &mount, e);
}

static int fill(struct maker *m, const struct policy *policy)
{
	size_t n;
	const struct mount_line *own =
	    mounts_own(m->t->rootless ? MOUNTS_OF_USER : MOUNTS_OF_ROOT, &n);

	if (add_top(m) < 0 || maker_add_inner(m) < 0 || add_generated(m) < 0 ||
	    add_languages(m, policy) < 0 || add_parts(m) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_own(m->t, &own[i], m->e) < 0)
			return -1;
	return 0;
}

int template_make(
    const struct policy *policy, struct template *ret, struct error *e)
{
	struct maker m = { .t = ret, .e = e };
	const struct template asked = *ret;

	memset(ret, 0, sizeof(*ret));
	ret->rootless = asked.rootless;
	ret->parts = asked.parts;
	ret->n_parts = asked.n_parts;
	ret->items = calloc(TEMPLATE_ENTRIES_MAX, sizeof(ret->items[0]));
	if (ret->items == NULL)
		return FAIL_SYS(e, "allocate the file view");
	sha256_init(&m.hash);
	if (fill(&m, policy) < 0) {
		template_done(ret);
		return FAIL_IN(e, "file view");
	}
	sha256_done(&m.hash, ret->sha256);
	return 0;
}

void template_done(struct template *t)
{
	for (size_t i = 0; t->items != NULL && i < t->n; i++)
		own_close(&t->items[i].fd);
	free(t->items);
	t->items = NULL;
	t->n = 0;
}
