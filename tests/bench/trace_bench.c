/*
 * tests/bench/trace_bench.c - what adding a run to a loaded tracer takes, from
 * C: for tests/bench/trace.
 *
 *	trace_bench TRACER ROUNDS GROUPS FOLDER
 *
 * It plays the supervisor of one bailiff-tracer: ROUNDS times it makes a control
 * group in GROUPS and a file in FOLDER, asks for it to be watched, and for the
 * end of that.  One line for each round: nanoseconds from WATCH to WATCHING and
 * from FINISH to FINISHED, as a supervisor would see them.  No process runs in
 * the groups.  Touches only what it makes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/number.h"
#include "base/own.h"
#include "executor/tracer.h"

#define SLOTS "4"
#define BYTES "524288"

union answer {
	struct tracer_ready ready;
	struct tracer_watching watching;
	struct tracer_finished finished;
	struct tracer_failed failed;
};

struct bench {
	struct channel channel;
	union answer in;
	int groups_fd, folder_fd;
};

static uint64_t now_ns(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int start(struct bench *b, char *tracer, struct error *e)
{
	char *const argv[] = { tracer, (char[]){ SLOTS }, (char[]){ BYTES },
		NULL };
	char *const env[] = { NULL };
	int ends[2];

	if (channel_pair(ends, e) < 0)
		return -1;
	b->channel.fd = ends[0];
	if (fork() == 0) {
		(void)close(ends[0]);
		if (dup2(ends[1], TRACER_CHANNEL_FD) >= 0)
			(void)execve(tracer, argv, env);
		_exit(127);
	}
	(void)close(ends[1]);
	return 0;
}

static int hear(struct bench *b, uint16_t want, struct error *e)
{
	const struct channel_receive what = { &tracer_reply_protocol, 0,
		{ &b->in, sizeof(b->in) } };
	struct fd_list none = { .n = 0 };
	uint16_t verb;

	if (channel_receive(&b->channel, &what, &verb, &none, e) < 0)
		return -1;
	if (verb == TRACER_FAILED)
		return FAIL(e, ERROR_STATE, "%s", b->in.failed.text);
	if (verb != want)
		return FAIL(e, ERROR_STATE, "verb %u, not %u", verb, want);
	return 0;
}

static int ask(struct bench *b, const struct channel_send *what, uint16_t want,
    uint64_t *ret_ns, struct error *e)
{
	uint64_t before = now_ns();

	if (channel_send(&b->channel, what, e) < 0 || hear(b, want, e) < 0)
		return -1;
	*ret_ns = now_ns() - before;
	return 0;
}

static int watch_and_finish(
    struct bench *b, uint64_t round, uint64_t group, struct error *e)
{
	const struct tracer_watch watch = { .run = round,
		.group = group,
		.name = "r_0123456789abcdef0123456789abcdef" };
	const struct tracer_finish finish = { .run = round };
	struct fd_list file = { .n = 1 };
	struct channel_send what = { &tracer_protocol, TRACER_WATCH, &watch,
		&file };
	AUTO_FD fd = openat(b->folder_fd, "trace.jsonl",
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t adding;
	uint64_t ending;

	if (fd < 0)
		return FAIL_SYS(e, "make a file");
	file.fd[0] = fd;
	if (ask(b, &what, TRACER_WATCHING, &adding, e) < 0)
		return -1;
	what = (struct channel_send){ &tracer_protocol, TRACER_FINISH, &finish,
		NULL };
	if (ask(b, &what, TRACER_FINISHED, &ending, e) < 0)
		return -1;
	(void)printf("%" PRIu64 " %" PRIu64 "\n", adding, ending);
	return 0;
}

static int play(struct bench *b, uint64_t rounds, struct error *e)
{
	char name[64];
	struct stat st;
	int failed = 0;

	(void)snprintf(name, sizeof(name), "bailiff-bench-trace-%d", getpid());
	for (uint64_t i = 1; i <= rounds && failed == 0; i++) {
		if (mkdirat(b->groups_fd, name, 0755) < 0 ||
		    fstatat(b->groups_fd, name, &st, 0) < 0)
			return FAIL_SYS(e, "make a control group");
		failed = watch_and_finish(b, i, st.st_ino, e);
		(void)unlinkat(b->groups_fd, name, AT_REMOVEDIR);
	}
	return failed;
}

int main(int argc, char **argv)
{
	const struct number_range range = { 1, 1000000 };
	struct bench *b = calloc(1, sizeof(*b));
	struct error e;
	uint64_t rounds;

	if (argc != 5 || b == NULL) {
		(void)fputs(
		    "usage: trace_bench TRACER ROUNDS GROUPS FOLDER\n", stderr);
		return 2;
	}
	b->groups_fd = open(argv[3], O_PATH | O_DIRECTORY | O_CLOEXEC);
	b->folder_fd = open(argv[4], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (number_parse(argv[2], "ROUNDS", range, &rounds, &e) < 0 ||
	    start(b, argv[1], &e) < 0 || hear(b, TRACER_READY, &e) < 0 ||
	    play(b, rounds, &e) < 0) {
		(void)fprintf(stderr, "trace_bench: %s\n", e.text);
		return 1;
	}
	(void)close(b->channel.fd);
	(void)wait(NULL);
	free(b);
	return 0;
}
