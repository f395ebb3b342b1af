/*
 * audit/verify_folder.c - one result folder against its MANIFEST.  Linked by
 * the audit reader.
 *
 * Names and files are hostile: nothing is followed, nothing but a regular file
 * is opened, and no open waits (base/file.h).
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/manifest.h"
#include "audit/verify_results.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"

#define DEPTH_MAX 64

/* The names that MANIFEST cannot hold. */
static const char *const outside[] = { "MANIFEST", "record.dsse.json",
	"record.tlog-proof" };

struct walk {
	struct verify *v;
	const struct verify_folder *folder;
	const struct manifest *manifest;
	size_t len; /* of path */
	char path[MANIFEST_NAME_MAX + 256];
};

static void own_dir(DIR **dir)
{
	if (*dir != NULL)
		(void)closedir(*dir);
}

static bool is_listed(const struct walk *w)
{
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		if (strcmp(w->path, outside[i]) == 0)
			return true;
	return manifest_find(w->manifest, w->path, w->len) != NULL;
}

static int walk_dir(struct walk *w, int dir_fd, size_t depth, struct error *e);

/* NOLINTBEGIN(misc-no-recursion): it ends at DEPTH_MAX; deeper is none of ours */
/* 'name' in the directory 'dir_fd'; w->path is its path in the folder. */
static int walk_one(
    struct walk *w, int dir_fd, const char *name, size_t depth, struct error *e)
{
	struct file_open what = { dir_fd, name, O_RDONLY | O_DIRECTORY, 0 };
	struct stat st;
	AUTO_FD fd = -1;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return FAIL_SYS(e, "results/%s/%s", w->folder->name, w->path);
	if (S_ISREG(st.st_mode)) {
		if (!is_listed(w))
			(void)VERIFY_BAD(w->v, w->folder->place,
			    "results.unlisted", "only files of MANIFEST",
			    "%s/%s", w->folder->name, w->path);
		return 0;
	}
	if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX) {
		(void)VERIFY_BAD(w->v, w->folder->place, "results.kind",
		    "regular files and folders", "%s/%s is neither",
		    w->folder->name, w->path);
		return 0;
	}
	if (file_open_beneath(&what, &fd, e) < 0)
		return FAIL_IN(e, "results/%s/%s", w->folder->name, w->path);
	return walk_dir(w, fd, depth + 1, e);
}

/* A name in the directory 'dir_fd', whose own path w->path holds. */
static int walk_name(
    struct walk *w, int dir_fd, const char *name, size_t depth, struct error *e)
{
	size_t before = w->len;
	int done;
	int n = snprintf(w->path + before, sizeof(w->path) - before, "%s%s",
	    before > 0 ? "/" : "", name);

	if (n < 0 || before + (size_t)n >= MANIFEST_NAME_MAX) {
		w->path[before] = '\0';
		(void)VERIFY_BAD(w->v, w->folder->place, "results.unlisted",
		    "only files of MANIFEST", "a path too long for it in %s",
		    w->folder->name);
		return 0;
	}
	w->len = before + (size_t)n;
	done = walk_one(w, dir_fd, name, depth, e);
	w->len = before;
	w->path[before] = '\0';
	return done;
}

static int walk_dir(struct walk *w, int dir_fd, size_t depth, struct error *e)
{
	__attribute__((cleanup(own_dir))) DIR *dir = NULL;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		dir = fdopendir(fd);
	if (dir == NULL) {
		own_close(&fd);
		return FAIL_SYS(e, "results/%s/%s", w->folder->name, w->path);
	}
	for (;;) {
		const struct dirent *d;

		errno = 0;
		d = readdir(dir); // NOLINT(concurrency-mt-unsafe): one thread
		if (d == NULL && errno != 0)
			return FAIL_SYS(e, "results/%s", w->folder->name);
		if (d == NULL)
			return 0;
		if (strcmp(d->d_name, ".") != 0 &&
		    strcmp(d->d_name, "..") != 0 &&
		    walk_name(w, dir_fd, d->d_name, depth, e) < 0)
			return -1;
	}
}
/* NOLINTEND(misc-no-recursion) */

/* Is a file that does not match shorter than it was?  Of stdout and stderr the
 * record has the size; an empty file is shorter than any other. */
static bool is_short(
    const struct verify_folder *f, const char *name, uint64_t size)
{
	const struct c1_value *stream = NULL;
	struct c1_value recorded;
	uint64_t whole;

	if (size == 0)
		return true;
	if (strcmp(name, "stdout") == 0)
		stream = &f->outcome->fields[ENTRY_STDOUT];
	else if (strcmp(name, "stderr") == 0)
		stream = &f->outcome->fields[ENTRY_STDERR];
	if (stream == NULL)
		return false;
	recorded = c1_member(stream, "size");
	return c1_number(&recorded, &whole) && size < whole;
}

