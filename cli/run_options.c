/*
 * cli/run_options.c - the words of `bailiff run`.  Linked by `bailiff`.  Paths
 * and names go to the service as they are.
 */
#include "cli/run_options.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/commands.h"

#define NAME_IN_SANDBOX "the name in /sandbox"

enum row {
	ROW_LANG,
	ROW_POLICY,
	ROW_STATE,
	ROW_FILE,
	ROW_DIR,
	ROW_PUT,
	ROW_LIBRARY,
	ROW_OUT,
	ROW_TIMEOUT,
	ROW_MEMORY,
	ROW_NO_STDIN,
	ROW_RAW,
	ROW_LABEL,
	ROW_JSON,
	ROW_CODE,
	/* Of explain alone, so the last. */
	ROW_REQUEST,
	ROW_N,
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_LANG]     = { "--lang", "L", "the language: python, bash, ... (bailiff languages)", false },
	[ROW_POLICY]   = { "--policy", "FILE", "decide by this policy, in a service of your own", false },
	[ROW_STATE]    = { "--state", "DIR", "keep log and results there, in a service of your own", false },
	[ROW_FILE]     = { "--file", "HOST[:NAME]", "copy a host file to /sandbox/NAME; the policy decides", true },
	[ROW_DIR]      = { "--dir", "HOST[:NAME]", "show a host directory, read-only, at /sandbox/NAME", true },
	[ROW_PUT]      = { "--put", "FILE[:NAME]", "send a file that you can read to /sandbox/NAME", true },
	[ROW_LIBRARY]  = { "--library", "NAME[==VERSION]", "have a library installed from the policy's directory", true },
	[ROW_OUT]      = { "--out", "DIR", "write the files that the program left into DIR", false },
	[ROW_TIMEOUT]  = { "--timeout", "S", "wall-clock limit in seconds; 0.5 is fine", false },
	[ROW_MEMORY]   = { "--memory", "MIB", "memory limit in MiB", false },
	[ROW_NO_STDIN] = { "--no-stdin", NULL, "give the program an empty standard input", false },
	[ROW_RAW]      = { "--raw", NULL, "do not escape output for a terminal", false },
	[ROW_LABEL]    = { "--label", "TEXT", "recorded with the run, unverified", false },
	[ROW_JSON]     = { "--json", NULL, "print one JSON object at the end and nothing else", false },
	[ROW_CODE]     = { "-c", "CODE", "the code itself; needs --lang or a #! line", false },
	[ROW_REQUEST]  = { "--request", "FILE", "the whole request, as JSON", false },
};
/* clang-format on */

const struct command run_command = {
	.name = "bailiff run",
	.usage = "[options] FILE|-|-c CODE [-- ARGS]",
	.about =
	    "Run code that nobody has read: decided by the policy, confined, "
	    "recorded.\n"
	    "The language follows from FILE's extension, a #! line or --lang.  "
	    "Output and\nexit code are the program's own.",
	.rows = rows,
	.n_rows = ROW_REQUEST,
	.notes = "examples:\n"
	         "  bailiff run hello.py\n"
	         "  bailiff run --lang python -c 'print(6 * 7)'\n"
	         "  bailiff run --file data.csv --out results report.py -- "
	         "--year 2026\n"
	         "  bailiff run --put notes.txt --lang bash -c 'wc notes.txt'\n"
	         "\n"
	         "exit codes: the program's own, 128+n if signal n ended it; 2 "
	         "usage,\n"
	         "  124 timeout, 125 could not start, 126 denied, 137 out of "
	         "memory,\n"
	         "  130 and 143 cancelled by Ctrl-C and SIGTERM; --json tells "
	         "them apart\n",
};

const struct command run_explain_command = {
	.name = "bailiff policy explain",
	.usage = "[options] FILE|-|-c CODE [-- ARGS] | --request FILE",
	.about =
	    "Say what the policy decides about a request, by the options of "
	    "bailiff run,\nand what a run of it gets: limits, filter, mounts, "
	    "environment.  Nothing runs.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "--out, --raw, --label and --state change no decision.  Host "
	         "files are opened by\nthe service when it runs them: a link, "
	         "say, is found only then.\n\n"
	         "exit codes: 0 allowed, 1 no answer, 2 usage, 126 denied\n",
};

static int copy_text(
    char *to, size_t cap, const char *from, const char *what, struct error *e)
{
	size_t len = strlen(from);

	if (len >= cap)
		return FAIL(
		    e, ERROR_USAGE, "%s: more than %zu bytes", what, cap - 1);
	memcpy(to, from, len + 1);
	return 0;
}

static int add_limit(
    struct protocol_run *run, const char *name, uint64_t value, struct error *e)
{
	struct protocol_limit *limit;

