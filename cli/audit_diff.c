/*
 * cli/audit_diff.c - `bailiff audit diff`.  Linked by bailiff-audit.  Logs and
 * heads are hostile: read only after the process has confined itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/compare.h"
#include "audit/show.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

enum option {
	OPTION_KEY,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_KEY] = { "--key", "VKEY", "the key that signed the head: itself, or the file that holds it", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit diff",
	.usage = "LOG LOG | LOG HEAD --key VKEY",
	.about =
	    "Are two copies of a log one, does one begin the other, or do they "
	    "part, and where?\nLOG is a folder as for verify, HEAD a "
	    "checkpoint "
	    "or a receipt.  This compares\nbytes; whether a log holds is what "
	    "verify says.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "examples:\n"
	    "  bailiff audit diff /var/lib/bailiff /mnt/copy/audit\n"
	    "  bailiff audit diff /var/lib/bailiff /mnt/elsewhere/head --key "
	    "log.vkey\n\n"
	    "exit codes:\n"
	    "  0 equal, or one begins the other   2 could not run\n"
	    "  4 they part, or the log ends before a head held of it\n",
};

struct request {
	const char *sides[2];
	const char *key;
};

struct inputs {
	struct note_key key;
	struct audit_place places[2]; /* the second closed where it is a head */
	bool has_head;
	uint8_t *head; /* owned: a note or a receipt */
	size_t head_len;
	struct compare compare;
	char text[2 * SHOW_LINE_MAX + 2048];
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

static int is_folder(const char *path, bool *ret, struct error *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return FAIL_SYS(e, "%s", path);
	*ret = S_ISDIR(st.st_mode);
	return 0;
}

/* A log stands first, so that there is one to read. */
static int order_sides(struct request *r, bool *ret_head, struct error *e)
{
	bool folder[2];
	const char *other = r->sides[0];

	for (size_t i = 0; i < 2; i++)
		if (is_folder(r->sides[i], &folder[i], e) < 0)
			return -1;
	*ret_head = !folder[0] || !folder[1];
	if (!folder[0] && !folder[1])
		return FAIL(e, ERROR_USAGE,
		    "two heads cannot be compared without a log: name the "
		    "folder of one");
	if (*ret_head && r->key == NULL)
		return FAIL(e, ERROR_USAGE,
		    "%s: a head counts by its signature: give --key",
		    folder[0] ? r->sides[1] : r->sides[0]);
	if (folder[0])
		return 0;
	r->sides[0] = r->sides[1];
	r->sides[1] = other;
	return 0;
}

static int open_sides(struct request *r, struct inputs *in, struct error *e)
{
	if (order_sides(r, &in->has_head, e) < 0 ||
	    (r->key != NULL && audit_read_key(r->key, &in->key, e) < 0) ||
	    audit_place_open(r->sides[0], NULL, &in->places[0], e) < 0)
		return -1;
	if (in->has_head)
		return audit_read_file(
		    r->sides[1], NOTE_BYTES_MAX, &in->head, &in->head_len, e);
	return audit_place_open(r->sides[1], NULL, &in->places[1], e);
}

static int read_head(
    const struct inputs *in, struct tree_head *ret, struct error *e)
{
	struct note_proof proof;

	if (in->head_len < 8 || memcmp(in->head, "c2sp.org", 8) != 0)
		return note_open(in->head, in->head_len, &in->key, ret, e);
	if (note_proof_open(in->head, in->head_len, &in->key, &proof, e) < 0)
		return -1;
	*ret = proof.head;
	return 0;
}

static int compare(const struct request *r, struct inputs *in, struct error *e)
{
	const int fds[2] = { in->places[0].log_fd, in->places[1].log_fd };
	struct tree_head head;

	if (!in->has_head)
		return compare_logs(fds, &in->compare, e);
	if (read_head(in, &head, e) < 0)
		return FAIL_IN(e, "%s", r->sides[1]);
	return compare_head(fds[0], &head, &in->compare, e);
}

