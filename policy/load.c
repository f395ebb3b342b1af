/*
 * policy/load.c - policy and language files from disk.  Linked by
 * bailiff-policy and the supervisor.  It trusts no file: each is opened once,
 * checked through its descriptor and read from it.
 */
#include "policy/load.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "policy/parse.h"

#define LOAD_LANGUAGES_MAX (POLICY_FILES_MAX - 2)
#define LOAD_PATH_MAX      4352 /* a directory's path, a slash, NAME_MAX */

/* The texts while they are parsed. */
struct texts {
	size_t n;
	struct policy_text items[LOAD_LANGUAGES_MAX];
	uint8_t *data[LOAD_LANGUAGES_MAX]; /* owned; 'items' borrow them */
	struct reader reader;
	char names[LOAD_LANGUAGES_MAX][LOAD_PATH_MAX];
};

static void texts_free(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->data[i]);
	free(t);
}

static void note(const struct stat *st, int fd, struct policy_file *ret)
{
	*ret = (struct policy_file){
		.fd = fd,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_s = st->st_mtim.tv_sec,
		.mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
		.ctime_s = st->st_ctim.tv_sec,
		.ctime_ns = (uint32_t)st->st_ctim.tv_nsec,
	};
}

/* Whoever may write here may decide what runs. */
static int check_owner(const struct stat *st, struct error *e)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return FAIL(e, ERROR_DENIED,
		    "owned by uid %u; it must be root's or your own",
		    st->st_uid);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return FAIL(e, ERROR_DENIED,
		    "writable by group or others; run chmod go-w on it");
	return 0;
}

struct source {
	int dir_fd; /* borrowed */
	const char *name;
};

