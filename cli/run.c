/*
 * cli/run.c - `bailiff run`.  Linked by `bailiff`.  It holds what the caller
 * holds and one socket; what may run, and how, the service decides.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/report.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "cli/run_texts.h"
#include "cli/say.h"

#define REQUEST     1
#define WORDS_SHOWN 1024

/* Everything of one command; large, so on the heap, once. */
struct work {
	struct run_options options;
	struct protocol_run run;
	struct follow follow;
	struct run_texts texts;
	int out_fd;
};

static int set_text(
    char *to, size_t cap, const char *text, const char *what, struct error *e)
{
	if (strlen(text) >= cap)
		return FAIL(e, ERROR_USAGE, "%s: too long", what);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

/* All that is read as the caller, before a service is asked anything. */
static int prepare(struct work *w, struct error *e)
{
	const struct run_options *o = &w->options;

	if (o->out != NULL && results_target(o->out, &w->out_fd, e) < 0)
		return -1;
	if (run_texts_read(o, &w->texts, e) < 0)
		return -1;
	w->run.request = REQUEST;
	if (set_text(w->run.language, sizeof(w->run.language),
	        w->texts.language, "--lang", e) < 0 ||
	    set_text(w->run.client, sizeof(w->run.client), "bailiff-run",
	        "client", e) < 0)
		return -1;
	return set_text(w->run.client_version, sizeof(w->run.client_version),
	    BAILIFF_VERSION, "version", e);
}

static int denied(const struct work *w)
{
	const struct protocol_decided *d = &w->follow.decided;
	char words[WORDS_SHOWN];
	struct text_out out = { words, sizeof(words), 0 };
	struct error ignored;

	words[0] = '\0';
	for (uint64_t i = 0; i < d->reasons.n; i++)
		if (text_printf(&out, &ignored, "%s%s", i > 0 ? ", " : "",
		        d->reasons.items[i].text) < 0)
			break;
	say_line("denied: %s (run %s, log record %" PRIu64 ")", words,
	    d->run_id, d->seq);
	return EXIT_DENIED;
}

/* A run that did not end by itself says so in a line. */
static void say_end(const struct protocol_finished *f)
{
	static const struct {
		const char *killer, *text;
	} ends[] = {
		{ "wall",
		    "stopped at its wall limit; --timeout asks for more" },
		{ "cpu", "stopped at its cpu limit" },
		{ "memory", "stopped at its memory limit; --memory asks for "
		            "more" },
		{ "pids", "stopped at its limit of processes" },
		{ "output", "stopped at its output limit" },
		{ "disk", "stopped at its disk limit" },
		{ "syscall", "killed at a forbidden syscall" },
		{ "client", "cancelled by the client" },
		{ "supervisor",
		    "killed by the supervisor, which lost its launcher" },
	};
	const char *text = f->killed_by;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(f->killed_by, ends[i].killer) == 0)
			text = ends[i].text;
	say_line(
	    "%s (run %s, log record %" PRIu64 ")", text, f->run_id, f->seq);
}

static int failed_step(const struct protocol_finished *f)
{
	const char *text =
	    f->step_errno != 0 ? strerrordesc_np((int)f->step_errno) : NULL;

	say_line("could not run it: %s: %s%s%s%s%s (run %s, log record %" PRIu64
	         ")",
	    f->phase, f->step, text != NULL ? ": " : "",
	    text != NULL ? text : "", *f->remedy != '\0' ? "; " : "", f->remedy,
	    f->run_id, f->seq);
	return EXIT_NOT_STARTED;
}

static int own_code(const struct protocol_finished *f)
{
	if (f->exit_kind == 1)
		return (int)(f->exit_value & 255);
	return 128 + (int)(f->exit_kind == 2 ? f->exit_value & 127 : SIGKILL);
}

static int cancelled(const struct work *w)
{
	if (w->follow.output_errno == EPIPE)
		return 128 + SIGPIPE;
	if (w->follow.output_errno != 0) {
		say_line("standard output: %s; the run was cancelled (run %s)",
		    strerrordesc_np(w->follow.output_errno),
		    w->follow.finished.run_id);
		return EXIT_NOT_STARTED;
	}
	say_end(&w->follow.finished);
	return 128 + (w->follow.signal != 0 ? w->follow.signal : SIGTERM);
}

