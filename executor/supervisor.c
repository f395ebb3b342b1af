/*
 * executor/supervisor.c - main of bailiff-supervisor: the service that decides
 * about every request, has it run by the launcher and recorded by the signer.
 *
 * Started by a front (executor/service.h) with the write end of a pipe as
 * descriptor 3, or by a service manager.  It trusts its policy file, checked
 * and read once; fronts, programs and their output are hostile.
 */
#include "executor/supervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/own.h"
#include "executor/environment.h"

#define READY_FD   3
#define CREDENTIAL "bailiff.seal" /* audit/keys.h: KEYS_CREDENTIAL */

enum {
	EXIT_USAGE = 2
};

static const char usage[] =
    "usage: bailiff-supervisor [--policy FILE] [--state DIR]\n"
    "                          [--home DIR] [--allow-nested] [--listen-fd N]\n"
    "Serves one policy on one state directory until nobody needs it.  "
    "Started by\nbailiff run and bailiff mcp as needed; see bailiff(1).\n";

/* One line to whoever started us; stderr is /dev/null by then. */
static void say(int ready_fd, const char *prefix, const char *text)
{
	char line[ERROR_TEXT_MAX + 16];
	struct error unheard;
	int n = snprintf(line, sizeof(line), "%s%s\n", prefix, text);
	size_t len = n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1;

	if (ready_fd >= 0 && file_write_all(ready_fd, line, len, &unheard) < 0)
		return; /* whoever started us does not listen any more */
}

static int option_value(char **argv, int *at, const char **ret, struct error *e)
{
	if (argv[*at + 1] == NULL)
		return FAIL(e, ERROR_USAGE, "%s needs a value", argv[*at]);
	*ret = argv[++*at];
	return 0;
}

static int parse_listen_fd(
    char **argv, int *at, struct supervisor_options *o, struct error *e)
{
	/* A service manager hands over 3 (sd_listen_fds(3)). */
	const struct number_range fds = { READY_FD, 1000 };
	const char *number = "";
	uint64_t value = 0;

	if (option_value(argv, at, &number, e) < 0 ||
	    number_parse(number, "--listen-fd", fds, &value, e) < 0)
		return -1;
	o->listen_fd = (int)value;
	return 0;
}

static int parse(char **argv, struct supervisor_options *o, struct error *e)
{
	for (int i = 1; argv[i] != NULL; i++) {
		int failed = 0;

		if (strcmp(argv[i], "--policy") == 0) {
			failed = option_value(argv, &i, &o->policy, e);
		} else if (strcmp(argv[i], "--state") == 0) {
			failed = option_value(argv, &i, &o->state, e);
		} else if (strcmp(argv[i], "--home") == 0) {
			failed = option_value(argv, &i, &o->home, e);
		} else if (strcmp(argv[i], "--allow-nested") == 0) {
			o->allow_nested = true;
		} else if (strcmp(argv[i], "--listen-fd") == 0) {
			failed = parse_listen_fd(argv, &i, o, e);
		} else {
			failed = FAIL(
			    e, ERROR_USAGE, "unknown option '%.80s'", argv[i]);
		}
		if (failed < 0)
			return -1;
	}
	return 0;
}

/* Relative paths mean the caller's directory, which we are about to leave. */
static int absolute(const char **path, struct error *e)
{
	char *joined = NULL;
	AUTO_FREE char *here = NULL;

	if (*path == NULL || **path == '/')
		return 0;
	here = getcwd(NULL, 0);
	if (here == NULL || asprintf(&joined, "%s/%s", here, *path) < 0)
		return FAIL_SYS(e, "find the current directory");
	*path = joined; /* for the life of the process */
	return 0;
}

/*
 * A service manager that keeps what the keys are sealed under says where it put
 * it (systemd.exec(5), LoadCredential).  It too moves to a number that stays.
 */
static int open_credential(
    struct supervisor_options *o, int *first, struct error *e)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	AUTO_FREE char *path = NULL;
	AUTO_FD fd = -1;

	if (directory == NULL)
		return 0;
	if (asprintf(&path, "%s/" CREDENTIAL, directory) < 0)
		return FAIL_SYS(e, "allocate");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return FAIL_SYS(e, "open the credential %s", path);
	if (fd != *first && dup3(fd, *first, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "keep the credential");
	if (fd == *first)
		(void)take_fd(&fd);
	o->secret_fd = (*first)++;
	return 0;
}

/* An inherited socket moves to a number that cleaning leaves alone. */
static int prepare(struct supervisor_options *o, struct error *e)
{
	int first = READY_FD + 1;

	if (absolute(&o->policy, e) < 0 || absolute(&o->state, e) < 0 ||
	    absolute(&o->home, e) < 0)
		return -1;
	if (o->listen_fd >= 0) {
		if (o->listen_fd != first && dup2(o->listen_fd, first) < 0)
			return FAIL_SYS(e, "take the socket %d", o->listen_fd);
		if (o->listen_fd == READY_FD)
			(void)close(READY_FD);
		o->listen_fd = first++;
	}
	if (open_credential(o, &first, e) < 0)
		return -1;
	return environment_clean(first, e);
}

static int serve(struct supervisor *s, const struct supervisor_options *o,
    int *ready_fd, struct error *e)
{
	enum supervisor_started started;

	if (supervisor_start(s, o, &started, e) < 0)
		return -1;
	if (o->secret_fd >= 0)
		(void)close(o->secret_fd);
	say(*ready_fd, "", started == SUPERVISOR_TAKEN ? "taken" : "ready");
	own_close(ready_fd);
	*ready_fd = -1;
	if (started == SUPERVISOR_TAKEN)
		return 0;
	if (supervisor_serve(s, e) < 0)
		return -1;
	state_done(&s->state, s->instance_hex);
	return 0;
}

static int start(char **argv, struct supervisor *s, int ready_fd)
{
	struct supervisor_options o = { .listen_fd = -1, .secret_fd = -1 };
	struct error e;

	bool parsed = parse(argv, &o, &e) == 0;

	/* Then 3 is no pipe to whoever started us. */
	if (o.listen_fd == READY_FD)
		ready_fd = -1;
	if (!parsed || prepare(&o, &e) < 0) {
		(void)fprintf(stderr, "bailiff-supervisor: %s\n", e.text);
		say(ready_fd, "error: ", e.text);
		return EXIT_USAGE;
	}
	if (serve(s, &o, &ready_fd, &e) < 0) {
		say(ready_fd, "error: ", e.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct supervisor *s;
	int status;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("bailiff-supervisor " BAILIFF_VERSION) < 0;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return EXIT_FAILURE;
	status = start(argv, s, fcntl(READY_FD, F_GETFD) >= 0 ? READY_FD : -1);
	free(s);
	return status;
}
