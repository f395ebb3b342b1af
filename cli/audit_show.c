/*
 * cli/audit_show.c - `bailiff audit show`.  Linked by bailiff-audit.  The log is
 * hostile, and read only after the process has confined itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/lines.h"
#include "audit/show.h"
#include "base/file.h"
#include "base/number.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

#define FLUSH_BYTES 65536

/* How often a followed log is looked at. */
#define FOLLOW_NS 200000000L

enum option {
	OPTION_SEQ,
	OPTION_REQ,
	OPTION_TYPE,
	OPTION_STATUS,
	OPTION_DECISION,
	OPTION_LANG,
	OPTION_UID,
	OPTION_RULE,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_FOLLOW,
	OPTION_JSON,
	N_OPTIONS,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_SEQ] = { "--seq", "N", "this record only, with all its fields", false },
	[OPTION_REQ] = { "--req", "ID", "records of this run", false },
	[OPTION_TYPE] = { "--type", "TYPE", "records of this type: intent, denial, outcome, ...", false },
	[OPTION_STATUS] = { "--status", "WORD", "outcomes with this status: ok, error, timeout, ...", false },
	[OPTION_DECISION] = { "--decision", "WORD", "records with this decision: allow or deny", false },
	[OPTION_LANG] = { "--lang", "NAME", "requests in this language", false },
	[OPTION_UID] = { "--uid", "N", "requests of this principal", false },
	[OPTION_RULE] = { "--rule", "ID", "requests that met this rule; path means path.traversal and its kin too", false },
	[OPTION_SINCE] = { "--since", "TIME", "records from then on; 2026-11-30 or 2026-11-30T18:00", false },
	[OPTION_UNTIL] = { "--until", "TIME", "records before then", false },
	[OPTION_FOLLOW] = { "--follow", NULL, "go on with records as they are written, until interrupted", false },
	[OPTION_JSON] = { "--json", NULL, "the records as they are stored, one JSON object a line", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit show",
	.usage = "[DIR] [options]",
	.about =
	    "List the records of a log.  DIR is an audit folder or a state "
	    "directory; without\nit, the state directory of this account.  "
	    "This shows, it does not verify.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "examples:\n"
	    "  bailiff audit show --type denial --since 2026-11-30\n"
	    "  bailiff audit show --rule path --uid 1000 --follow\n"
	    "  bailiff audit show --seq 12\n"
	    "  bailiff audit show --json | jq .stmt.predicate\n\n"
	    "exit codes:\n"
	    "  0 shown   1 a line is no record (nothing after it is shown), or "
	    "none matched\n"
	    "  2 could not run\n",
};

struct filter {
	const char *dir;
	const char *values[N_OPTIONS]; /* as given; NULL: not given */
	bool follow, json;
};

struct show {
	const struct filter *filter; /* borrowed */
	struct lines lines;
	struct text_out out; /* data owned */
	uint64_t n_seen, n_shown;
};

/* Options that want a member of the predicate to say exactly this. */
static const struct {
	enum option option;
	const char *member, *of_member;
} exact[] = {
	{ OPTION_SEQ, "seq", NULL },
	{ OPTION_REQ, "req", NULL },
	{ OPTION_TYPE, "type", NULL },
	{ OPTION_STATUS, "status", NULL },
	{ OPTION_DECISION, "decision", NULL },
	{ OPTION_LANG, "code", "lang" },
	{ OPTION_UID, "principal", "uid" },
};

static int check_time(const char *name, const char *value, struct error *e)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";

	for (size_t i = 0; value[i] != '\0'; i++)
		if (i >= sizeof(form) - 1 ||
		    (form[i] == 'd' ? value[i] < '0' || value[i] > '9'
		                    : value[i] != form[i]))
			return FAIL(e, ERROR_USAGE,
			    "%s %.40s: write 2026-11-30, or more of "
			    "2026-11-30T18:00:00.000000Z",
			    name, value);
	return 0;
}

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	static const struct number_range range = { 0, C1_NUMBER_MAX };
	struct filter *f = into;
	uint64_t number;

	f->values[option] = value;
	switch ((enum option)option) {
	case OPTION_SEQ:
	case OPTION_UID:
		return number_parse(
		    value, rows[option].name, range, &number, e);
	case OPTION_SINCE:
	case OPTION_UNTIL:
		return check_time(rows[option].name, value, e);
	case OPTION_FOLLOW:
		f->follow = true;
		break;
	case OPTION_JSON:
		f->json = true;
		break;
	case OPTION_REQ:
	case OPTION_TYPE:
	case OPTION_STATUS:
	case OPTION_DECISION:
	case OPTION_LANG:
	case OPTION_RULE:
	case N_OPTIONS:
		break;
	}
	return 0;
}

static bool is_scalar(const struct c1_value *v, const char *text)
{
	return (v->kind == C1_STRING || v->kind == C1_NUMBER) &&
	       v->len == strlen(text) && memcmp(v->at, text, v->len) == 0;
}

