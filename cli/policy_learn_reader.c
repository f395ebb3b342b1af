/*
 * cli/policy_learn_reader.c - starts bailiff-audit and takes its facts.  Linked
 * by bailiff-policy.
 *
 * Who checks signatures and parses traces links no policy, and who compiles
 * filters links no log: they are two programs, and each confines itself.  The
 * strings in the facts are a program's.
 */
#include "cli/policy_learn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/own.h"

#define WORDS_MAX       (LEARN_RUNS_MAX + 8)
#define READER_PATH_MAX 4096
#define READER          "bailiff-audit"
#define EXIT_NONE       2 /* of a reader that was killed */

static int reader_path(char ret[READER_PATH_MAX], struct error *e)
{
	ssize_t len = readlink(
	    "/proc/self/exe", ret, READER_PATH_MAX - 1 - sizeof(READER));
	char *slash;

	if (len < 0)
		return FAIL_SYS(e, "read /proc/self/exe");
	ret[len] = '\0';
	slash = strrchr(ret, '/');
	if (slash == NULL)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "%s: not an installation", ret);
	memcpy(slash + 1, READER, sizeof(READER));
	return 0;
}

/* execve(2) takes words without const and leaves them alone. */
union words {
	const char *given[WORDS_MAX];
	char *taken[WORDS_MAX];
};

static void make_words(const struct learn_reader *r, union words *ret)
{
	size_t n = 0;

	ret->given[n++] = READER;
	ret->given[n++] = "facts";
	if (r->state != NULL) {
		ret->given[n++] = "--state";
		ret->given[n++] = r->state;
	}
	if (r->key != NULL) {
		ret->given[n++] = "--key";
		ret->given[n++] = r->key;
	}
	for (size_t i = 0; r->runs[i] != NULL; i++)
		ret->given[n++] = r->runs[i];
	ret->given[n] = NULL;
}

static int spawn(struct learn_reader *r, int out_fd, struct error *e)
{
	char path[READER_PATH_MAX];
	union words words;
	posix_spawn_file_actions_t actions;
	int failed;

	if (reader_path(path, e) < 0)
		return -1;
	make_words(r, &words);
	failed = posix_spawn_file_actions_init(&actions);
	if (failed != 0)
		return FAIL(e, ERROR_SYSTEM, "start: out of memory");
	failed = posix_spawn_file_actions_addopen(
	    &actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(
		    &actions, out_fd, STDOUT_FILENO);
	if (failed == 0)
		failed = posix_spawn(
		    &r->pid, path, &actions, NULL, words.taken, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	errno = failed;
	return failed == 0 ? 0 : FAIL_SYS(e, "start %s", path);
}

int learn_reader_start(struct learn_reader *r, struct error *e)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make a pipe");
	AUTO_FD read_fd = fds[0];
	AUTO_FD write_fd = fds[1];

	if (spawn(r, write_fd, e) < 0)
		return -1;
	r->fd = take_fd(&read_fd);
	return 0;
}

int learn_reader_confine(struct error *e)
{
	static const struct jail_call calls[] = {
		{ __NR_read, JAIL_ANY, 0 },
		{ __NR_write, JAIL_ANY, 0 },
		{ __NR_close, JAIL_ANY, 0 },
		{ __NR_wait4, JAIL_ANY, 0 },
		/* A filter is compiled into one, policy/filter.c. */
		{ __NR_memfd_create, JAIL_ANY, 0 },
		{ __NR_pread64, JAIL_ANY, 0 },
		{ __NR_mmap, 2, PROT_READ | PROT_WRITE },
		{ __NR_munmap, JAIL_ANY, 0 },
		{ __NR_mremap, JAIL_ANY, 0 },
		{ __NR_brk, JAIL_ANY, 0 },
		{ __NR_madvise, JAIL_ANY, 0 },
		{ __NR_sysinfo, JAIL_ANY, 0 }, /* qsort of much */
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	const struct jail jail = {
		.read_fd = -1,
		.read = JAIL_READ_FILES,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
	};

	return jail_enter(&jail, e);
}

/* What ends in 'data'; the rest goes to its front. */
static int take_lines(struct learn *l, char *data, size_t *len, struct error *e)
{
	size_t at = 0;

	for (;;) {
		const char *end = memchr(data + at, '\n', *len - at);

		if (end == NULL)
			break;
		if (learn_line(l, data + at, (size_t)(end - data) - at, e) < 0)
			return -1;
		at = (size_t)(end - data) + 1;
	}
	memmove(data, data + at, *len - at);
	*len -= at;
	return 0;
}

static int take_all(int fd, struct learn *l, struct error *e)
{
	AUTO_FREE char *data = malloc(LEARN_LINE_MAX);
	size_t len = 0;
	ssize_t got;

	if (data == NULL)
		return FAIL_SYS(e, "allocate");
	do {
		if (len == LEARN_LINE_MAX)
			return FAIL(
			    e, ERROR_MALFORMED, "facts: a line is too long");
		got = read(fd, data + len, LEARN_LINE_MAX - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read facts");
		len += (size_t)got;
		if (take_lines(l, data, &len, e) < 0)
			return -1;
	} while (got != 0);
	return 0;
}

int learn_reader_take(
    struct learn_reader *r, struct learn *l, int *ret_code, struct error *e)
{
	int failed = take_all(r->fd, l, e);
	int status = 0;

	/* Whoever writes on is told by SIGPIPE. */
	own_close(&r->fd);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (failed < 0)
		return -1;
	*ret_code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NONE;
	if (!WIFEXITED(status))
		return FAIL(e, ERROR_SYSTEM, "%s was killed by signal %d",
		    READER, WTERMSIG(status));
	return *ret_code == 0 ? learn_end(l, e) : 0;
}