static int put_side(struct text_out *out, const char *which, uint64_t records,
    const char *name, struct error *e)
{
	if (text_printf(out, e, "%-7s %8" PRIu64 " records  ", which, records) <
	    0)
		return -1;
	(void)text_escape(name, strlen(name), TEXT_KEEP_NONE, out);
	return text_printf(out, e, "\n");
}

/* The records where two logs part. */
static int put_parting(
    const struct compare *c, struct text_out *out, struct error *e)
{
	static const char *const names[2] = { "first", "second" };
	struct entry entry;

	for (size_t i = 0; i < 2; i++) {
		if (text_printf(out, e, "%-7s ", names[i]) < 0)
			return -1;
		if (entry_read(c->lines[i], c->lens[i], &entry, e) < 0) {
			if (text_printf(out, e, "%8" PRIu64 "  no record\n",
			        c->common) < 0)
				return -1;
		} else if (show_line(&entry, out, e) < 0) {
			return -1;
		}
	}
	return 0;
}

static int put_verdict(
    const struct inputs *in, struct text_out *out, struct error *e)
{
	static const char *const words[] = {
		[COMPARE_EQUAL] = "EQUAL",
		[COMPARE_FIRST_BEGINS] = "the first begins the second",
		[COMPARE_SECOND_BEGINS] = "the second begins the first",
		[COMPARE_FORK] = "DIVERGED",
		[COMPARE_SHORT] = "DIVERGED: the log ends before its head",
	};
	const struct compare *c = &in->compare;

	if (c->verdict == COMPARE_FORK && !in->has_head)
		return text_printf(out, e,
		    "DIVERGED: they part at record %" PRIu64 "\n", c->common);
	if (c->verdict == COMPARE_FORK)
		return text_printf(out, e,
		    "DIVERGED: its first %" PRIu64
		    " records do not lead to the head\n",
		    c->sizes[1]);
	return text_printf(out, e, "%s\n", words[c->verdict]);
}

static int print(const struct request *r, struct inputs *in, struct error *e)
{
	struct text_out out = { in->text, sizeof(in->text), 0 };
	const struct compare *c = &in->compare;
	bool diverged =
	    c->verdict == COMPARE_FORK || c->verdict == COMPARE_SHORT;

	if (put_side(&out, "first", c->sizes[0], r->sides[0], e) < 0 ||
	    put_side(&out, "second", c->sizes[1], r->sides[1], e) < 0 ||
	    (c->verdict == COMPARE_FORK && !in->has_head &&
	        put_parting(c, &out, e) < 0) ||
	    put_verdict(in, &out, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	if (say_out(out.data, out.len) != 0)
		return VERDICT_NOT_RUN;
	return diverged ? VERDICT_DIVERGED : 0;
}

static int run(struct request *r, struct inputs *in, struct error *e)
{
	if (open_sides(r, in, e) < 0 ||
	    audit_confine(in->places, AUDIT_PLACES_MAX, e) < 0 ||
	    compare(r, in, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	return print(r, in, e);
}

int audit_diff_main(char **words)
{
	struct request r = { 0 };
	const struct options_into to = { take_option, &r, r.sides, 2,
		"two logs, or a log and a head," };
	struct inputs *in;
	struct error e;
	bool help = false;
	int code;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (r.sides[1] == NULL) {
		say_line("compare what with what? write bailiff audit diff LOG "
		         "LOG, or LOG HEAD");
		return EXIT_USAGE;
	}
	in = calloc(1, sizeof(*in));
	if (in == NULL) {
		error_fill(&e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(&e, VERDICT_NOT_RUN);
	}
	for (size_t i = 0; i < 2; i++)
		in->places[i] = (struct audit_place)AUDIT_PLACE_NONE;
	code = run(&r, in, &e);
	for (size_t i = 0; i < 2; i++)
		audit_place_close(&in->places[i]);
	free(in->head);
	free(in);
	return code;
}
