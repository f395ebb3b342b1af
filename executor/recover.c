/*
 * executor/recover.c - publishes what a crash left unpublished.  Linked by the
 * supervisor; runs at start, before any peer exists but the signer.  A folder
 * in quarantine is believed only as far as the signed log commits to it.
 */
#include "executor/recover.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/dsse.h"
#include "base/file.h"
#include "base/own.h"
#include "executor/account.h"
#include "executor/uids.h"

#define MANIFEST_MAX   (8u << 20)
#define ANSWER_WAIT_MS 600000 /* the signer reads its whole log */

/* A line of MANIFEST: 64 digits, two spaces, the name. */
enum {
	HEX_LEN = 64,
	NAME_AT = 66
};

static int open_at(int dir_fd, const char *name, int flags, int *ret_fd)
{
	const struct file_open what = { dir_fd, name, flags, 0 };
	struct error e;

	return file_open_beneath(&what, ret_fd, &e);
}

/* Whether the file named in this line has the digest that stands there. */
static bool is_as_listed(int folder_fd, char *line)
{
	AUTO_FD fd = -1;
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];
	uint64_t size;
	struct error e;

	if (strlen(line) <= NAME_AT ||
	    open_at(folder_fd, line + NAME_AT, O_RDONLY, &fd) < 0 ||
	    sha256_of_fd(fd, digest, &size, &e) < 0)
		return false;
	sha256_hex(digest, hex);
	return memcmp(hex, line, HEX_LEN) == 0;
}

/* Whole: MANIFEST is there and every file it lists is as it says. */
static bool is_whole(int folder_fd, uint8_t ret_manifest[SHA256_BYTES])
{
	AUTO_FD fd = -1;
	AUTO_FREE char *text = NULL;
	char *rest = NULL;
	uint8_t *data;
	size_t len;
	struct error e;

	if (open_at(folder_fd, "MANIFEST", O_RDONLY, &fd) < 0 ||
	    file_read_all(fd, MANIFEST_MAX, &data, &len, &e) < 0)
		return false;
	text = (char *)data;
	sha256_of(data, len, ret_manifest);
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (!is_as_listed(folder_fd, line))
			return false;
	return len > 0;
}

/* The id as bytes; false for a name that is no run's. */
static bool parse_run(const char *name, uint8_t ret[EVENT_RUN_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(name) != 2 + 2 * (size_t)EVENT_RUN_BYTES ||
	    strspn(name + 2, digits) != 2 * (size_t)EVENT_RUN_BYTES)
		return false;
	for (size_t i = 0; i < EVENT_RUN_BYTES; i++) {
		const char *pair = name + 2 + 2 * i;
		ptrdiff_t high = strchr(digits, pair[0]) - digits;
		ptrdiff_t low = strchr(digits, pair[1]) - digits;

		ret[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* 0 and the answer in 'reply'; 1 if the log does not have it; -1: no signer. */
static int ask(struct audit_client *audit, const struct event_recall *what,
    union audit_reply *reply, struct error *e)
{
	struct pollfd answer = { .fd = audit_fd(audit), .events = POLLIN };
	uint16_t verb;
	int n;

	if (audit_send(audit, EVENT_RECALL, what, e) < 0)
		return -1;
	do
		n = poll(&answer, 1, ANSWER_WAIT_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return FAIL(e, ERROR_UNAVAILABLE, "the signer does not answer");
	if (audit_receive(audit, &verb, reply, e) < 0)
		return -1;
	return verb == EVENT_STORED ? 0 : 1;
}

static int write_file(
    int folder_fd, const char *name, const void *data, size_t len)
{
	AUTO_FD fd = -1;
	struct error e;

	/* An earlier attempt may have got this far. */
	(void)unlinkat(folder_fd, name, 0);
	fd = openat(folder_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fchown(fd, account_uid(UID_SUPERVISOR),
	                  account_gid(UID_SUPERVISOR)) < 0)
		return -1;
	return file_write_all(fd, data, len, &e);
}

static int write_receipts(int folder_fd, const struct event_stored *s)
{
	AUTO_FREE char *text = malloc(DSSE_ENVELOPE_MAX);
	struct text_out out = { text, DSSE_ENVELOPE_MAX, 0 };
	struct error e;

	if (text == NULL ||
	    dsse_envelope(s->line.data, (size_t)s->line.len, s->record_key,
	        &out, &e) < 0 ||
	    write_file(folder_fd, "record.dsse.json", out.data, out.len) < 0)
		return -1;
	return write_file(folder_fd, "record.tlog-proof", s->proof.data,
	    (size_t)s->proof.len);
}

static int recover_one(const struct state *state, struct audit_client *audit,
    const char *name, union audit_reply *reply, struct error *e)
{
	struct event_recall what = { .ticket = 1 };
	AUTO_FD folder_fd = -1;
	int found;

	if (!parse_run(name, what.run) ||
	    open_at(state->quarantine_fd, name, O_RDONLY | O_DIRECTORY,
	        &folder_fd) < 0 ||
	    !is_whole(folder_fd, what.manifest))
		return 0;
	found = ask(audit, &what, reply, e);
	if (found != 0)
		return found < 0 ? -1 : 0;
	/* What fails here (a full disk) stays in quarantine. */
	if (write_receipts(folder_fd, &reply->stored) == 0)
		(void)renameat(
		    state->quarantine_fd, name, state->results_fd, name);
	return 0;
}

int recover_runs(
    const struct state *state, struct audit_client *audit, struct error *e)
{
	union audit_reply *reply;
	int failed = 0;

	if (state->n_left == 0)
		return 0;
	reply = malloc(sizeof(*reply));
	if (reply == NULL)
		return FAIL_SYS(e, "look after unpublished runs");
	for (size_t i = 0; failed == 0 && i < state->n_left; i++)
		failed = recover_one(state, audit, state->left[i], reply, e);
	free(reply);
	return failed;
}
