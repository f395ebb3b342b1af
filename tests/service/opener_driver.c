/*
 * tests/service/opener_driver.c - plays the supervisor to bailiff-opener.
 *
 *   opener_driver PROGRAM ROOT_FD_PATH ROOT BENEATH MAX UID GID [GROUP...]
 *
 * Prints one line: "opened SIZE SEALED CONTENT" (content percent-encoded, at
 * most 64 bytes of it; SEALED is "sealed" or "open") or "denied REASON ERRNO"
 * or "ended STATUS" when the helper ended without an answer.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/memfd.h"
#include "base/text.h"
#include "executor/opener.h"
#include "executor/uids.h"
#include "tests/service/helper_start.h"

#define SHOWN 64

struct driver {
	struct channel channel;
	struct opener_open request;
	union {
		struct opener_opened opened;
		struct opener_denied denied;
	} reply;
};

static int fill(struct driver *d, int argc, char **argv)
{
	struct opener_open *q = &d->request;

	if (argc < 8 || argc - 8 > OPENER_GROUPS_MAX)
		return -1;
	if (strlen(argv[3]) >= sizeof(q->root) ||
	    strlen(argv[4]) >= sizeof(q->beneath))
		return -1;
	(void)strcpy(q->root, argv[3]);
	(void)strcpy(q->beneath, argv[4]);
	q->max_bytes = strtoull(argv[5], NULL, 10);
	q->uid = (uint32_t)strtoul(argv[6], NULL, 10);
	q->gid = (uint32_t)strtoul(argv[7], NULL, 10);
	for (int i = 8; i < argc; i++)
		q->groups.items[q->groups.n++].gid =
		    (uint32_t)strtoul(argv[i], NULL, 10);
	return 0;
}

static void show_file(int fd)
{
	char content[SHOWN];
	char encoded[3 * SHOWN + 1];
	uint64_t size = 0;
	ssize_t n = pread(fd, content, sizeof(content), 0);
	struct error e;
	int sealed = memfd_check(fd, UINT64_MAX, &size, &e);

	if (n < 0 || text_percent_encode(
	                 content, (size_t)n, encoded, sizeof(encoded), &e) < 0)
		(void)strcpy(encoded, "?");
	(void)printf("opened %" PRIu64 " %s %s\n", size,
	    sealed == 0 ? "sealed" : "open", encoded);
}

static int ask(struct driver *d, const char *root_fd_path, struct error *e)
{
	int root_fd = open(root_fd_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct fd_list root = { 1, { root_fd } };
	struct channel_send send = { &opener_protocol, OPENER_OPEN, &d->request,
		&root };
	struct channel_receive what = { &opener_reply_protocol, 1,
		{ &d->reply, sizeof(d->reply) } };
	struct fd_list fds;
	uint16_t verb;

	if (root_fd < 0)
		return FAIL_SYS(e, "open %s", root_fd_path);
	if (channel_send(&d->channel, &send, e) < 0 ||
	    channel_receive(&d->channel, &what, &verb, &fds, e) < 0)
		return -1;
	if (verb == OPENER_OPENED && fds.n == 1)
		show_file(fds.fd[0]);
	else
		(void)printf("denied %s %" PRIu32 "\n", d->reply.denied.reason,
		    d->reply.denied.saved_errno);
	return 0;
}

int main(int argc, char **argv)
{
	struct driver *d = calloc(1, sizeof(*d));
	struct helper_start start = { .uid = UID_OPENER,
		.capabilities = UINT64_C(1) << CAP_SETUID | UINT64_C(1)
		                                                << CAP_SETGID };
	struct error e = { 0 };
	pid_t pid = -1;
	int status = 0;
	int answered;

	if (d == NULL || fill(d, argc, argv) < 0) {
		(void)fprintf(
		    stderr, "opener_driver: see the top of its source\n");
		return 2;
	}
	start.path = argv[1];
	if (helper_start(&start, &d->channel.fd, &pid, &e) < 0) {
		(void)fprintf(stderr, "opener_driver: %s\n", e.text);
		return 2;
	}
	answered = ask(d, argv[2], &e);
	(void)close(d->channel.fd);
	(void)waitpid(pid, &status, 0);
	if (answered < 0)
		(void)printf("ended %d\n", status);
	return 0;
}