static int not_regular(
    struct verify *v, const struct verify_folder *f, const char *name)
{
	(void)VERIFY_BAD(v, f->place, "results.kind",
	    "a regular file, no link on the way", "%s/%s is something else",
	    f->name, name);
	return 0;
}

/* *ret_fd stays -1 when the file was reported instead. */
static int open_file(struct verify *v, const struct verify_folder *f,
    const char *name, int *ret_fd, struct error *e)
{
	struct file_open what = { f->dir_fd, name, O_RDONLY, 0 };
	struct stat st;
	AUTO_FD fd = -1;

	if (fstatat(f->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return verify_lost(v, f, name, e);
		if (errno == ENOTDIR || errno == ELOOP)
			return not_regular(v, f, name);
		return FAIL_SYS(e, "results/%s/%s", f->name, name);
	}
	if (!S_ISREG(st.st_mode))
		return not_regular(v, f, name);
	if (file_open_beneath(&what, &fd, e) < 0) {
		if (e->saved_errno == ELOOP || e->saved_errno == EXDEV)
			return not_regular(v, f, name);
		return FAIL_IN(e, "results/%s/%s", f->name, name);
	}
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "results/%s/%s", f->name, name);
	if (!S_ISREG(st.st_mode))
		return not_regular(v, f, name);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int check_file(struct verify *v, const struct verify_folder *f,
    const struct manifest_line *line, struct error *e)
{
	char name[MANIFEST_NAME_MAX];
	char expected[SHA256_HEX], found[SHA256_HEX];
	uint8_t digest[SHA256_BYTES];
	uint64_t size;
	AUTO_FD fd = -1;

	memcpy(name, line->name, line->name_len);
	name[line->name_len] = '\0';
	if (open_file(v, f, name, &fd, e) < 0)
		return -1;
	if (fd < 0)
		return 0;
	if (sha256_of_fd(fd, digest, &size, e) < 0)
		return FAIL_IN(e, "results/%s/%s", f->name, name);
	if (memcmp(digest, line->sha256, sizeof(digest)) == 0)
		return 0;
	if (is_short(f, name, size))
		return verify_lost(v, f, name, e);
	sha256_hex(line->sha256, expected);
	sha256_hex(digest, found);
	(void)VERIFY_BAD(v, f->place, "results.file", expected, "%s/%s: %s",
	    f->name, name, found);
	return 0;
}

static int check_listed(struct verify *v, const struct verify_folder *f,
    const struct manifest *m, struct error *e)
{
	struct walk *w = calloc(1, sizeof(*w));
	int done;

	if (w == NULL)
		return FAIL_SYS(e, "allocate the walk of a result folder");
	w->v = v;
	w->folder = f;
	w->manifest = m;
	done = walk_dir(w, f->dir_fd, 0, e);
	free(w);
	for (size_t i = 0; done == 0 && i < m->n_lines; i++)
		done = check_file(v, f, &m->lines[i], e);
	return done;
}

static int check_manifest(struct verify *v, const struct verify_folder *f,
    const uint8_t *text, size_t len, struct error *e)
{
	char expected[SHA256_HEX], found[SHA256_HEX];
	uint8_t recorded[SHA256_BYTES], digest[SHA256_BYTES];
	struct manifest m;
	struct error why;
	int done;

	sha256_of(text, len, digest);
	if (!c1_hex(&f->outcome->fields[ENTRY_MANIFEST], recorded,
	        sizeof(recorded))) {
		(void)VERIFY_BAD(v, f->place, "record.field",
		    "manifest, 64 hex digits", "something else");
		return 0;
	}
	if (memcmp(digest, recorded, sizeof(digest)) != 0) {
		sha256_hex(recorded, expected);
		sha256_hex(digest, found);
		(void)VERIFY_BAD(v, f->place, "results.manifest", expected,
		    "%s/MANIFEST: %s", f->name, found);
		return 0;
	}
	if (manifest_read((const char *)text, len, &m, &why) < 0) {
		(void)VERIFY_BAD(v, f->place, "results.manifest",
		    "sha256sum format, sorted", "%s: %s", f->name, why.text);
		return 0;
	}
	done = check_listed(v, f, &m, e);
	if (done == 0)
		done = verify_trace(v, f, &m, e);
	manifest_done(&m);
	return done;
}

int verify_folder(
    struct verify *v, const struct verify_folder *f, struct error *e)
{
	AUTO_FREE uint8_t *text = NULL;
	AUTO_FD fd = -1;
	size_t len;

	if (open_file(v, f, "MANIFEST", &fd, e) < 0)
		return -1;
	if (fd < 0)
		return 0;
	if (file_read_all(fd, MANIFEST_BYTES_MAX, &text, &len, e) < 0)
		return FAIL_IN(e, "results/%s/MANIFEST", f->name);
	if (len == 0)
		return verify_lost(v, f, "MANIFEST", e);
	return check_manifest(v, f, text, len, e);
}