/* The id itself, or one below it. */
static bool names_rule(const struct c1_value *list, const char *rule)
{
	size_t len = strlen(rule);
	struct c1_member m;
	struct c1_walk w;

	c1_walk(list, &w);
	while (c1_next(&w, &m))
		if (m.value.len >= len && memcmp(m.value.at, rule, len) == 0 &&
		    (m.value.len == len || m.value.at[len] == '.'))
			return true;
	return false;
}

static bool is_wanted(const struct filter *f, const struct entry *entry)
{
	const char *const *values = f->values;
	const struct c1_value *when = &entry->fields[ENTRY_TIME];

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		const char *wanted = values[exact[i].option];
		struct c1_value v =
		    c1_member(&entry->predicate, exact[i].member);

		if (wanted == NULL)
			continue;
		if (exact[i].of_member != NULL)
			v = c1_member(&v, exact[i].of_member);
		if (!is_scalar(&v, wanted))
			return false;
	}
	if (values[OPTION_RULE] != NULL &&
	    !names_rule(&entry->fields[ENTRY_RULES], values[OPTION_RULE]) &&
	    !names_rule(&entry->fields[ENTRY_REASONS], values[OPTION_RULE]))
		return false;
	/* Times of one form: their order is that of their bytes. */
	return (values[OPTION_SINCE] == NULL ||
	           memcmp(when->at, values[OPTION_SINCE],
	               strlen(values[OPTION_SINCE])) >= 0) &&
	       (values[OPTION_UNTIL] == NULL ||
	           memcmp(when->at, values[OPTION_UNTIL],
	               strlen(values[OPTION_UNTIL])) < 0);
}

static int flush(struct show *s)
{
	int failed = say_out(s->out.data, s->out.len);

	s->out.len = 0;
	return failed;
}

/* 0, or an exit code. */
static int show_one(struct show *s, const struct entry *entry, struct error *e)
{
	int done;

	if (!is_wanted(s->filter, entry))
		return 0;
	s->n_shown++;
	if (s->filter->json)
		done = text_printf(
		    &s->out, e, "%.*s\n", (int)entry->len, entry->line);
	else if (s->filter->values[OPTION_SEQ] != NULL)
		done = show_fields(entry, &s->out, e);
	else
		done = show_line(entry, &s->out, e);
	if (done < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	return s->out.len >= FLUSH_BYTES ? flush(s) : 0;
}

/* A line of the log; an exit code, 0 to go on. */
static int take_line(
    struct show *s, const struct lines_line *line, struct error *e)
{
	struct entry entry;

	if (line->kind != LINES_ONE)
		error_fill(e, ERROR_MALFORMED, 0,
		    "too long, or torn before another segment");
	else if (entry_read(line->text, line->len, &entry, e) == 0)
		return show_one(s, &entry, e);
	if (flush(s) == 0)
		say_line("line %" PRIu64 " at byte %" PRIu64
		         " is no record: %s; see bailiff audit verify",
		    s->n_seen, line->offset, e->text);
	return VERDICT_TAMPERED;
}

static int finish(struct show *s, const struct lines_line *line)
{
	int failed = flush(s);

	if (failed != 0)
		return failed;
	if (line->kind == LINES_TORN)
		say_line("%zu bytes at the end are no whole line; see bailiff "
		         "audit verify",
		    line->len);
	if (s->n_shown > 0)
		return 0;
	say_line("none of %" PRIu64 " records matches", s->n_seen);
	return 1;
}

/* What was found is told, then the log is looked at again. */
static int wait_for_more(struct show *s)
{
	const struct timespec pause = { 0, FOLLOW_NS };

	(void)nanosleep(&pause, NULL);
	return s->out.len > 0 ? flush(s) : 0;
}

static int show_all(struct show *s, struct error *e)
{
	struct lines_line line;
	int code = 0;

	while (code == 0) {
		if (lines_next(&s->lines, &line, e) < 0)
			return say_failed(e, VERDICT_NOT_RUN);
		if (line.kind != LINES_END && line.kind != LINES_TORN) {
			code = take_line(s, &line, e);
			s->n_seen++;
		} else if (s->filter->follow) {
			code = wait_for_more(s);
		} else {
			return finish(s, &line);
		}
	}
	return code;
}

static int run(const struct filter *f, struct error *e)
{
	struct audit_place place = AUDIT_PLACE_NONE;
	struct show s = { .filter = f, .lines = { .fd = -1, .next_fd = -1 } };
	size_t cap = SHOW_FIELDS_MAX + FLUSH_BYTES;
	int code;

	s.out = (struct text_out){ malloc(cap), cap, 0 };
	if (s.out.data == NULL) {
		error_fill(e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(e, VERDICT_NOT_RUN);
	}
	if (audit_place_open(f->dir, NULL, &place, e) < 0 ||
	    audit_confine(&place, 1, e) < 0 ||
	    lines_open(place.log_fd, &s.lines, e) < 0)
		code = say_failed(e, VERDICT_NOT_RUN);
	else
		code = show_all(&s, e);
	lines_close(&s.lines);
	audit_place_close(&place);
	free(s.out.data);
	return code;
}

int audit_show_main(char **words)
{
	struct filter f = { 0 };
	const struct options_into to = { take_option, &f, &f.dir, 1,
		"one folder" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	return help ? options_help(&command) : run(&f, &e);
}
