/*
 * cli/audit_facts.c - `bailiff audit facts`: what runs did, for programs.
 * Linked by bailiff-audit; `bailiff policy learn` starts it.  All files are
 * opened before the process confines itself and read after.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/facts.h"
#include "base/file.h"
#include "base/gunzip.h"
#include "base/own.h"
#include "cli/audit.h"
#include "cli/say.h"

#define RUNS_MAX  64
#define TRACE_MAX (UINT64_C(1) << 31)
#define SMALL_MAX ((size_t)1 << 20)
#define OUT_BYTES ((size_t)1 << 16)
#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

enum option {
	OPTION_STATE,
	OPTION_KEY,
	N_OPTIONS,
};

/* clang-format off */
static const struct option_row options[] = {
	[OPTION_STATE] = { "--state", "DIR", "where run ids are looked for; without it, this account's", false },
	[OPTION_KEY] = { "--key", "VKEY", "trust this verifier key, or the one in a file of that name", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit facts",
	.usage = "RUN... [options]",
	.about =
	    "Say what traced runs did, one JSON object a line, sorted: calls, "
	    "their judged\narguments, files.  RUN is a run id or a result "
	    "folder.  Only a run whose record is\nproven to be in the log, and "
	    "whose trace is the one that the record tells of and\ncomplete, is "
	    "told.  bailiff policy learn reads this.\n",
	.rows = options,
	.n_rows = N_OPTIONS,
	.notes = "exit codes:\n"
	         "  0 told   1 a run is not what its record says, or has no "
	         "whole trace   2 could not run\n",
};

enum part {
	PART_RECORD,
	PART_RECEIPT,
	PART_MANIFEST,
	PART_RESULT,
	PART_TRACE,
	PARTS,
};

static const struct {
	const char *name;
	uint64_t max;
} parts[PARTS] = {
	[PART_RECORD] = { "record.dsse.json", SMALL_MAX },
	[PART_RECEIPT] = { "record.tlog-proof", SMALL_MAX },
	[PART_MANIFEST] = { "MANIFEST", SMALL_MAX },
	[PART_RESULT] = { "result.json", SMALL_MAX },
	[PART_TRACE] = { "trace.jsonl", TRACE_MAX },
};

struct folder {
	const char *name;     /* as it was given */
	int fd[PARTS];        /* owned */
	bool is_packed;       /* the trace is gzip */
	uint8_t *data[PARTS]; /* owned, while it is its turn */
	size_t len[PARTS];
};

struct ask {
	const char *runs[RUNS_MAX + 1];
	const char *state, *key;
	struct note_key vkey;
	struct audit_place place;
	size_t n;
	struct folder folders[RUNS_MAX];
	size_t out_len;
	char out[OUT_BYTES];
};

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct ask *a = into;

	(void)e;
	if (option == OPTION_STATE)
		a->state = value;
	else
		a->key = value;
	return 0;
}

static bool is_run(const char *text)
{
	return strncmp(text, "r_", 2) == 0 && strlen(text) == 34 &&
	       strspn(text + 2, "0123456789abcdef") == 32;
}

static int open_dir(
    const struct ask *a, const char *name, int *ret, struct error *e)
{
	struct file_open what = { a->place.results_fd, name,
		O_RDONLY | O_DIRECTORY, 0 };

	if (is_run(name))
		return file_open_beneath(&what, ret, e) < 0
		           ? FAIL_IN(e, "there is no result of that run")
		           : 0;
	*ret = open(name, DIRECTORY);
	return *ret < 0 ? FAIL_SYS(e, "a run id or a result folder is needed")
	                : 0;
}

static bool open_packed(int dir_fd, struct folder *f)
{
	struct file_open what = { dir_fd, "trace.jsonl.gz", O_RDONLY, 0 };
	struct error none;

	f->is_packed = file_open_beneath(&what, &f->fd[PART_TRACE], &none) == 0;
	return f->is_packed;
}

static int open_folder(const struct ask *a, struct folder *f, struct error *e)
{
	AUTO_FD dir_fd = -1;

	if (open_dir(a, f->name, &dir_fd, e) < 0)
		return -1;
	for (size_t i = 0; i < PARTS; i++) {
		struct file_open what = { dir_fd, parts[i].name, O_RDONLY, 0 };

		if (file_open_beneath(&what, &f->fd[i], e) == 0)
			continue;
		if (i == PART_TRACE && e->saved_errno == ENOENT &&
		    open_packed(dir_fd, f))
			continue;
		if (i == PART_TRACE && e->saved_errno == ENOENT)
			return FAIL(e, ERROR_STATE,
			    "it has no trace.jsonl; run it under a policy with "
			    "\"trace\": \"required\"");
		return -1;
	}
	return 0;
}

