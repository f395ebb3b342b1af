/*
 * cli/audit_export.c - `bailiff audit export`.  Linked by bailiff-audit.  The
 * log is hostile, and read only after the process has confined itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/export.h"
#include "audit/lines.h"
#include "base/number.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

#define FLUSH_BYTES 65536

enum option {
	OPTION_FORMAT,
	OPTION_RANGE,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_FORMAT] = { "--format", "WORD", "dsse, csv or ocsf", false },
	[OPTION_RANGE] = { "--range", "A-B", "records A to B only, both with them", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit export",
	.usage = "[DIR] --format WORD [options]",
	.about = "Write the records of a log for other tools: dsse is one DSSE "
	         "envelope (in-toto) a\nline, csv a table (RFC 4180), ocsf one "
	         "event "
	         "of OCSF 1.3.0 a line.  DIR is as for\nverify; this does not "
	         "verify.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes = "examples:\n"
	         "  bailiff audit export --format csv > runs.csv\n"
	         "  bailiff audit export --format ocsf --range 100-199\n\n"
	         "exit codes:\n"
	         "  0 written   1 a line is no record (nothing after it is "
	         "written)\n"
	         "  2 could not run\n",
};

struct request {
	const char *dir;
	enum export_format format; /* EXPORT_FORMATS: not said */
	uint64_t from, to;
};

static int read_format(
    const char *word, enum export_format *ret, struct error *e)
{
	for (size_t i = 0; i < EXPORT_FORMATS; i++)
		if (strcmp(word, export_words[i]) == 0) {
			*ret = (enum export_format)i;
			return 0;
		}
	return FAIL(
	    e, ERROR_USAGE, "--format %.40s: write dsse, csv or ocsf", word);
}

static int read_range(const char *text, struct request *r, struct error *e)
{
	static const struct number_range range = { 0, C1_NUMBER_MAX };
	const char *dash = strchr(text, '-');
	char from[24];

	if (dash == NULL || (size_t)(dash - text) >= sizeof(from))
		return FAIL(e, ERROR_USAGE,
		    "--range %.40s: write two numbers, as 100-199", text);
	memcpy(from, text, (size_t)(dash - text));
	from[dash - text] = '\0';
	if (number_parse(from, "--range", range, &r->from, e) < 0 ||
	    number_parse(dash + 1, "--range", range, &r->to, e) < 0)
		return -1;
	if (r->from > r->to)
		return FAIL(e, ERROR_USAGE,
		    "--range %.40s: the first number is the larger one", text);
	return 0;
}

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct request *r = into;

	switch ((enum option)option) {
	case OPTION_FORMAT:
		return read_format(value, &r->format, e);
	case OPTION_RANGE:
		return read_range(value, r, e);
	}
	return 0;
}

struct writer {
	const struct request *request; /* borrowed */
	struct export x;
	struct lines lines;
	struct text_out out; /* data owned */
	uint64_t n;
};

static int flush(struct writer *w)
{
	int failed = say_out(w->out.data, w->out.len);

	w->out.len = 0;
	return failed != 0 ? VERDICT_NOT_RUN : 0;
}

/* A line that is no record ends it: what stands behind cannot be trusted to
 * be whole.  An exit code, 0 to go on. */
static int take_line(
    struct writer *w, const struct lines_line *line, struct error *e)
{
	struct entry entry;

	if (line->kind != LINES_ONE)
		error_fill(e, ERROR_MALFORMED, 0,
		    "too long, or torn before another segment");
	else if (entry_read(line->text, line->len, &entry, e) == 0 &&
	         export_see(&w->x, &entry, e) == 0) {
		if (w->n < w->request->from)
			return 0;
		if (export_record(&w->x, &entry, &w->out, e) < 0)
			return say_failed(e, VERDICT_NOT_RUN);
		return w->out.len >= FLUSH_BYTES ? flush(w) : 0;
	}
	if (flush(w) == 0)
		say_line("line %" PRIu64 " at byte %" PRIu64
		         " is no record: %s; see bailiff audit verify",
		    w->n, line->offset, e->text);
	return VERDICT_TAMPERED;
}

static int write_all(struct writer *w, struct error *e)
{
	struct lines_line line;

	if (export_begin(&w->x, &w->out, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	for (; w->n <= w->request->to; w->n++) {
		int code;

		if (lines_next(&w->lines, &line, e) < 0)
			return say_failed(e, VERDICT_NOT_RUN);
		if (line.kind == LINES_TORN)
			say_line("%zu bytes at the end are no whole line; see "
			         "bailiff audit verify",
			    line.len);
		if (line.kind == LINES_END || line.kind == LINES_TORN)
			break;
		code = take_line(w, &line, e);
		if (code != 0)
			return code;
	}
	return flush(w);
}

static int run(const struct request *r, struct error *e)
{
	struct audit_place place = AUDIT_PLACE_NONE;
	struct writer w = { .request = r,
		.x.format = r->format,
		.lines = { .fd = -1, .next_fd = -1 } };
	size_t cap = FLUSH_BYTES + EXPORT_RECORD_MAX;
	int code;

	w.out = (struct text_out){ malloc(cap), cap, 0 };
	if (w.out.data == NULL) {
		error_fill(e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(e, VERDICT_NOT_RUN);
	}
	if (audit_place_open(r->dir, NULL, &place, e) < 0 ||
	    audit_confine(&place, 1, e) < 0 ||
	    lines_open(place.log_fd, &w.lines, e) < 0)
		code = say_failed(e, VERDICT_NOT_RUN);
	else
		code = write_all(&w, e);
	lines_close(&w.lines);
	audit_place_close(&place);
	free(w.out.data);
	return code;
}

int audit_export_main(char **words)
{
	struct request r = { .format = EXPORT_FORMATS, .to = C1_NUMBER_MAX };
	const struct options_into to = { take_option, &r, &r.dir, 1,
		"one folder" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (r.format == EXPORT_FORMATS) {
		say_line("export as what? write --format dsse, csv or ocsf");
		return EXIT_USAGE;
	}
	return run(&r, &e);
}
