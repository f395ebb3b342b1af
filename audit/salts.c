/*
 * audit/salts.c - finds and erases salts.  Linked by the signer, which trusts
 * its own log: strings in it hold no quotation mark (profile c1), so a member
 * stands in a line as its bytes or not at all.
 */
#include "audit/salts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/entry.h"
#include "audit/lines.h"
#include "audit/record.h"
#include "base/own.h"

#define RUN_MEMBER  "\"req\":\"r_"
#define TYPE_MEMBER "\"type\":\"intent\""
#define NUMBER_LEN  8
#define NAME_LEN    24
#define BLOCK       (STORE_SALT_SIZE * 100)

static const uint8_t erased[RECORD_SALT];

static bool is_wanted(
    const struct salts_search *what, const uint8_t run[EVENT_RUN_BYTES])
{
	for (size_t i = 0; i < what->n_runs; i++)
		if (memcmp(what->runs[i].run, run, EVENT_RUN_BYTES) == 0)
			return true;
	return false;
}

/* Takes the line if it is the intent of one of them. */
static int look_at(const struct salts_search *what,
    const struct lines_line *line, struct record_redact *ret, struct error *e)
{
	const char *at =
	    memmem(line->text, line->len, RUN_MEMBER, strlen(RUN_MEMBER));
	struct record_salt *salt = &ret->salts[ret->n];
	uint8_t run[EVENT_RUN_BYTES];
	struct c1_value hex;
	struct entry entry;

	if (at == NULL || ret->n == EVENT_BATCH_MAX ||
	    memmem(line->text, line->len, TYPE_MEMBER, strlen(TYPE_MEMBER)) ==
	        NULL)
		return 0;
	at += strlen(RUN_MEMBER);
	if ((size_t)(line->text + line->len - at) < 2 * sizeof(run))
		return 0;
	hex = (struct c1_value){ C1_STRING, at, 2 * sizeof(run) };
	if (!c1_hex(&hex, run, sizeof(run)) || !is_wanted(what, run))
		return 0;
	if (entry_read(line->text, line->len, &entry, e) < 0)
		return -1;
	memcpy(salt->run, run, sizeof(run));
	salt->epoch = entry.epoch;
	salt->seq = entry.seq;
	ret->n++;
	return 0;
}

static int missing(const struct salts_search *what,
    const struct record_redact *found, struct error *e)
{
	char text[2 * EVENT_RUN_BYTES + 1] = "";
	const uint8_t *run = NULL;

	for (size_t i = 0; i < what->n_runs; i++) {
		bool there = false;

		for (size_t k = 0; k < found->n; k++)
			there |= memcmp(what->runs[i].run, found->salts[k].run,
			             EVENT_RUN_BYTES) == 0;
		if (!there)
			run = what->runs[i].run;
	}
	if (run == NULL)
		return FAIL(e, ERROR_STATE, "a run is named twice");
	for (size_t i = 0; i < EVENT_RUN_BYTES; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", run[i]);
	return FAIL(e, ERROR_STATE,
	    "the log has no run r_%s that was allowed; nothing was erased",
	    text);
}

int salts_find(
    const struct salts_search *what, struct record_redact *ret, struct error *e)
{
	struct lines lines;
	struct lines_line line;
	int failed = lines_open(what->log_dir_fd, &lines, e);

	ret->n = 0;
	for (uint64_t i = 0;
	     failed == 0 && i < what->size && ret->n < what->n_runs; i++) {
		failed = lines_next(&lines, &line, e);
		if (failed == 0 && line.kind != LINES_ONE)
			failed = FAIL(
			    e, ERROR_STATE, "the log is shorter than it was");
		if (failed == 0)
			failed = look_at(what, &line, ret, e);
	}
	lines_close(&lines);
	if (failed == 0 && ret->n < what->n_runs)
		failed = missing(what, ret, e);
	return failed;
}

/* Offset of the entry, or -1. */
static off_t find_entry(int fd, uint64_t seq, struct error *e)
{
	uint8_t block[BLOCK];
	uint8_t wanted[NUMBER_LEN];
	off_t at = 0;

	for (size_t i = 0; i < NUMBER_LEN; i++)
		wanted[i] = (uint8_t)(seq >> (8 * (NUMBER_LEN - 1 - i)));
	for (;;) {
		ssize_t got = pread(fd, block, sizeof(block), at);

		if (got < 0)
			return FAIL_SYS(e, "read salts");
		if (got < STORE_SALT_SIZE)
			return FAIL(e, ERROR_CLOSED, "no such salt");
		for (ssize_t i = 0; i + STORE_SALT_SIZE <= got;
		     i += STORE_SALT_SIZE)
			if (memcmp(block + i, wanted, NUMBER_LEN) == 0)
				return at + i;
		at += got - got % STORE_SALT_SIZE;
	}
}

int salts_erase(
    struct store *s, const struct record_salt *salt, struct error *e)
{
	char name[NAME_LEN];
	const struct store_file file = { s->salts_dir_fd, name };
	uint8_t now[RECORD_SALT];
	AUTO_FD fd = -1;
	off_t at;

	(void)snprintf(
	    name, sizeof(name), "%llu", (unsigned long long)salt->epoch);
	/* Not the descriptor that appends: pwrite(2) would append as well. */
	if (store_open_file(&file, O_RDWR, &fd, e) < 0)
		return e->saved_errno == ENOENT ? 0 : -1;
	at = find_entry(fd, salt->seq, e);
	if (at < 0)
		return e->kind == ERROR_CLOSED ? 0 : -1;
	at += NUMBER_LEN;
	if (pread(fd, now, sizeof(now), at) == sizeof(now) &&
	    memcmp(now, erased, sizeof(now)) == 0)
		return 0;
	if (pwrite(fd, erased, sizeof(erased), at) != sizeof(erased) ||
	    fdatasync(fd) < 0)
		return FAIL_SYS(e, "erase a salt");
	return 0;
}

int salts_erase_named(
    struct store *s, const struct entry *redact, struct error *e)
{
	struct c1_value runs = c1_member(&redact->predicate, "runs");
	struct c1_member m;
	struct c1_walk w;

	c1_walk(&runs, &w);
	while (c1_next(&w, &m)) {
		struct c1_value epoch = c1_member(&m.value, "epoch");
		struct c1_value seq = c1_member(&m.value, "seq");
		struct record_salt salt;

		if (!c1_number(&epoch, &salt.epoch) ||
		    !c1_number(&seq, &salt.seq))
			return FAIL(e, ERROR_TAMPERED,
			    "redact without epoch and seq of a run");
		if (salts_erase(s, &salt, e) < 0)
			return -1;
	}
	return 0;
}
