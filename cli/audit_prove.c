/*
 * cli/audit_prove.c - `bailiff audit prove`.  Linked by bailiff-audit.  The log
 * is hostile, and read only after the process has confined itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "audit/checkpoint.h"
#include "audit/prove.h"
#include "base/number.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

/* A checkpoint with the path before it. */
#define PROOF_BYTES_MAX (NOTE_BYTES_MAX + 4096)

enum option {
	OPTION_SEQ,
	OPTION_REQ,
	OPTION_KEY,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_SEQ] = { "--seq", "N", "prove this record", false },
	[OPTION_REQ] = { "--req", "ID", "prove the outcome or denial of this run, or its intent", false },
	[OPTION_KEY] = { "--key", "VKEY", "trust this verifier key, or the one in a file of that name", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit prove",
	.usage = "[DIR] --seq N | --req ID [options]",
	.about =
	    "Write the receipt of a record to standard output: a C2SP "
	    "tlog-proof around the\nlog's own checkpoint.  Who holds the log's "
	    "key and the record needs nothing else\nto check it.  DIR is as "
	    "for verify.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes = "examples:\n"
	         "  bailiff audit prove --seq 12 > 12.tlog-proof\n"
	         "  bailiff audit show --seq 12 --json > 12.json\n"
	         "  bailiff audit check 12.tlog-proof --record 12.json\n\n"
	         "exit codes:\n"
	         "  0 written   1 the log does not lead to its checkpoint\n"
	         "  2 could not run: no such record, no key to trust\n",
};

struct request {
	const char *dir, *key;
	struct prove_what what;
	bool by_seq;
};

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct request *r = into;

	switch ((enum option)option) {
	case OPTION_SEQ:
		r->by_seq = true;
		return number_parse(value, "--seq",
		    (struct number_range){ 0, C1_NUMBER_MAX }, &r->what.seq, e);
	case OPTION_REQ:
		r->what.req = value;
		break;
	case OPTION_KEY:
		r->key = value;
		break;
	}
	return 0;
}

static int prove(const struct request *r, const struct prove_from *from,
    struct text_out *out, struct error *e)
{
	struct prove_done done;

	if (prove_record(from, &r->what, out, &done, e) < 0)
		return say_failed(e, e->kind == ERROR_TAMPERED
		                         ? VERDICT_TAMPERED
		                         : VERDICT_NOT_RUN);
	if (done.index_is_wrong)
		say_line(
		    "audit/index is not of use: %s; read the whole log "
		    "instead.  The signer makes it anew when it starts and "
		    "index/ is gone",
		    done.why.text);
	return say_out(out->data, out->len) != 0 ? VERDICT_NOT_RUN : 0;
}

static int read_and_prove(const struct request *r,
    const struct audit_place *place, const struct note_key *key,
    struct error *e)
{
	struct text_out out = { malloc(PROOF_BYTES_MAX), PROOF_BYTES_MAX, 0 };
	AUTO_FREE uint8_t *note = NULL;
	struct text_out checkpoint = { 0 };
	struct prove_from from = { place->audit_fd, place->log_fd, &checkpoint,
		key, place->pin_fds };
	int code = VERDICT_NOT_RUN;

	if (out.data == NULL) {
		error_fill(e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(e, code);
	}
	if (checkpoint_read(place->audit_fd, &note, &checkpoint.len, e) < 0) {
		code = say_failed(e, code);
	} else if (note == NULL) {
		say_line("%s/checkpoint: there is none, so nothing can be "
		         "proven; see bailiff audit verify",
		    place->path);
	} else {
		checkpoint.data = (char *)note;
		code = prove(r, &from, &out, e);
	}
	free(out.data);
	return code;
}

static int run(const struct request *r, struct error *e)
{
	struct audit_place place = AUDIT_PLACE_NONE;
	struct note_key key;
	int code = VERDICT_NOT_RUN;

	if ((r->key != NULL && audit_read_key(r->key, &key, e) < 0) ||
	    audit_place_open(r->dir, NULL, &place, e) < 0 ||
	    audit_confine(&place, 1, e) < 0)
		code = say_failed(e, VERDICT_NOT_RUN);
	else
		code =
		    read_and_prove(r, &place, r->key != NULL ? &key : NULL, e);
	audit_place_close(&place);
	return code;
}

int audit_prove_main(char **words)
{
	struct request r = { 0 };
	const struct options_into to = { take_option, &r, &r.dir, 1,
		"one folder" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (r.by_seq == (r.what.req != NULL)) {
		say_line("prove which record? write --seq N or --req ID");
		return EXIT_USAGE;
	}
	return run(&r, &e);
}
