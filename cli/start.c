/*
 * cli/start.c - the birth of a service.  Linked by `bailiff`.  Between fork
 * and exec the child calls only what is async-signal-safe.
 */
#include "cli/start.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define READY_FD      3
#define READY_WAIT_S  30
#define READY_LINE    1024
#define CHILD_FAILED  125
#define FIRST_FREE_FD 10 /* above 0 to 3, which the child rearranges */

struct birth {
	const char *path;  /* borrowed; of the supervisor */
	char *const *argv; /* borrowed */
	int null_fd;       /* FIRST_FREE_FD or above */
	int ready_fd;      /* FIRST_FREE_FD or above */
};

/*
 * An ignored signal stays ignored across exec, and nohup(1) or a shell may
 * have left some; SIGKILL and SIGSTOP refuse, which is no loss.
 */
static void default_signals(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &plain, NULL);
	(void)sigemptyset(&none);
	(void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become_service(const struct birth *b)
{
	char *const no_environment[] = { NULL };

	default_signals();
	(void)umask(077);
	if (chdir("/") < 0 || dup2(b->null_fd, STDIN_FILENO) < 0 ||
	    dup2(b->null_fd, STDOUT_FILENO) < 0 ||
	    dup2(b->null_fd, STDERR_FILENO) < 0 ||
	    dup2(b->ready_fd, READY_FD) < 0 ||
	    close_range(READY_FD + 1, ~0U, 0) < 0)
		_exit(CHILD_FAILED);
	(void)execve(b->path, b->argv, no_environment);
	_exit(CHILD_FAILED);
}

/*
 * Two forks: the service is the child of nobody who could leave it a zombie,
 * and it leads no session, so that it can never get a terminal.
 */
static int give_birth(const struct birth *b, struct error *e)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return FAIL_SYS(e, "start the service: fork");
	if (pid == 0) {
		if (setsid() < 0)
			_exit(CHILD_FAILED);
		pid = fork();
		if (pid == 0)
			become_service(b);
		_exit(pid < 0 ? CHILD_FAILED : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return FAIL_SYS(e, "start the service: wait");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "start the service: no process could be made");
	return 0;
}

static long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The first line, without its end, or what came before the end of file. */
static int read_line(int fd, char line[READY_LINE], struct error *e)
{
	long long end = now_ms() + READY_WAIT_S * 1000LL;
	size_t len = 0;

	while (len < READY_LINE - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		long long left = end - now_ms();
		ssize_t got;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "start the service: silent for %d seconds",
			    READY_WAIT_S);
		got = read(fd, line + len, READY_LINE - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "start the service: read");
		if (got == 0)
			break;
		len += (size_t)got;
		if (memchr(line, '\n', len) != NULL)
			break;
	}
	line[len] = '\0';
	return 0;
}

static int judge_line(
    const char *line, const char *path, enum start_result *ret, struct error *e)
{
	static const char error[] = "error: ";

	if (strcmp(line, SERVICE_READY) == 0) {
		*ret = START_READY;
		return 0;
	}
	if (strcmp(line, SERVICE_TAKEN) == 0) {
		*ret = START_TAKEN;
		return 0;
	}
	if (strncmp(line, error, sizeof(error) - 1) == 0)
		return FAIL(e, ERROR_UNAVAILABLE, "%.*s",
		    (int)strcspn(line + sizeof(error) - 1, "\n"),
		    line + sizeof(error) - 1);
	if (access(path, X_OK) < 0)
		return FAIL_SYS(e, "start the service: %s", path);
	return FAIL(e, ERROR_UNAVAILABLE,
	    "start the service: it ended before it was ready");
}

/* Keep clear of the numbers that the child fills, closed stdio or not. */
static int raise_fd(int *fd, struct error *e)
{
	int high = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

	if (high < 0)
		return FAIL_SYS(e, "start the service: duplicate");
	(void)close(*fd);
	*fd = high;
	return 0;
}

/* A pipe and /dev/null, at numbers that the child will not overwrite. */
static int open_birth(struct birth *b, int *ret_read_fd, struct error *e)
{
	int ends[2];

	b->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (b->null_fd < 0)
		return FAIL_SYS(e, "start the service: open /dev/null");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "start the service: make a pipe");
	*ret_read_fd = ends[0];
	b->ready_fd = ends[1];
	return raise_fd(&b->null_fd, e) < 0 || raise_fd(&b->ready_fd, e) < 0
	           ? -1
	           : 0;
}

int start_service(struct service *s, enum start_result *ret, struct error *e)
{
	char path[SERVICE_PATH_MAX];
	char line[READY_LINE];
	char name[] = "bailiff-supervisor";
	char policy[] = "--policy";
	char state[] = "--state";
	char home[] = "--home";
	char *argv[] = { name, policy, s->policy, state, s->state,
		s->home[0] != '\0' ? home : NULL, s->home, NULL };
	struct birth b = { path, argv, -1, -1 };
	AUTO_FD read_fd = -1;
	int result = service_program_path(name, path, e);

	if (result == 0)
		result = open_birth(&b, &read_fd, e);
	if (result == 0)
		result = give_birth(&b, e);
	own_close(&b.null_fd);
	own_close(&b.ready_fd);
	if (result < 0 || read_line(read_fd, line, e) < 0)
		return -1;
	return judge_line(line, path, ret, e);
}