	if (run->limits.n == PROTOCOL_LIMITS_MAX)
		return FAIL(e, ERROR_USAGE, "too many limits");
	limit = &run->limits.items[run->limits.n++];
	limit->value = value;
	return copy_text(limit->name, sizeof(limit->name), name, "limit", e);
}

/* "30", "0.5", "1.25": seconds, with at most three decimals. */
static int parse_seconds(const char *text, uint64_t *ret_ms, struct error *e)
{
	const struct number_range range = { 0, 1000000000 };
	const char *dot = strchr(text, '.');
	char whole[16] = "0";
	uint64_t seconds;
	uint64_t ms = 0;
	size_t len = dot != NULL ? (size_t)(dot - text) : strlen(text);
	size_t decimals = dot != NULL ? strspn(dot + 1, "0123456789") : 0;

	if (len == 0 || len >= sizeof(whole))
		return FAIL(
		    e, ERROR_USAGE, "--timeout: not a number of seconds");
	memcpy(whole, text, len);
	whole[len] = '\0';
	if (number_parse(whole, "--timeout", range, &seconds, e) < 0)
		return -1;
	if (dot != NULL &&
	    (decimals == 0 || decimals > 3 || dot[1 + decimals] != '\0'))
		return FAIL(e, ERROR_USAGE,
		    "--timeout: one to three digits behind the point");
	for (size_t i = 0; i < 3; i++)
		ms =
		    ms * 10 + (i < decimals ? (uint64_t)(dot[1 + i] - '0') : 0);
	if (seconds == 0 && ms == 0)
		return FAIL(e, ERROR_USAGE, "--timeout: must be above 0");
	*ret_ms = seconds * 1000 + ms;
	return 0;
}

static int add_timeout(
    struct protocol_run *run, const char *text, struct error *e)
{
	uint64_t ms = 0;

	if (parse_seconds(text, &ms, e) < 0)
		return -1;
	return add_limit(run, "wall_ms", ms, e);
}

static int add_memory(
    struct protocol_run *run, const char *text, struct error *e)
{
	const struct number_range range = { 1, UINT64_MAX >> 20 };
	uint64_t mib;

	if (number_parse(text, "--memory", range, &mib, e) < 0)
		return -1;
	return add_limit(run, "memory", mib << 20, e);
}

/*
 * PATH[:NAME], split at the last colon; NAME is PATH's last component if none
 * is given.  *ret_len is the length of PATH; a directory's has no slash at the
 * end, where completion puts one.
 */
static int split(const char *text, struct protocol_input *input,
    size_t *ret_len, struct error *e)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon != NULL ? (size_t)(colon - text) : strlen(text);
	size_t from;

	if (len == 0)
		return FAIL(e, ERROR_USAGE, "no file in '%s'", text);
	while (input->kind == PROTOCOL_INPUT_DIRECTORY && len > 1 &&
	       text[len - 1] == '/')
		len--;
	*ret_len = len;
	if (colon != NULL)
		return copy_text(input->name, sizeof(input->name), colon + 1,
		    NAME_IN_SANDBOX, e);
	from = len;
	while (from > 0 && text[from - 1] != '/')
		from--;
	if (len - from >= sizeof(input->name))
		return FAIL(e, ERROR_USAGE, NAME_IN_SANDBOX ": too long");
	memcpy(input->name, text + from, len - from);
	input->name[len - from] = '\0';
	return 0;
}

/* Relative to our own directory, as text: the policy sees a ".." in it. */
static int put_host(
    struct protocol_input *input, const char *path, size_t len, struct error *e)
{
	size_t used = 0;

	if (path[0] != '/') {
		if (getcwd(input->host, sizeof(input->host)) == NULL)
			return FAIL_SYS(e, "the current directory");
		used = strlen(input->host);
		if (used + 1 < sizeof(input->host) &&
		    strcmp(input->host, "/") != 0)
			input->host[used++] = '/';
	}
	if (len >= sizeof(input->host) - used)
		return FAIL(e, ERROR_USAGE, "path too long");
	memcpy(input->host + used, path, len);
	input->host[used + len] = '\0';
	return 0;
}

static int add_input(struct run_options *o, enum protocol_input_kind kind,
    const char *text, struct error *e)
{
	struct protocol_run *run = o->run;
	struct protocol_input *input;
	size_t len = 0;

	if (run->inputs.n == PROTOCOL_INPUTS_MAX)
		return FAIL(
		    e, ERROR_USAGE, "at most %d inputs", PROTOCOL_INPUTS_MAX);
	input = &run->inputs.items[run->inputs.n];
	input->kind = kind;
	if (split(text, input, &len, e) < 0)
		return -1;
	if (kind == PROTOCOL_INPUT_INLINE) {
		o->put[run->inputs.n] = text;
		o->put_len[run->inputs.n] = len;
	} else if (put_host(input, text, len, e) < 0) {
		return -1;
	}
	run->inputs.n++;
	return 0;
}

