/*
 * policy/learn_hints.c - which modules the other files of a language's
 * directories name.  Linked by bailiff-policy.  It reads this host's toolchain,
 * which it trusts as absent.c does, before the first fact.
 *
 * An interpreter may read such a file at its start and look for the modules that
 * stand in it (python's .pth) without opening them: no trace tells, and without
 * them it does not start.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "policy/absent_parts.h"
#include "policy/learn.h"

#define TEXT_MAX 65536

/* One directory at a time, of one language. */
struct hinter {
	struct learn *l;
	const struct language_modules *m;
	const glob_t *dirs;
	struct error *e;
	char real[PATH_MAX], path[PATH_MAX], probe[PATH_MAX];
	char word[POLICY_NAME_MAX];
};

static void own_dir(DIR **dir)
{
	if (*dir != NULL)
		(void)closedir(*dir);
}

/* Whether this host has a module of that name in a file of a plain pattern. */
static bool is_module_here(struct hinter *h)
{
	for (size_t i = 0; i < h->dirs->gl_pathc; i++)
		for (size_t j = 0; j < h->m->n_files; j++) {
			const char *file = h->m->files[j];
			const char *mark = strstr(file, ABSENT_NAME_MARK);

			if (mark != file || strpbrk(file, "*/") != NULL)
				continue;
			(void)snprintf(h->probe, sizeof(h->probe), "%s/%s%s",
			    h->dirs->gl_pathv[i], h->word,
			    mark + strlen(ABSENT_NAME_MARK));
			if (access(h->probe, F_OK) == 0)
				return true;
		}
	return false;
}

static int add(struct hinter *h)
{
	struct learn *l = h->l;

	for (size_t i = 0; i < l->n_hints; i++)
		if (strcmp(l->hints[i].name, h->word) == 0 &&
		    strcmp(l->hints[i].path, h->path) == 0)
			return 0;
	if (strlen(h->path) >= sizeof(l->hints[0].path) || !is_module_here(h))
		return 0;
	if (l->n_hints == LEARN_HINTS_MAX)
		return FAIL(h->e, ERROR_LIMIT,
		    "%s: more than %d modules stand in such files", h->path,
		    LEARN_HINTS_MAX);
	memcpy(l->hints[l->n_hints].path, h->path, strlen(h->path) + 1);
	memcpy(l->hints[l->n_hints].name, h->word, sizeof(h->word));
	l->n_hints++;
	return 0;
}

static int add_words(struct hinter *h, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t at = 0; at<len; at += n> 0 ? n : 1) {
		n = 0;
		while (at + n < len && text[at + n] != '\0' &&
		       strchr(ABSENT_LETTERS, text[at + n]) != NULL)
			n++;
		if (n == 0 || n >= sizeof(h->word))
			continue;
		memset(h->word, 0, sizeof(h->word));
		memcpy(h->word, text + at, n);
		if (add(h) < 0)
			return -1;
	}
	return 0;
}

static bool is_modules_own(const struct language_modules *m, const char *file)
{
	char name[POLICY_NAME_MAX];

	for (size_t i = 0; i < m->n_files; i++)
		if (absent_match(m->files[i], file, name))
			return true;
	return false;
}

static int read_one(struct hinter *h, int dir_fd, const char *file)
{
	AUTO_FREE uint8_t *text = NULL;
	AUTO_FD fd = openat(dir_fd, file,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	size_t len;

	/* What cannot be read here is read by no run either, or is none. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > TEXT_MAX)
		return 0;
	if (file_read_all(fd, TEXT_MAX, &text, &len, h->e) < 0)
		return FAIL_IN(h->e, "%s", file);
	return add_words(h, (const char *)text, len);
}

static int read_dir(struct hinter *h, const char *path)
{
	__attribute__((cleanup(own_dir))) DIR *dir = opendir(path);
	const struct dirent *d;

	if (dir == NULL || realpath(path, h->real) == NULL)
		return FAIL_SYS(h->e, "list %s", path);
	// NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
	while ((d = readdir(dir)) != NULL) {
		int n = snprintf(
		    h->path, sizeof(h->path), "%s/%s", h->real, d->d_name);

		if (n < 0 || (size_t)n >= sizeof(h->path) ||
		    is_modules_own(h->m, d->d_name))
			continue;
		if (read_one(h, dirfd(dir), d->d_name) < 0)
			return -1;
	}
	return 0;
}

static int hints_of(struct hinter *h)
{
	glob_t dirs;
	int failed = absent_find_dirs(h->m, &dirs, h->e);

	h->dirs = &dirs;
	for (size_t i = 0; failed == 0 && i < dirs.gl_pathc; i++)
		failed = read_dir(h, dirs.gl_pathv[i]);
	globfree(&dirs);
	return failed;
}

int learn_hints(struct learn *l, struct error *e)
{
	struct hinter *h = calloc(1, sizeof(*h));
	int failed = 0;

	if (h == NULL)
		return FAIL_SYS(e, "allocate");
	h->l = l;
	h->e = e;
	for (size_t i = 0; failed == 0 && i < l->policy->n_languages; i++) {
		h->m = &l->policy->languages[i].language.modules;
		failed = hints_of(h);
	}
	free(h);
	return failed;
}
