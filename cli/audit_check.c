/*
 * cli/audit_check.c - `bailiff audit check`.  Linked by bailiff-audit.  Receipt
 * and record are hostile: read before the process confines itself, parsed after.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/prove.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

enum option {
	OPTION_RECORD,
	OPTION_KEY,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_RECORD] = { "--record", "FILE", "the record: a line of the log, or record.dsse.json of a result", false },
	[OPTION_KEY] = { "--key", "VKEY", "trust this verifier key, or the one in a file of that name", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit check",
	.usage = "RECEIPT --record FILE [options]",
	.about =
	    "Check a receipt (C2SP tlog-proof) of a record without the log: "
	    "the record is in\nthe tree whose head the log's key signed.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "Without --key, the local key with the log's id is trusted, as for "
	    "verify.\n\n"
	    "examples:\n"
	    "  cd results/r_... && bailiff audit check record.tlog-proof "
	    "--record record.dsse.json\n\n"
	    "exit codes:\n"
	    "  0 PROVEN   1 it does not prove that record   2 could not run\n",
};

struct request {
	const char *receipt, *record, *key;
};

struct inputs {
	struct note_key key;
	uint8_t *receipt, *record; /* owned */
	size_t receipt_len, record_len;
	struct audit_place place;
	char line[DSSE_LINE_MAX + 1];
};

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct request *r = into;

	(void)e;
	switch ((enum option)option) {
	case OPTION_RECORD:
		r->record = value;
		break;
	case OPTION_KEY:
		r->key = value;
		break;
	}
	return 0;
}

/* A line of the log with or without its LF, or an envelope. */
static int read_record(struct inputs *in, struct entry *ret, struct error *e)
{
	static const char frame[] = "{\"payload\"";
	struct text_out line = { in->line, sizeof(in->line), 0 };
	const char *text = (const char *)in->record;
	size_t len = in->record_len;

	if (len >= sizeof(frame) &&
	    memcmp(text, frame, sizeof(frame) - 1) == 0) {
		if (dsse_line(text, len, &line, e) < 0)
			return -1;
		text = line.data;
		len = line.len;
	} else if (len > 0 && text[len - 1] == '\n') {
		len--;
	}
	return entry_read(text, len, ret, e);
}

static int check(const struct request *r, struct inputs *in, struct error *e)
{
	struct prove_receipt receipt = { .proof = in->receipt,
		.proof_len = in->receipt_len,
		.key = r->key != NULL ? &in->key : NULL,
		.pin_fds = in->place.pin_fds };
	struct note_proof proof;
	struct note_key pin;
	struct entry record;
	char text[NOTE_NAME_MAX + 300];
	struct text_out out = { text, sizeof(text), 0 };

	if (read_record(in, &record, e) < 0) {
		error_prefix(e, "%s", r->record);
		return say_failed(e, VERDICT_TAMPERED);
	}
	receipt.record = &record;
	if (prove_check(&receipt, &proof, &pin, e) < 0) {
		error_prefix(e, "%s", r->receipt);
		return say_failed(e, e->kind == ERROR_TAMPERED
		                         ? VERDICT_TAMPERED
		                         : VERDICT_NOT_RUN);
	}
	if (text_printf(&out, e,
	        "PROVEN: record %" PRIu64 ", %.*s of %.*s, is in the log %s at "
	        "%" PRIu64 " records\nAssurance: pin: %s\n",
	        record.seq, (int)record.fields[ENTRY_TYPE].len,
	        record.fields[ENTRY_TYPE].at,
	        (int)record.fields[ENTRY_TIME].len,
	        record.fields[ENTRY_TIME].at, pin.name, proof.head.size,
	        r->key != NULL ? "--key" : "local key") < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	return say_out(out.data, out.len) != 0 ? VERDICT_NOT_RUN : 0;
}

static int run(const struct request *r, struct inputs *in, struct error *e)
{
	if (r->key != NULL && audit_read_key(r->key, &in->key, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	if (audit_read_file(r->receipt, NOTE_BYTES_MAX, &in->receipt,
	        &in->receipt_len, e) < 0 ||
	    audit_read_file(r->record, DSSE_ENVELOPE_MAX, &in->record,
	        &in->record_len, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	audit_place_open_pins(&in->place);
	if (audit_confine(&in->place, 1, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	return check(r, in, e);
}

int audit_check_main(char **words)
{
	struct request r = { 0 };
	const struct options_into to = { take_option, &r, &r.receipt, 1,
		"one receipt" };
	struct inputs *in;
	struct error e;
	bool help = false;
	int code;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (r.receipt == NULL || r.record == NULL) {
		say_line("check what? write bailiff audit check RECEIPT "
		         "--record FILE");
		return EXIT_USAGE;
	}
	in = calloc(1, sizeof(*in));
	if (in == NULL) {
		error_fill(&e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(&e, VERDICT_NOT_RUN);
	}
	in->place = (struct audit_place)AUDIT_PLACE_NONE;
	code = run(&r, in, &e);
	audit_place_close(&in->place);
	free(in->receipt);
	free(in->record);
	free(in);
	return code;
}