static int add_named(
    struct run_options *o, enum row row, const char *text, struct error *e)
{
	enum protocol_input_kind kind = PROTOCOL_INPUT_FILE;

	if (row == ROW_PUT)
		kind = PROTOCOL_INPUT_INLINE;
	else if (row == ROW_DIR)
		kind = PROTOCOL_INPUT_DIRECTORY;
	if (add_input(o, kind, text, e) < 0)
		return FAIL_IN(e, "%s", rows[row].name);
	return 0;
}

static int add_library(
    struct protocol_run *run, const char *text, struct error *e)
{
	if (run->libraries.n == PROTOCOL_LIBRARIES_MAX)
		return FAIL(e, ERROR_USAGE, "too many libraries");
	return copy_text(run->libraries.items[run->libraries.n++].text,
	    PROTOCOL_LIBRARY_MAX, text, "--library", e);
}

static int take_option(
    struct run_options *o, enum row row, const char *value, struct error *e)
{
	switch (row) {
	case ROW_LANG:
		o->language = value;
		return 0;
	case ROW_POLICY:
		o->place.policy = value;
		return 0;
	case ROW_STATE:
		o->place.state = value;
		return 0;
	case ROW_FILE:
	case ROW_DIR:
	case ROW_PUT:
		return add_named(o, row, value, e);
	case ROW_LIBRARY:
		return add_library(o->run, value, e);
	case ROW_OUT:
		o->out = value;
		return 0;
	case ROW_TIMEOUT:
		return add_timeout(o->run, value, e);
	case ROW_MEMORY:
		return add_memory(o->run, value, e);
	case ROW_NO_STDIN:
		o->input = SOURCE_STDIN_EMPTY;
		return 0;
	case ROW_RAW:
		o->mode = STREAM_RAW;
		return 0;
	case ROW_LABEL:
		return text_percent_encode(value, strlen(value), o->run->label,
		    sizeof(o->run->label), e);
	case ROW_JSON:
		o->json = true;
		return 0;
	case ROW_REQUEST:
		o->request = value;
		return 0;
	case ROW_CODE:
	case ROW_N:
	default:
		return FAIL(e, ERROR_STATE, "unknown option row");
	}
}

static int take_source(struct run_options *o, enum source_kind kind,
    const char *from, struct error *e)
{
	if (o->has_source)
		return FAIL(e, ERROR_USAGE,
		    "'%s' is one too many: one FILE, - or -c CODE; "
		    "arguments for the program stand behind --",
		    from);
	o->has_source = true;
	o->source.kind = kind;
	o->source.from = from;
	return 0;
}

static int take_args(struct protocol_run *run, char **args, struct error *e)
{
	for (; *args != NULL; args++) {
		size_t len = strlen(*args) + 1;

		if (len > sizeof(run->args.data) - run->args.len)
			return FAIL(e, ERROR_USAGE,
			    "the program's arguments are more than %zu bytes",
			    sizeof(run->args.data));
		memcpy(run->args.data + run->args.len, *args, len);
		run->args.len += len;
	}
	return 0;
}

static int take(
    struct run_options *o, int found, const char *value, struct error *e)
{
	if (found == OPTIONS_OPERAND)
		return take_source(o,
		    strcmp(value, "-") == 0 ? SOURCE_STDIN : SOURCE_FILE, value,
		    e);
	if (found == ROW_CODE)
		return take_source(o, SOURCE_TEXT, value, e);
	return take_option(o, (enum row)found, value, e);
}

static int take_nothing(
    const struct run_options *o, char **rest, struct error *e)
{
	if (!o->has_source && o->language == NULL && o->run->limits.n == 0 &&
	    o->run->inputs.n == 0 && o->run->libraries.n == 0 && *rest == NULL)
		return 0;
	return FAIL(e, ERROR_USAGE,
	    "--request says all of the request; only --policy and --json "
	    "stand beside it");
}

int run_options_parse(char **words, struct run_options *ret, struct error *e)
{
	struct options o = { .command = ret->command != NULL ? ret->command
		                                             : &run_command,
		.argv = words };
	const char *value;
	int found;

	for (;;) {
		if (options_next(&o, &found, &value, e) < 0)
			return -1;
		if (found == OPTIONS_HELP) {
			ret->help = true;
			return 0;
		}
		if (found == OPTIONS_END || found == OPTIONS_REST)
			break;
		if (take(ret, found, value, e) < 0)
			return -1;
	}
	if (ret->request != NULL)
		return take_nothing(ret, words + o.at, e);
	if (!ret->has_source)
		return FAIL(e, ERROR_USAGE,
		    "no code: give a FILE, - for standard input, or -c CODE");
	return take_args(ret->run, words + o.at, e);
}