static int open_all(struct ask *a, struct error *e)
{
	bool by_id = false;

	for (size_t i = 0; i < a->n; i++)
		by_id = by_id || is_run(a->runs[i]);
	if (by_id) {
		if (audit_place_open(a->state, "", &a->place, e) < 0)
			return -1;
	} else {
		audit_place_open_pins(&a->place);
	}
	for (size_t i = 0; i < a->n; i++) {
		a->folders[i].name = a->runs[i];
		if (open_folder(a, &a->folders[i], e) < 0)
			return FAIL_IN(e, "%.200s", a->runs[i]);
	}
	return 0;
}

static int put(void *context, const char *line, size_t len, struct error *e)
{
	struct ask *a = context;

	if (a->out_len + len > sizeof(a->out)) {
		if (say_out(a->out, a->out_len) != 0)
			return FAIL(e, ERROR_CLOSED, "write");
		a->out_len = 0;
	}
	if (len > sizeof(a->out))
		return FAIL(e, ERROR_LIMIT, "a line is too long");
	memcpy(a->out + a->out_len, line, len);
	a->out_len += len;
	return 0;
}

static int tell(struct ask *a, struct folder *f, struct error *e)
{
	const struct facts_out out = { put, a };
	struct facts_folder bytes = {
		.record = { f->data[PART_RECORD], f->len[PART_RECORD] },
		.receipt = { f->data[PART_RECEIPT], f->len[PART_RECEIPT] },
		.manifest = { f->data[PART_MANIFEST], f->len[PART_MANIFEST] },
		.result = { f->data[PART_RESULT], f->len[PART_RESULT] },
		.trace = { f->data[PART_TRACE], f->len[PART_TRACE] },
		.key = a->key != NULL ? &a->vkey : NULL,
		.pin_fds = a->place.pin_fds,
	};
	struct facts_run run;
	struct trace_file trace;
	int failed;

	if (facts_check(&bytes, &run, e) < 0)
		return -1;
	if (trace_file_open((const char *)f->data[PART_TRACE],
	        f->len[PART_TRACE], &trace, e) < 0)
		return FAIL_IN(e, "trace.jsonl");
	failed = facts_write(&trace, &run, &out, e);
	trace_file_close(&trace);
	return failed;
}

static int read_folder(struct folder *f, struct error *e)
{
	for (size_t i = 0; i < PARTS; i++) {
		int failed = i == PART_TRACE && f->is_packed
		                 ? gunzip_read_all(f->fd[i], parts[i].max,
		                       &f->data[i], &f->len[i], e)
		                 : file_read_all(f->fd[i], parts[i].max,
		                       &f->data[i], &f->len[i], e);

		if (failed < 0)
			return FAIL_IN(e, "%s", parts[i].name);
	}
	return 0;
}

static int one(struct ask *a, struct folder *f, struct error *e)
{
	int failed = read_folder(f, e) < 0 || tell(a, f, e) < 0 ? -1 : 0;

	for (size_t i = 0; i < PARTS; i++) {
		free(f->data[i]);
		f->data[i] = NULL;
	}
	return failed < 0 ? FAIL_IN(e, "%.200s", f->name) : 0;
}

static int judge(const struct error *e)
{
	bool is_answer = e->kind == ERROR_TAMPERED || e->kind == ERROR_STATE ||
	                 e->kind == ERROR_MALFORMED || e->kind == ERROR_LIMIT;

	return say_failed(e, is_answer ? VERDICT_TAMPERED : VERDICT_NOT_RUN);
}

static int run(struct ask *a, struct error *e)
{
	if (a->key != NULL && audit_read_key(a->key, &a->vkey, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	if (open_all(a, e) < 0)
		return judge(e);
	if (audit_confine(&a->place, 1, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	for (size_t i = 0; i < a->n; i++)
		if (one(a, &a->folders[i], e) < 0)
			return judge(e);
	return say_out(a->out, a->out_len) != 0 ? (int)VERDICT_NOT_RUN : 0;
}

static int begin(struct ask *a, char **words)
{
	const struct options_into to = { take_option, a, a->runs, RUNS_MAX,
		"64 runs" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	while (a->runs[a->n] != NULL)
		a->n++;
	if (a->n > 0)
		return run(a, &e);
	say_line("which runs? write bailiff audit facts RUN...");
	return EXIT_USAGE;
}

int audit_facts_main(char **words)
{
	struct ask *a = calloc(1, sizeof(*a));
	struct error e;
	int code;

	if (a == NULL) {
		error_fill(&e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(&e, VERDICT_NOT_RUN);
	}
	a->place = (struct audit_place)AUDIT_PLACE_NONE;
	for (size_t i = 0; i < RUNS_MAX; i++)
		for (size_t j = 0; j < PARTS; j++)
			a->folders[i].fd[j] = -1;
	code = begin(a, words);
	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < PARTS; j++)
			own_close(&a->folders[i].fd[j]);
	audit_place_close(&a->place);
	free(a);
	return code;
}