static int read_source(const struct source *from, struct policy_file *ret_file,
    uint8_t **ret_data, size_t *ret_len, struct error *e)
{
	AUTO_FD fd = openat(from->dir_fd, from->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	AUTO_FD path_fd = -1;
	char self[64];
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return FAIL(
		    e, ERROR_DENIED, "a symbolic link; name the file itself");
	if (fd < 0)
		return FAIL_SYS(e, "open");
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat");
	if (!S_ISREG(st.st_mode))
		return FAIL(e, ERROR_DENIED, "not a regular file");
	if (check_owner(&st, e) < 0)
		return -1;
	/* Kept without the right to read: only its times matter from now on. */
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	path_fd = open(self, O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		return FAIL_SYS(e, "reopen");
	if (file_read_all(fd, POLICY_TEXT_MAX, ret_data, ret_len, e) < 0)
		return -1;
	note(&st, take_fd(&path_fd), ret_file);
	return 0;
}

static bool is_data_file(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > strlen(".json") &&
	       strcmp(name + len - strlen(".json"), ".json") == 0;
}

/* 'dir' stays open after this; its descriptor is in 'loaded' as a copy. */
static int open_languages(
    const char *path, DIR **ret, struct policy_loaded *loaded, struct error *e)
{
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD kept = -1;
	struct stat st;
	DIR *dir;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "open");
	if (check_owner(&st, e) < 0)
		return -1;
	kept = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (kept < 0)
		return FAIL_SYS(e, "reopen");
	dir = fdopendir(fd);
	if (dir == NULL)
		return FAIL_SYS(e, "list");
	(void)take_fd(&fd);
	note(&st, take_fd(&kept), &loaded->files[loaded->n_files++]);
	*ret = dir;
	return 0;
}

static int read_languages_in(DIR *dir, const char *path, struct texts *texts,
    struct policy_loaded *loaded, struct error *e)
{
	const struct dirent *entry;

	/* A stream of our own in a program of one thread. */
	while (
	    (entry = readdir(dir)) != NULL) { // NOLINT(concurrency-mt-unsafe)
		struct source from = { dirfd(dir), entry->d_name };
		char *name = texts->names[texts->n];

		if (!is_data_file(entry->d_name))
			continue;
		if (texts->n == LOAD_LANGUAGES_MAX)
			return FAIL(e, ERROR_LIMIT, "more than %d files",
			    LOAD_LANGUAGES_MAX);
		(void)snprintf(
		    name, LOAD_PATH_MAX, "%s/%s", path, entry->d_name);
		if (read_source(&from, &loaded->files[loaded->n_files],
		        &texts->data[texts->n], &texts->items[texts->n].len,
		        e) < 0)
			return FAIL_IN(e, "%.80s", entry->d_name);
		texts->items[texts->n].name = name;
		texts->items[texts->n].data =
		    (const char *)texts->data[texts->n];
		texts->n++;
		loaded->n_files++;
	}
	return 0;
}

static int read_languages(const char *path, struct texts *texts,
    struct policy_loaded *loaded, struct error *e)
{
	DIR *dir;
	int result;

	if (open_languages(path, &dir, loaded, e) < 0)
		return -1;
	result = read_languages_in(dir, path, texts, loaded, e);
	(void)closedir(dir);
	return result;
}

static int read_part(int languages_fd, const char *path,
    struct policy_loaded *loaded, struct error *e)
{
	const struct source from = { languages_fd, path };
	struct policy_part *part = &loaded->parts[loaded->n_parts];

	if (loaded->n_parts == POLICY_PARTS_MAX ||
	    loaded->n_files == POLICY_FILES_MAX)
		return FAIL(e, ERROR_LIMIT, "more than %d files of languages",
		    POLICY_PARTS_MAX);
	if (read_source(&from, &loaded->files[loaded->n_files], &part->data,
	        &part->len, e) < 0)
		return FAIL_IN(e, "%s", path);
	(void)snprintf(part->path, sizeof(part->path), "%s", path);
	loaded->n_files++;
	loaded->n_parts++;
	return 0;
}

/* What the languages that the policy allows bring along. */
static int read_parts(
    const char *languages, struct policy_loaded *loaded, struct error *e)
{
	AUTO_FD fd = open(languages, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return FAIL_SYS(e, "open %.200s", languages);
	loaded->parts = calloc(POLICY_PARTS_MAX, sizeof(loaded->parts[0]));
	if (loaded->parts == NULL)
		return FAIL_SYS(e, "allocate files of languages");
	for (size_t i = 0; i < loaded->policy->n_languages; i++) {
		const struct language *l =
		    &loaded->policy->languages[i].language;

		for (size_t j = 0; j < l->n_plot_files; j++) {
			char path[2 * POLICY_NAME_MAX];

			(void)snprintf(path, sizeof(path), "%s/%s", l->name,
			    l->plot_files[j]);
			if (read_part(fd, path, loaded, e) < 0)
				return FAIL_IN(e, "%.200s", languages);
		}
	}
	return 0;
}

static int load_into(const struct policy_places *places,
    struct policy_loaded *loaded, struct policy_faults *faults, struct error *e)
{
	struct source from = { AT_FDCWD, places->policy };
	struct policy_sources sources = { .policy.name = places->policy,
		.privileged = geteuid() == 0 };
	struct texts *texts = calloc(1, sizeof(*texts));
	uint8_t *data;
	int result;

	if (texts == NULL)
		return FAIL_SYS(e, "allocate to read a policy");
	result = read_source(
	    &from, &loaded->files[0], &data, &sources.policy.len, e);
	if (result < 0) {
		texts_free(texts);
		return FAIL_IN(e, "%.200s", places->policy);
	}
	sources.policy.data = (const char *)data;
	loaded->n_files = 1;
	result = read_languages(places->languages, texts, loaded, e);
	if (result < 0)
		error_prefix(e, "%.200s", places->languages);
	sources.languages = texts->items;
	sources.n_languages = texts->n;
	if (result == 0)
		result = policy_parse(&sources, &loaded->policy, faults, e);
	if (result == 0)
		result = read_parts(places->languages, loaded, e);
	free(data);
	texts_free(texts);
	return result;
}

int policy_load(const struct policy_places *places, struct policy_loaded *ret,
    struct policy_faults *faults, struct error *e)
{
	struct policy_loaded loaded = { .policy = NULL };

	faults->n = 0;
	faults->more = 0;
	if (load_into(places, &loaded, faults, e) < 0) {
		policy_loaded_done(&loaded);
		return -1;
	}
	*ret = loaded;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct language *l_a = a;
	const struct language *l_b = b;

	return strcmp(l_a->name, l_b->name);
}

static int parse_known(struct texts *texts, struct policy_known *ret,
    struct policy_faults *faults, struct error *e)
{
	struct language *items = calloc(texts->n + 1, sizeof(*items));

	if (items == NULL)
		return FAIL_SYS(e, "allocate to read languages");
	texts->reader.faults = faults;
	for (size_t i = 0; i < texts->n; i++)
		if (parse_language_file(
		        &texts->reader, &texts->items[i], &items[i]) < 0)
			break;
	if (faults->n > 0) {
		free(items);
		return parse_fail(faults, e);
	}
	qsort(items, texts->n, sizeof(*items), compare_names);
	*ret = (struct policy_known){ texts->n, items };
	return 0;
}

int policy_load_known(const char *languages_dir, struct policy_known *ret,
    struct policy_faults *faults, struct error *e)
{
	struct policy_loaded loaded = { .policy = NULL };
	struct texts *texts = calloc(1, sizeof(*texts));
	int result;

	faults->n = 0;
	faults->more = 0;
	if (texts == NULL)
		return FAIL_SYS(e, "allocate to read languages");
	result = read_languages(languages_dir, texts, &loaded, e);
	if (result < 0)
		error_prefix(e, "%.200s", languages_dir);
	else
		result = parse_known(texts, ret, faults, e);
	policy_loaded_done(&loaded);
	texts_free(texts);
	return result;
}

bool policy_loaded_is_stale(const struct policy_loaded *loaded)
{
	for (size_t i = 0; i < loaded->n_files; i++) {
		const struct policy_file *was = &loaded->files[i];
		struct policy_file is;
		struct stat st;

		if (fstat(was->fd, &st) < 0)
			return true;
		note(&st, was->fd, &is);
		if (is.size != was->size || is.mtime_s != was->mtime_s ||
		    is.mtime_ns != was->mtime_ns ||
		    is.ctime_s != was->ctime_s || is.ctime_ns != was->ctime_ns)
			return true;
	}
	return false;
}

void policy_loaded_done(struct policy_loaded *loaded)
{
	policy_free(loaded->policy);
	for (size_t i = 0; i < loaded->n_parts; i++)
		free(loaded->parts[i].data);
	free(loaded->parts);
	for (size_t i = 0; i < loaded->n_files; i++)
		(void)close(loaded->files[i].fd);
	*loaded = (struct policy_loaded){ .policy = NULL };
}
