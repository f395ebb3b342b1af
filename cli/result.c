/*
 * cli/result.c - `bailiff result`.  Linked by `bailiff`.  The service hands
 * files to the principal that the run was recorded for, and to root.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/results.h"
#include "cli/say.h"
#include "cli/stream.h"

enum row {
	ROW_POLICY,
	ROW_STATE,
	ROW_RAW,
	ROW_JSON,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_POLICY] = { "--policy", "FILE", "as given to bailiff run", false },
	[ROW_STATE]  = { "--state", "DIR", "as given to bailiff run", false },
	[ROW_RAW]    = { "--raw", NULL, "do not escape the file for a terminal", false },
	[ROW_JSON]   = { "--json", NULL, "list as one JSON object", false },
};
/* clang-format on */

const struct command result_command = {
	.name = "bailiff result",
	.usage = "[options] RUN [NAME]",
	.about = "List the files that a run left, or write one of them to "
	         "standard output.\n"
	         "Names of artifacts are percent-encoded: a%20b is the file "
	         "'a b'.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes =
	    "examples:\n"
	    "  bailiff result r_0123456789abcdef0123456789abcdef\n"
	    "  bailiff result r_0123456789abcdef0123456789abcdef stdout\n"
	    "\n"
	    "exit codes: 0, 1 no such run or file, 2 usage, 125 no service\n",
};

struct result_options {
	struct front_place place;
	enum stream_mode mode;
	bool json, help;
	const char *run_id, *name;
};

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct result_options *o = into;

	(void)e;
	if (option == ROW_POLICY)
		o->place.policy = value;
	else if (option == ROW_STATE)
		o->place.state = value;
	else if (option == ROW_RAW)
		o->mode = STREAM_RAW;
	else
		o->json = true;
	return 0;
}

static int parse(char **words, struct result_options *o, struct error *e)
{
	const char *operands[2] = { NULL };
	const struct options_into to = { take_option, o, operands, 2,
		"RUN [NAME]" };

	if (options_read(&result_command, words, &to, &o->help, e) < 0)
		return -1;
	o->run_id = operands[0];
	o->name = operands[1];
	if (!o->help && o->run_id == NULL)
		return FAIL(
		    e, ERROR_USAGE, "which run? bailiff result RUN [NAME]");
	return 0;
}

/* Names are percent-encoded and types words of ours: nothing needs an escape. */
static bool print_json(const struct results_entry *r, const char *comma)
{
	bool failed =
	    dprintf(STDOUT_FILENO, "%s{\"name\":\"%s\",\"size\":%" PRIu64,
	        comma, r->name, r->size) < 0;

	if (!failed && r->type[0] != '\0')
		failed = dprintf(STDOUT_FILENO, ",\"type\":\"%s\",\"plot\":%s",
		             r->type, r->is_plot ? "true" : "false") < 0;
	if (!failed && r->width > 0)
		failed = dprintf(STDOUT_FILENO,
		             ",\"width\":%" PRIu32 ",\"height\":%" PRIu32,
		             r->width, r->height) < 0;
	return failed || dprintf(STDOUT_FILENO, "}") < 0;
}

static bool print_line(const struct results_entry *r)
{
	bool failed =
	    dprintf(STDOUT_FILENO, "%10" PRIu64 "  %s", r->size, r->name) < 0;

	if (!failed && r->type[0] != '\0')
		failed = dprintf(STDOUT_FILENO, "  %s", r->type) < 0;
	if (!failed && r->width > 0)
		failed = dprintf(STDOUT_FILENO, " %" PRIu32 "x%" PRIu32,
		             r->width, r->height) < 0;
	return failed || dprintf(STDOUT_FILENO, "\n") < 0;
}

static int print_list(const struct results_list *list, bool json)
{
	bool failed = json && dprintf(STDOUT_FILENO, "{\"files\":[") < 0;

	for (size_t i = 0; i < list->n && !failed; i++)
		failed = json ? print_json(&list->items[i], i > 0 ? "," : "")
		              : print_line(&list->items[i]);
	if (json && !failed)
		failed = dprintf(STDOUT_FILENO, "]}\n") < 0;
	if (failed)
		say_line("standard output: %s", strerrordesc_np(errno));
	return failed ? 1 : 0;
}

static int list(struct front *f, const struct result_options *o)
{
	struct results_list all;
	struct error e;
	int code;

	if (results_list(f, o->run_id, &all, &e) < 0)
		return say_failed(&e, e.kind == ERROR_USAGE ? EXIT_USAGE : 1);
	code = print_list(&all, o->json);
	results_list_done(&all);
	return code;
}

/* Through a stream, for its escapes; a command alone may block in a write. */
static int write_out(int fd, struct stream *s, struct error *e)
{
	uint8_t buffer[4096];
	bool end = false;

	while (!end) {
		ssize_t got = read(fd, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read the result");
		end = got == 0;
		if (end)
			stream_end(s);
		else
			stream_put(s, buffer, (size_t)got);
		while (stream_waits(s)) {
			struct pollfd p = { .fd = s->fd, .events = POLLOUT };

			if (poll(&p, 1, -1) >= 0 && stream_write(s, e) < 0)
				return -1;
		}
	}
	return 0;
}

static int show(struct front *f, const struct result_options *o)
{
	struct stream *s = calloc(1, sizeof(*s));
	AUTO_FD fd = -1;
	struct error e;
	int result;

	if (s == NULL) {
		say_line("no memory");
		return 1;
	}
	stream_init(s, STDOUT_FILENO, o->mode);
	result = results_open(f, o->run_id, o->name, &fd, &e);
	if (result == 0)
		result = write_out(fd, s, &e);
	free(s);
	return result < 0 ? say_failed(&e, e.kind == ERROR_USAGE ? 2 : 1) : 0;
}

int result_main(char **words)
{
	struct result_options o = { .mode = STREAM_ESCAPED };
	struct front *f;
	struct error e;
	int code;

	if (parse(words, &o, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (o.help)
		return options_help(&result_command);
	if (front_open(&o.place, &f, &e) < 0)
		return say_failed(&e, EXIT_NOT_STARTED);
	code = o.name == NULL ? list(f, &o) : show(f, &o);
	front_free(f);
	return code;
}
