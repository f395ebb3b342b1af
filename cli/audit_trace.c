/*
 * cli/audit_trace.c - `bailiff audit trace`.  Linked by bailiff-audit.  The
 * trace is hostile, and read only after the process has confined itself.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/trace_show.h"
#include "base/file.h"
#include "base/gunzip.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

/* 200,000 events of the longest lines that we write, and the books; of what a
 * packed file holds, too, which may be a thousand times its size. */
#define FILE_MAX    (UINT64_C(1) << 31)
#define OUT_BYTES   (4u << 20)
#define FLUSH_BYTES (1u << 20)

enum option {
	OPTION_DENIED,
	OPTION_FILES,
	OPTION_NET,
	OPTION_EXEC,
	OPTION_SUMMARY,
	OPTION_JSON,
	N_OPTIONS,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_DENIED] = { "--denied", NULL, "calls that the filter or the kernel refused", false },
	[OPTION_FILES] = { "--files", NULL, "opens, renames, removals, ...", false },
	[OPTION_NET] = { "--net", NULL, "sockets: made, bound, connected", false },
	[OPTION_EXEC] = { "--exec", NULL, "programs, processes, threads, their ends, signals", false },
	[OPTION_SUMMARY] = { "--summary", NULL, "how often each call was made, and its errors", false },
	[OPTION_JSON] = { "--json", NULL, "the file as it is, one JSON object a line", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit trace",
	.usage = "RUN [DIR] [options]",
	.about =
	    "Show what a traced run did: time since its start in seconds, "
	    "thread, call,\narguments, answer.  RUN is its id, r_...; DIR is a "
	    "state directory; without it, that\nof this account.  This shows, "
	    "bailiff audit verify --results verifies.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "examples:\n"
	    "  bailiff audit trace r_0123456789abcdef0123456789abcdef "
	    "--denied\n"
	    "  bailiff audit trace r_0123456789abcdef0123456789abcdef --json | "
	    "jq .truth\n\n"
	    "\"a -> b\" is what the program named and what the kernel opened.  "
	    "The format of the\nfile: docs/trace.md.\n\n"
	    "exit codes:\n"
	    "  0 shown   1 the trace is not complete, or no trace of ours   2 "
	    "could not run\n",
};

struct ask {
	const char *words[2]; /* RUN, DIR */
	enum trace_want want;
	bool json;
};

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct ask *a = into;

	(void)value;
	if (option == OPTION_JSON) {
		a->json = true;
		return 0;
	}
	if (a->want != TRACE_WANT_ALL)
		return FAIL(e, ERROR_USAGE, "%s: one of them at a time",
		    rows[option].name);
	a->want = (enum trace_want)(option - OPTION_DENIED + TRACE_WANT_DENIED);
	return 0;
}

static int check_run(const char *run, struct error *e)
{
	if (run == NULL)
		return FAIL(e, ERROR_USAGE,
		    "whose trace? write bailiff audit trace RUN");
	if (strncmp(run, "r_", 2) != 0 || strlen(run) != 34 ||
	    strspn(run + 2, "0123456789abcdef") != 32)
		return FAIL(e, ERROR_USAGE,
		    "%.80s is no run id; one is r_ and 32 hex digits", run);
	return 0;
}

static int read_trace(const struct audit_place *place, const char *run,
    uint8_t **ret, size_t *ret_len, struct error *e)
{
	static const char *const names[] = { "trace.jsonl", "trace.jsonl.gz" };
	char path[64];
	struct file_open what = { place->results_fd, path, O_RDONLY, 0 };
	AUTO_FD fd = -1;

	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", run, names[i]);
		if (file_open_beneath(&what, &fd, e) < 0)
			continue;
		return i == 0 ? file_read_all(fd, FILE_MAX, ret, ret_len, e)
		              : gunzip_read_all(fd, FILE_MAX, ret, ret_len, e);
	}
	return FAIL_IN(e,
	    "there is no trace of that run (was its policy's trace "
	    "\"off\"?)");
}

static int show_events(struct trace_file *f, const struct ask *a,
    struct text_out *out, struct error *e)
{
	for (size_t i = 0; i < f->n; i++) {
		if (trace_show_event(f, i, a->want, out, e) < 0)
			return say_failed(e, VERDICT_NOT_RUN);
		if (out->len < FLUSH_BYTES)
			continue;
		if (say_out(out->data, out->len) != 0)
			return VERDICT_NOT_RUN;
		out->len = 0;
	}
	return 0;
}

static bool is_complete(const struct trace_file *f)
{
	static const char whole[] = "{\"type\":\"books\",\"complete\":true";

	return f->books.len > sizeof(whole) &&
	       memcmp(f->text + f->books.at, whole, sizeof(whole) - 1) == 0;
}

static int show(const char *text, size_t len, const struct ask *a)
{
	struct trace_file f;
	struct error e;
	struct text_out out = { malloc(OUT_BYTES), OUT_BYTES, 0 };
	int code = 0;

	if (out.data == NULL) {
		error_fill(&e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(&e, VERDICT_NOT_RUN);
	}
	if (trace_file_open(text, len, &f, &e) < 0) {
		free(out.data);
		return say_failed(&e, 1);
	}
	if (trace_show_head(&f, &out, &e) < 0 ||
	    (a->want == TRACE_WANT_SUMMARY &&
	        trace_show_counts(&f, &out, &e) < 0))
		code = say_failed(&e, VERDICT_NOT_RUN);
	if (code == 0)
		code = show_events(&f, a, &out, &e);
	if (code == 0)
		code = say_out(out.data, out.len);
	if (code == 0 && !is_complete(&f))
		code = 1;
	trace_file_close(&f);
	free(out.data);
	return code;
}

static int run(const struct ask *a, struct error *e)
{
	struct audit_place place = AUDIT_PLACE_NONE;
	AUTO_FREE uint8_t *data = NULL;
	size_t len = 0;
	int code;

	if (audit_place_open(a->words[1], "", &place, e) < 0 ||
	    audit_confine(&place, 1, e) < 0 ||
	    read_trace(&place, a->words[0], &data, &len, e) < 0)
		code = say_failed(e, VERDICT_NOT_RUN);
	else if (a->json)
		code = say_out((const char *)data, len);
	else
		code = show((const char *)data, len, a);
	audit_place_close(&place);
	return code;
}

int audit_trace_main(char **words)
{
	struct ask a = { .want = TRACE_WANT_ALL };
	const struct options_into to = { take_option, &a, a.words, 2,
		"a run and one folder" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (check_run(a.words[0], &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	return run(&a, &e);
}
