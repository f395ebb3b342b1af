/*
 * cli/source.c - code and standard input.  Linked by `bailiff`.  Neither is
 * ever interpreted here, apart from the "#!" line that names a language.
 */
#include "cli/source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"

#define HASH_BANG_MAX 256

struct word_pair {
	const char *from;
	const char *language;
};

/* A spelling for the languages of DESIGN.md section 8; the policy decides. */
static const struct word_pair extensions[] = {
	{ "py", "python" },
	{ "sh", "bash" },
	{ "bash", "bash" },
	{ "js", "javascript" },
	{ "mjs", "javascript" },
	{ "java", "java" },
	{ "c", "c" },
	{ "cc", "cpp" },
	{ "cpp", "cpp" },
	{ "cxx", "cpp" },
	{ "go", "go" },
	{ "r", "r" },
	{ "R", "r" },
	{ "rb", "ruby" },
};

static const struct word_pair interpreters[] = {
	{ "python", "python" },
	{ "python3", "python" },
	{ "sh", "bash" },
	{ "bash", "bash" },
	{ "node", "javascript" },
	{ "nodejs", "javascript" },
	{ "Rscript", "r" },
	{ "ruby", "ruby" },
};

static const char *find(
    const struct word_pair *pairs, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(pairs[i].from) == len &&
		    strncmp(pairs[i].from, word, len) == 0)
			return pairs[i].language;
	return NULL;
}

static const char *language_of_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash != NULL ? slash : path, '.');

	if (dot == NULL)
		return NULL;
	return find(extensions, sizeof(extensions) / sizeof(extensions[0]),
	    dot + 1, strlen(dot + 1));
}

/* "#!/usr/bin/python3 -u" and "#!/usr/bin/env python3"; 'line' ends with NUL. */
static const char *language_of_line(const char *line)
{
	static const char blank[] = " \t\r\n";
	const char *word = line + 2;
	size_t len;

	if (strncmp(line, "#!", 2) != 0)
		return NULL;
	for (int i = 0; i < 2; i++) {
		word += strspn(word, blank);
		len = strcspn(word, blank);
		for (const char *slash = memchr(word, '/', len); slash != NULL;
		     slash = memchr(word, '/', len)) {
			len -= (size_t)(slash + 1 - word);
			word = slash + 1;
		}
		if (len != 3 || strncmp(word, "env", 3) != 0)
			break;
		word += len;
	}
	len = strcspn(word, blank);
	return find(interpreters,
	    sizeof(interpreters) / sizeof(interpreters[0]), word, len);
}

static int too_large(const char *what, struct error *e)
{
	return FAIL(e, ERROR_LIMIT,
	    "%s: more than %d MiB; no policy allows that", what,
	    SOURCE_BYTES_MAX >> 20);
}

static int copy_bounded(int fd, const char *what, int *ret_fd, struct error *e)
{
	uint64_t size;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "%s", what);
	if (S_ISDIR(st.st_mode))
		return FAIL(e, ERROR_STATE, "%s: is a directory", what);
	if (S_ISBLK(st.st_mode))
		return FAIL(e, ERROR_STATE, "%s: is a device", what);
	if (S_ISREG(st.st_mode) && st.st_size > SOURCE_BYTES_MAX)
		return too_large(what, e);
	if (memfd_copy(fd, SOURCE_BYTES_MAX, ret_fd, &size, e) == 0)
		return 0;
	return e->kind == ERROR_LIMIT ? too_large(what, e)
	                              : FAIL_IN(e, "%s", what);
}

static int open_file(const char *path, int *ret_fd, struct error *e)
{
	struct stat st;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return FAIL_SYS(e, "%s", path);
	/* A pipe is fine, <(command) makes one; /dev/zero has no end. */
	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode))
		return FAIL(e, ERROR_STATE,
		    "%s: is a device; write - for standard input", path);
	return copy_bounded(fd, path, ret_fd, e);
}

/* The whole text is looked at once: no NUL, and what its first line says. */
static int inspect(
    int fd, const char *what, const char **ret_language, struct error *e)
{
	char line[HASH_BANG_MAX] = { 0 };
	struct stat st;
	size_t size, at;
	void *map;
	const char *nul;

	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "%s", what);
	size = (size_t)st.st_size;
	if (size == 0)
		return 0;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return FAIL_SYS(e, "%s: map", what);
	nul = memchr(map, '\0', size);
	at = nul != NULL ? (size_t)(nul - (const char *)map) : size;
	memcpy(line, map, size < sizeof(line) ? size : sizeof(line) - 1);
	line[strcspn(line, "\n")] = '\0';
	(void)munmap(map, size);
	if (at < size)
		return FAIL(e, ERROR_MALFORMED,
		    "%s: is binary (a NUL at byte %zu); source text is wanted",
		    what, at);
	if (*ret_language == NULL)
		*ret_language = language_of_line(line);
	return 0;
}

int source_read(const struct source *from, int *ret_fd,
    const char **ret_language, struct error *e)
{
	AUTO_FD fd = -1;
	const char *what = from->from;
	const char *language = NULL;
	int result;

	switch (from->kind) {
	case SOURCE_FILE:
		language = language_of_name(from->from);
		result = open_file(from->from, &fd, e);
		break;
	case SOURCE_STDIN:
		what = "standard input";
		result = copy_bounded(STDIN_FILENO, what, &fd, e);
		break;
	case SOURCE_TEXT:
		what = "-c";
		result =
		    memfd_of("code", from->from, strlen(from->from), &fd, e);
		break;
	default:
		return FAIL(e, ERROR_STATE, "unknown kind of source");
	}
	if (result < 0 || inspect(fd, what, &language, e) < 0)
		return -1;
	*ret_fd = take_fd(&fd);
	*ret_language = language;
	return 0;
}

int source_input(const char *path, size_t len, int *ret_fd, struct error *e)
{
	AUTO_FREE char *name = strndup(path, len);

	if (name == NULL)
		return FAIL_SYS(e, "--put");
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): AUTO_FREE frees it */
	return open_file(name, ret_fd, e);
}

int source_stdin(enum source_stdin how, int *ret_fd, struct error *e)
{
	if (how == SOURCE_STDIN_EMPTY || fcntl(STDIN_FILENO, F_GETFD) < 0 ||
	    isatty(STDIN_FILENO))
		return memfd_of("stdin", "", 0, ret_fd, e);
	return copy_bounded(STDIN_FILENO, "standard input", ret_fd, e);
}
