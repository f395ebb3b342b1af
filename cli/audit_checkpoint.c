/*
 * cli/audit_checkpoint.c - `bailiff audit checkpoint`.  Linked by bailiff-audit.
 * The log is hostile, and read only after the process has confined itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "audit/checkpoint.h"
#include "audit/lines.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

enum option {
	OPTION_KEY,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_KEY] = { "--key", "VKEY", "trust this verifier key, or the one in a file of that name", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit checkpoint",
	.usage = "[DIR] [options]",
	.about =
	    "Print the signed head of a log, once its signature holds.  Kept "
	    "elsewhere it is\nwhat shows later that the log was cut or "
	    "rewritten.  DIR is as for verify.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "examples:\n"
	    "  bailiff audit checkpoint > /mnt/elsewhere/head\n"
	    "  bailiff audit verify --known /mnt/elsewhere/head\n\n"
	    "exit codes:\n"
	    "  0 printed   1 not signed by the trusted key   2 could not run\n",
};

struct request {
	const char *dir, *key;
};

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct request *r = into;

	(void)e;
	if ((enum option)option == OPTION_KEY)
		r->key = value;
	return 0;
}

/* The local key of the log that the first record names. */
static int local_pin(
    const struct audit_place *place, struct note_key *ret, struct error *e)
{
	struct lines lines;
	struct lines_line line;
	struct entry first;
	int done = -1;

	if (lines_open(place->log_fd, &lines, e) == 0 &&
	    lines_next(&lines, &line, e) == 0) {
		if (line.kind != LINES_ONE)
			(void)FAIL(e, ERROR_STATE,
			    "no key to trust: the log has no whole record; "
			    "give --key with the log's verifier key");
		else if (entry_read(line.text, line.len, &first, e) == 0)
			done = pin_find(place->pin_fds, &first, ret, e);
	}
	lines_close(&lines);
	return done;
}

static int print(
    const struct audit_place *place, struct note_key *key, struct error *e)
{
	AUTO_FREE uint8_t *note = NULL;
	struct tree_head head;
	size_t len;

	if (checkpoint_read(place->audit_fd, &note, &len, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	if (note == NULL) {
		say_line("%s/checkpoint: there is none; see bailiff audit "
		         "verify",
		    place->path);
		return VERDICT_TAMPERED;
	}
	if (note_open(note, len, key, &head, e) < 0) {
		error_prefix(e, "%s/checkpoint", place->path);
		return say_failed(e, VERDICT_TAMPERED);
	}
	return say_out((const char *)note, len) != 0 ? VERDICT_NOT_RUN : 0;
}

static int run(const struct request *r, struct error *e)
{
	struct audit_place place = AUDIT_PLACE_NONE;
	struct note_key key;
	int code;

	if ((r->key != NULL && audit_read_key(r->key, &key, e) < 0) ||
	    audit_place_open(r->dir, NULL, &place, e) < 0 ||
	    audit_confine(&place, 1, e) < 0 ||
	    (r->key == NULL && local_pin(&place, &key, e) < 0))
		code = say_failed(e, VERDICT_NOT_RUN);
	else
		code = print(&place, &key, e);
	audit_place_close(&place);
	return code;
}

int audit_checkpoint_main(char **words)
{
	struct request r = { 0 };
	const struct options_into to = { take_option, &r, &r.dir, 1,
		"one folder" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	return help ? options_help(&command) : run(&r, &e);
}
