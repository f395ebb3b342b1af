/*
 * executor/sources.c - files of libraries, copied and hashed.  Linked by the
 * supervisor; runs as root, before any peer exists.  It trusts the directory as
 * far as the policy does: what is hashed here is what is installed, whatever
 * happens there later.
 */
#include "executor/sources.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "policy/libraries.h"

#define BLOCK 65536

static int open_from(const char *path, int *ret_fd, struct error *e)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0)
		return FAIL_SYS(e,
		    "policy: libraries.from: %s; make it a directory without "
		    "symbolic links on the way, or take it out",
		    path);
	*ret_fd = fd;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct result_input *i_a = a;
	const struct result_input *i_b = b;

	return strcmp(i_a->name, i_b->name);
}

static int list_files(int from_fd, const struct policy_language *l,
    struct sources *ret, struct error *e)
{
	int copy = openat(from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *d;
	int failed = 0;

	if (dir == NULL) {
		own_close(&copy);
		return FAIL_SYS(e, "read %s", l->libraries_from);
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (failed == 0 && (d = readdir(dir)) != NULL) {
		struct result_input *to = &ret->files[ret->n];

		if (!library_of_file(l, d->d_name) ||
		    strlen(d->d_name) >= sizeof(to->name))
			continue;
		if (ret->n == SOURCES_MAX) {
			failed = FAIL(e, ERROR_LIMIT,
			    "policy: libraries.from: more than %d files of "
			    "allowed libraries; allow fewer, or versions",
			    SOURCES_MAX);
			break;
		}
		to->kind = RESULT_INPUT_LIBRARY;
		memcpy(to->name, d->d_name, strlen(d->d_name) + 1);
		ret->n++;
	}
	(void)closedir(dir);
	qsort(ret->files, ret->n, sizeof(ret->files[0]), compare);
	return failed;
}

static int copy_bytes(
    int from, int to, struct result_input *ret, struct error *e)
{
	AUTO_FREE uint8_t *block = malloc(BLOCK);
	struct sha256 hash;

	if (block == NULL)
		return FAIL_SYS(e, "copy a library");
	sha256_init(&hash);
	for (;;) {
		ssize_t n = read(from, block, BLOCK);

		if (n < 0)
			return FAIL_SYS(e, "read it");
		if (n == 0)
			break;
		sha256_add(&hash, block, (size_t)n);
		if (file_write_all(to, block, (size_t)n, e) < 0)
			return -1;
		ret->size += (uint64_t)n;
	}
	sha256_done(&hash, ret->sha256);
	return 0;
}

static int copy_one(int from_fd, struct result_input *file,
    struct layer_making *m, struct error *e)
{
	const struct file_open what = { from_fd, file->name, O_RDONLY, 0 };
	AUTO_FD fd = -1;
	struct stat st;
	int to = -1;

	if (file_open_beneath(&what, &fd, e) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "look at it");
	if (!S_ISREG(st.st_mode))
		return FAIL(e, ERROR_MALFORMED, "not a regular file");
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	if (layers_add(m, file->name, &to, e) < 0 ||
	    copy_bytes(fd, to, file, e) < 0)
		return -1;
	return layers_added(m, file->name, file->sha256, e);
}

static int copy_all(int layers_fd, const char *id, int from_fd,
    struct sources *s, struct error *e)
{
	struct layer_making m;
	uint8_t digest[SHA256_BYTES];
	char name[LAYERS_NAME_MAX];
	char hex[SHA256_HEX];
	uint64_t size;

	if (layers_begin(layers_fd, id, &m, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (copy_one(from_fd, &s->files[i], &m, e) < 0) {
			layers_drop(layers_fd, &m);
			return FAIL_IN(
			    e, "policy: libraries.from: %s", s->files[i].name);
		}
	if (sha256_of_fd(m.list_fd, digest, &size, e) < 0) {
		layers_drop(layers_fd, &m);
		return -1;
	}
	sha256_hex(digest, hex);
	(void)snprintf(name, sizeof(name), "sources-%s", hex);
	return layers_commit(layers_fd, &m, name, &s->layer, e);
}

int sources_copy(int layers_fd, const char *id, const struct policy_language *l,
    struct sources *ret, struct error *e)
{
	struct sources s = { .layer = { .tree_fd = -1 } };
	AUTO_FD from_fd = -1;

	if (open_from(l->libraries_from, &from_fd, e) < 0)
		return -1;
	s.files = calloc(SOURCES_MAX + 1, sizeof(s.files[0]));
	if (s.files == NULL)
		return FAIL_SYS(e, "list the files of libraries");
	if (list_files(from_fd, l, &s, e) < 0 ||
	    copy_all(layers_fd, id, from_fd, &s, e) < 0) {
		free(s.files);
		return -1;
	}
	*ret = s;
	return 0;
}
