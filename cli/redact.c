/*
 * cli/redact.c - `bailiff audit redact`.  Linked by `bailiff`: what opens the
 * commitments of a run belongs to the signer, results to the supervisor, so a
 * service is asked, or started to be asked.  This command reads and writes
 * nothing itself.
 */
#include <inttypes.h>
#include <string.h>

#include "base/own.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/say.h"

#define REQUEST 1

enum row {
	ROW_RESULTS,
	ROW_POLICY,
	ROW_STATE,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_RESULTS] = { "--results", NULL, "remove their results too: code, output, files", false },
	[ROW_POLICY] = { "--policy", "FILE", "as given to bailiff run", false },
	[ROW_STATE]  = { "--state", "DIR", "as given to bailiff run", false },
};
/* clang-format on */

const struct command redact_command = {
	.name = "bailiff audit redact",
	.usage = "[options] RUN...",
	.about =
	    "Erase what could tell whether a guess of a run's arguments, "
	    "environment or\nstandard input is right: the secrets of its "
	    "commitments.  A signed record says so;\nthe log stays as it is "
	    "and verifies.  This cannot be undone.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0, 1 refused (nothing was erased), 2 usage, 125 "
	         "no service\n",
};

struct redact_options {
	struct front_place place;
	struct protocol_redact message;
	bool help;
};

static int add_run(struct redact_options *o, const char *value, struct error *e)
{
	struct protocol_redact *m = &o->message;

	if (strlen(value) >= sizeof(m->runs.items[0].text))
		return FAIL(e, ERROR_USAGE,
		    "%.64s is no run id; one is r_ and 32 hex digits", value);
	memcpy(m->runs.items[m->runs.n++].text, value, strlen(value) + 1);
	return 0;
}

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct redact_options *o = into;

	(void)e;
	if (option == ROW_RESULTS)
		o->message.results = 1;
	else if (option == ROW_POLICY)
		o->place.policy = value;
	else
		o->place.state = value;
	return 0;
}

static int parse(char **words, struct redact_options *o, struct error *e)
{
	const char *runs[PROTOCOL_REDACT_MAX] = { NULL };
	const struct options_into to = { take_option, o, runs,
		PROTOCOL_REDACT_MAX, "64 runs" };

	_Static_assert(PROTOCOL_REDACT_MAX == 64, "the words above");
	if (options_read(&redact_command, words, &to, &o->help, e) < 0)
		return -1;
	for (size_t i = 0; i < PROTOCOL_REDACT_MAX && runs[i] != NULL; i++)
		if (add_run(o, runs[i], e) < 0)
			return -1;
	if (!o->help && o->message.runs.n == 0)
		return FAIL(
		    e, ERROR_USAGE, "which runs? bailiff audit redact RUN...");
	return 0;
}

static int redact(
    struct front *f, const struct redact_options *o, struct error *e)
{
	AUTO_FD fd = -1;

	if (front_send(f, PROTOCOL_REDACT, &o->message, NULL, e) < 0 ||
	    front_expect(f, PROTOCOL_REDACTED, &fd, e) < 0)
		return -1;
	say_line("%" PRIu64 " runs redacted%s, record %" PRIu64,
	    o->message.runs.n,
	    o->message.results == 1 ? ", their results removed" : "",
	    f->reply.redacted.seq);
	return 0;
}

int redact_main(char **words)
{
	struct redact_options o = { .message.request = REQUEST };
	struct front *f;
	struct error e;
	int failed;

	if (parse(words, &o, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (o.help)
		return options_help(&redact_command);
	if (front_open(&o.place, &f, &e) < 0)
		return say_failed(&e, EXIT_NOT_STARTED);
	failed = redact(f, &o, &e);
	front_free(f);
	return failed < 0 ? say_failed(&e, 1) : 0;
}
