/*
 * cli/toolchain.c - looks at the host's interpreters.  Linked by
 * bailiff-policy.  It trusts them as far as the host does, not what they print.
 */
#include "cli/toolchain.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"

#define PROBE_MS  20000 /* cold disks and busy machines included */
#define PROBE_MAX 4096

void toolchain_find(const struct language *l, struct toolchain *ret)
{
	char *path = realpath(l->program, NULL);
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	if (path == NULL)
		return;
	if (strlen(path) < sizeof(ret->path) && stat(path, &st) == 0 &&
	    S_ISREG(st.st_mode) && access(path, X_OK) == 0) {
		memcpy(ret->path, path, strlen(path) + 1);
		ret->found = true;
	}
	free(path);
}

struct probe {
	struct language *language; /* execve(2) takes words without const */
	const char *path;
	int out_fd;
};

static int start(const struct probe *p, pid_t *ret, struct error *e)
{
	char *argv[POLICY_ARGV_MAX + 1] = { NULL };
	char *env[POLICY_ENV_MAX + 1] = { NULL };
	posix_spawn_file_actions_t actions;
	int failed;

	for (size_t i = 0; i < p->language->n_probe; i++)
		argv[i] = p->language->probe[i];
	for (size_t i = 0; i < p->language->n_env; i++)
		env[i] = p->language->env[i];
	failed = posix_spawn_file_actions_init(&actions);
	if (failed != 0) {
		errno = failed;
		return FAIL_SYS(e, "start");
	}
	failed = posix_spawn_file_actions_addopen(
	    &actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(
		    &actions, p->out_fd, STDOUT_FILENO);
	if (failed == 0)
		failed = posix_spawn_file_actions_adddup2(
		    &actions, p->out_fd, STDERR_FILENO);
	if (failed == 0)
		failed = posix_spawn(ret, p->path, &actions, NULL, argv, env);
	(void)posix_spawn_file_actions_destroy(&actions);
	errno = failed;
	return failed == 0 ? 0 : FAIL_SYS(e, "start");
}

/* Up to the end, the room or the deadline, whichever is first. */
static int drain(int fd, char *ret, size_t cap, size_t *ret_len)
{
	size_t len = 0;

	while (len < cap) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int ready = poll(&wait, 1, PROBE_MS);
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return -1;
		got = read(fd, ret + len, cap - len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	*ret_len = len;
	return 0;
}

static void keep_line(const char *text, size_t len, struct toolchain *t)
{
	const char *end = memchr(text, '\n', len);
	struct text_out out = { t->version, sizeof(t->version) - 1, 0 };

	if (end != NULL)
		len = (size_t)(end - text);
	(void)text_escape(text, len, TEXT_KEEP_NONE, &out);
	t->version[out.len] = '\0';
}

int toolchain_probe(struct language *l, struct toolchain *t, struct error *e)
{
	char text[PROBE_MAX];
	int pipe_fds[2];
	size_t len = 0;
	pid_t pid;
	int status;
	int drained;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make a pipe");
	AUTO_FD read_fd = pipe_fds[0];
	AUTO_FD write_fd = pipe_fds[1];
	struct probe probe = { l, t->path, write_fd };

	if (start(&probe, &pid, e) < 0)
		return FAIL_IN(e, "%.200s", t->path);
	own_close(&write_fd);
	write_fd = -1;
	drained = drain(read_fd, text, sizeof(text), &len);
	if (drained < 0 || len == sizeof(text))
		(void)kill(pid, SIGKILL); /* our own child, not reaped yet */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (drained < 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "%.200s: its version probe did not end", t->path);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || len == 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "%.200s: its version probe failed", t->path);
	keep_line(text, len, t);
	return 0;
}
