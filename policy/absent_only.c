/*
 * policy/absent_only.c - the modules that a list of the only ones leaves out.
 * Linked by bailiff-policy and the supervisor.  Like absent.c it trusts the
 * host's toolchain directories.
 *
 * What an import would find goes: names in the language's directories that one
 * of its patterns makes of a module's name.  Caches stay: without its source no
 * cached file is imported.  What is inside the interpreter stays too, with its
 * files: some interpreters find themselves by them.
 * And so does a directory that is no module itself but a place for others.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/absent_parts.h"

static void own_dir(DIR **dir)
{
	if (*dir != NULL)
		(void)closedir(*dir);
}

bool absent_match(
    const char *pattern, const char *file, char ret[POLICY_NAME_MAX])
{
	const char *mark = strstr(pattern, ABSENT_NAME_MARK);
	size_t before = (size_t)(mark - pattern);
	size_t n;

	if (strncmp(file, pattern, before) != 0)
		return false;
	file += before;
	n = strspn(file, ABSENT_LETTERS);
	if (n == 0 || n >= POLICY_NAME_MAX ||
	    (file[0] >= '0' && file[0] <= '9') ||
	    fnmatch(mark + strlen(ABSENT_NAME_MARK), file + n, 0) != 0)
		return false;
	memcpy(ret, file, n);
	ret[n] = '\0';
	return true;
}

/* "__pycache__" of "__pycache__/{name}.*.pyc": a place, not a module. */
static bool is_place(const struct language_modules *m, const char *file)
{
	size_t n = strlen(file);

	for (size_t i = 0; i < m->n_files; i++)
		if (strncmp(m->files[i], file, n) == 0 && m->files[i][n] == '/')
			return true;
	return false;
}

static bool is_named(const struct policy_language *l, const char *name)
{
	for (size_t i = 0; i < l->n_only; i++)
		if (strcmp(l->only[i], name) == 0)
			return true;
	return false;
}

/* A directory without a module's file of its own: a mere place for others,
 * which nothing opens when it is found. */
static bool is_namespace(
    const struct language_modules *m, int dir_fd, const char *file)
{
	int fd = openat(dir_fd, file, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__attribute__((cleanup(own_dir))) DIR *dir = NULL;
	const struct dirent *d;

	if (fd < 0)
		return false;
	dir = fdopendir(fd);
	if (dir == NULL) {
		(void)close(fd);
		return false;
	}
	// NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
	while ((d = readdir(dir)) != NULL) {
		char name[POLICY_NAME_MAX];

		for (size_t i = 0; i < m->n_files; i++)
			if (strchr(m->files[i], '.') != NULL &&
			    absent_match(m->files[i], d->d_name, name))
				return false;
	}
	return true;
}

/* Some pattern makes it a module's, and none a module's that stays. */
static bool is_other(
    const struct absent_finder *f, int dir_fd, const char *file)
{
	const struct policy_language *l = f->a->language;
	const struct language_modules *m = &l->language.modules;
	bool any = false;

	if (is_place(m, file))
		return false;
	for (size_t i = 0; i < m->n_files; i++) {
		char name[POLICY_NAME_MAX];

		if (strchr(m->files[i], '/') != NULL ||
		    !absent_match(m->files[i], file, name))
			continue;
		if (is_named(l, name) || absent_has_builtin(f, name))
			return false;
		any = true;
	}
	return any && !is_namespace(m, dir_fd, file);
}

static int find_in(struct absent_finder *f, const char *path, size_t first)
{
	__attribute__((cleanup(own_dir))) DIR *dir = opendir(path);
	const struct dirent *d;

	if (dir == NULL)
		return FAIL_SYS(f->e, "list %s", path);
	for (;;) {
		char whole[PATH_MAX];
		int n;

		errno = 0;
		d = readdir(dir); // NOLINT(concurrency-mt-unsafe): one thread
		if (d == NULL && errno != 0)
			return FAIL_SYS(f->e, "list %s", path);
		if (d == NULL)
			return 0;
		if (!is_other(f, dirfd(dir), d->d_name))
			continue;
		n = snprintf(whole, sizeof(whole), "%s/%s", path, d->d_name);
		if (n < 0 || (size_t)n >= sizeof(whole))
			return FAIL(
			    f->e, ERROR_LIMIT, "%s: path too long", path);
		if (absent_add_path(f, whole, first) < 0)
			return -1;
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int absent_find_others(struct absent_finder *f, const glob_t *dirs)
{
	struct absent *a = f->a;
	size_t first = a->n_paths;

	for (size_t i = 0; i < dirs->gl_pathc; i++)
		if (find_in(f, dirs->gl_pathv[i], first) < 0)
			return -1;
	/* A directory is listed in no order, and the view has a digest. */
	qsort(
	    a->paths[first], a->n_paths - first, sizeof(a->paths[0]), compare);
	a->n_others = a->n_paths - first;
	return 0;
}
