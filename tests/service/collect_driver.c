/*
 * tests/service/collect_driver.c - plays the supervisor to bailiff-collect.
 *
 *   collect_driver PROGRAM SCRATCH UID FILES BYTES DEPTH OUT [REFUSE|FULL]
 *
 * Writes taken files to OUT/1, OUT/2, ...  Prints one line per message:
 *   copied NUMBER NAME SIZE SHA256
 *   skipped WHY NAME        WHY is the number of enum collect_why
 *   refused NAME            with REFUSE: everything found is refused
 *   done FILES BYTES SKIPPED STATUS
 *   ended STATUS            instead of done, if the helper gave up
 * Names are percent-encoded.  With FULL it hands out /dev/full.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/own.h"
#include "base/sha256.h"
#include "base/text.h"
#include "executor/collect.h"
#include "executor/uids.h"
#include "tests/service/helper_start.h"

struct driver {
	struct channel channel;
	int out_fd;
	bool refuse, full;
	unsigned n_taken;
	char name[3 * COLLECT_NAME_MAX + 1];
	union {
		struct collect_found found;
		struct collect_copied copied;
		struct collect_skipped skipped;
		struct collect_done done;
	} reply;
};

static void keep_name(struct driver *d, const void *data, uint64_t len)
{
	struct error e;

	if (text_percent_encode(
	        data, (size_t)len, d->name, sizeof(d->name), &e) < 0)
		(void)strcpy(d->name, "?");
}

static int answer_found(struct driver *d, struct error *e)
{
	char number[16];
	struct fd_list fds = { 1, { -1 } };
	struct channel_send send = { &collect_protocol, COLLECT_TAKE, NULL,
		&fds };
	AUTO_FD fd = -1;

	keep_name(d, d->reply.found.name.data, d->reply.found.name.len);
	if (d->refuse) {
		(void)printf("refused %s\n", d->name);
		send.verb = COLLECT_SKIP;
		send.fds = NULL;
		return channel_send(&d->channel, &send, e);
	}
	(void)snprintf(number, sizeof(number), "%u", ++d->n_taken);
	fd = d->full ? open("/dev/full", O_WRONLY | O_CLOEXEC)
	             : openat(d->out_fd, number,
	                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return FAIL_SYS(e, "create %s", number);
	fds.fd[0] = fd;
	return channel_send(&d->channel, &send, e);
}

static void show_copied(const struct driver *d)
{
	char hex[SHA256_HEX];

	sha256_hex(d->reply.copied.sha256, hex);
	(void)printf("copied %u %s %" PRIu64 " %s\n", d->n_taken, d->name,
	    d->reply.copied.size, hex);
}

/* 1 after DONE. */
static int step(struct driver *d, struct error *e)
{
	struct channel_receive what = { &collect_reply_protocol, 0,
		{ &d->reply, sizeof(d->reply) } };
	struct fd_list fds;
	uint16_t verb;

	if (channel_receive(&d->channel, &what, &verb, &fds, e) < 0)
		return -1;
	switch (verb) {
	case COLLECT_FOUND:
		return answer_found(d, e);
	case COLLECT_COPIED:
		show_copied(d);
		return 0;
	case COLLECT_SKIPPED:
		keep_name(
		    d, d->reply.skipped.name.data, d->reply.skipped.name.len);
		(void)printf(
		    "skipped %" PRIu32 " %s\n", d->reply.skipped.why, d->name);
		return 0;
	default:
		return 1;
	}
}

static int run(struct driver *d, char **argv, struct error *e)
{
	struct collect_start start = {
		.uid = (uint32_t)strtoul(argv[3], NULL, 10),
		.max_files = strtoull(argv[4], NULL, 10),
		.max_bytes = strtoull(argv[5], NULL, 10),
		.max_depth = strtoull(argv[6], NULL, 10),
		.globs = { 1, { { "**" } } },
	};
	AUTO_FD scratch_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fd_list fds = { 1, { scratch_fd } };
	struct channel_send send = { &collect_protocol, COLLECT_START, &start,
		&fds };
	int result = 0;

	d->out_fd = open(argv[7], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (scratch_fd < 0 || d->out_fd < 0)
		return FAIL_SYS(e, "open the directories");
	if (channel_send(&d->channel, &send, e) < 0)
		return -1;
	while (result == 0)
		result = step(d, e);
	return result < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct driver *d = calloc(1, sizeof(*d));
	struct helper_start start = { .uid = UID_COLLECT,
		.capabilities = UINT64_C(1) << CAP_DAC_READ_SEARCH };
	struct error e = { 0 };
	pid_t pid = -1;
	int status = 0;
	int finished;

	if (d == NULL || argc < 8) {
		(void)fprintf(
		    stderr, "collect_driver: see the top of its source\n");
		return 2;
	}
	d->refuse = argc > 8 && strcmp(argv[8], "REFUSE") == 0;
	d->full = argc > 8 && strcmp(argv[8], "FULL") == 0;
	start.path = argv[1];
	if (helper_start(&start, &d->channel.fd, &pid, &e) < 0) {
		(void)fprintf(stderr, "collect_driver: %s\n", e.text);
		return 2;
	}
	finished = run(d, argv, &e);
	(void)close(d->channel.fd);
	(void)waitpid(pid, &status, 0);
	if (finished < 0)
		(void)printf("ended %d\n", status);
	else
		(void)printf("done %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n",
		    d->reply.done.files, d->reply.done.bytes,
		    d->reply.done.skipped, status);
	return 0;
}