/* What was produced and not kept is said, never passed over. */
static void say_cut(const struct protocol_finished *f)
{
	const struct {
		const char *name, *limit;
		const struct protocol_stream_end *end;
	} streams[] = {
		{ "standard output", "stdout", &f->out },
		{ "standard error", "stderr", &f->err },
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (streams[i].end->total > streams[i].end->size)
			say_line("%s: cut after %" PRIu64 " of %" PRIu64
			         " bytes; the policy's limit %s says how much "
			         "is kept (run %s)",
			    streams[i].name, streams[i].end->size,
			    streams[i].end->total, streams[i].limit, f->run_id);
}

/* The exit code of a run that finished, after a line where one is due. */
static int conclude(const struct work *w)
{
	const struct protocol_finished *f = &w->follow.finished;

	if (w->follow.output_errno != 0 || strcmp(f->status, "cancelled") == 0)
		return cancelled(w);
	if (*f->step != '\0')
		return failed_step(f);
	if (strcmp(f->status, "timeout") == 0) {
		say_end(f);
		return EXIT_TIMEOUT;
	}
	if (strcmp(f->status, "memory") == 0) {
		say_end(f);
		return EXIT_MEMORY;
	}
	if (strcmp(f->status, "killed") == 0)
		say_end(f);
	return own_code(f);
}

static int fetch(struct work *w, struct error *e)
{
	const struct protocol_finished *f = &w->follow.finished;
	size_t n_failed;

	if (w->out_fd < 0 || *f->folder == '\0')
		return 0;
	if (results_export(
	        w->follow.front, f->run_id, w->out_fd, &n_failed, e) < 0)
		return FAIL_IN(e, "--out");
	if (f->files_skipped > 0)
		say_line("--out: %" PRIu64 " files of the run were not kept; "
		         "bailiff result %s result.json says which and why",
		    f->files_skipped, f->run_id);
	if (n_failed > 0)
		return FAIL(e, ERROR_STATE,
		    "--out: %zu files not written; they are in %s", n_failed,
		    f->folder);
	return 0;
}

/* The exit code once follow_run is over. */
static int finish(struct work *w, int followed, struct error *e)
{
	bool json = w->options.json;
	int code;

	if (followed < 0) {
		code = w->follow.signal != 0 ? 128 + w->follow.signal
		                             : EXIT_NOT_STARTED;
	} else if (!w->follow.has_finished) {
		code = denied(w);
	} else {
		if (!json && w->follow.output_errno == 0)
			say_cut(&w->follow.finished);
		code = conclude(w);
		followed = fetch(w, e);
		if (followed < 0 && code == 0)
			code = EXIT_NOT_STARTED;
	}
	if (followed < 0)
		say_line("%s", e->text);
	if (json &&
	    report_print(&w->follow, followed < 0 ? e->text : NULL) != 0)
		return EXIT_NOT_STARTED;
	return code;
}

static int work(struct work *w, char **words)
{
	struct fd_list fds = { .n = PROTOCOL_RUN_FDS };
	struct error e = { 0 };
	int followed;

	w->options.run = &w->run;
	w->options.mode = STREAM_ESCAPED;
	if (run_options_parse(words, &w->options, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (w->options.help)
		return options_help(&run_command);
	if (prepare(w, &e) < 0)
		return e.kind == ERROR_USAGE ? say_failed(&e, EXIT_USAGE)
		                             : finish(w, -1, &e);
	w->follow.mode = w->options.json ? FOLLOW_KEEP : FOLLOW_STREAM;
	w->follow.request = REQUEST;
	stream_init(&w->follow.out, STDOUT_FILENO, w->options.mode);
	stream_init(&w->follow.err, STDERR_FILENO, w->options.mode);
	fds.fd[0] = w->texts.code_fd;
	fds.fd[1] = w->texts.stdin_fd;
	for (size_t i = 0; i < w->texts.inputs.n; i++)
		fds.fd[fds.n++] = w->texts.inputs.fd[i];
	followed = front_open(&w->options.place, &w->follow.front, &e);
	if (followed == 0)
		followed = follow_run(&w->follow, &w->run, &fds, &e);
	return finish(w, followed, &e);
}

int run_main(char **words)
{
	struct work *w = calloc(1, sizeof(*w));
	int code;

	if (w == NULL) {
		say_line("no memory");
		return EXIT_NOT_STARTED;
	}
	w->texts = (struct run_texts)RUN_TEXTS_NONE;
	w->out_fd = -1;
	code = work(w, words);
	run_texts_done(&w->texts);
	own_close(&w->out_fd);
	front_free(w->follow.front);
	follow_done(&w->follow);
	free(w);
	return code;
}
