/*
 * cli/policy_learn.c - `bailiff policy learn`.  Linked by bailiff-policy.  The
 * policy is read first, then the process confines itself, then come the facts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/own.h"
#include "cli/policy.h"
#include "cli/policy_learn.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "policy/load.h"

#define OUT_MAX (1u << 20)

enum row {
	ROW_POLICY,
	ROW_STATE,
	ROW_KEY,
	ROW_CHECK,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_POLICY] = { "--policy", "FILE", "the policy that is made smaller; without it, that of bailiff run", false },
	[ROW_STATE] = { "--state", "DIR", "where run ids are looked for; without it, this account's", false },
	[ROW_KEY] = { "--key", "VKEY", "trust this verifier key, or the one in a file of that name", false },
	[ROW_CHECK] = { "--check", NULL, "say what the policy as it is would refuse to these runs", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff policy learn",
	.usage = "RUN... [options]",
	.about =
	    "Write the least that traced runs needed, as a fragment of a "
	    "policy: system calls\nand capabilities of their languages.  RUN "
	    "is "
	    "a run id or a result folder.  Only\nruns count whose record is "
	    "proven to be in the log, and whose trace is the one\nthat the "
	    "record tells of and complete.  Merge the fragment into the "
	    "policy, "
	    "then\nlook again with --check.\n",
	.rows = rows,
	.n_rows = ROW_N,
	.notes =
	    "examples:\n"
	    "  bailiff policy learn r_0123456789abcdef0123456789abcdef > "
	    "fragment.json\n"
	    "  jq -s '.[0] * .[1]' policy.json fragment.json > smaller.json\n"
	    "  bailiff policy learn --check --policy smaller.json r_...\n\n"
	    "exit codes: 0 written, or nothing would be refused; 1 something "
	    "would be, or a run\ncannot be learned from; 2 usage, or it could "
	    "not run\n",
};

/* Everything of one command; on the heap. */
struct work {
	struct learn_reader reader;
	const char *policy;
	bool check;
	struct policy_loaded loaded;
	struct policy_faults faults;
	struct learn learn;
	char file[POLICY_PATH_MAX];
	char languages[POLICY_PATH_MAX];
	char out[OUT_MAX];
};

static int take_option(void *into, int row, const char *value, struct error *e)
{
	struct work *w = into;

	(void)e;
	switch ((enum row)row) {
	case ROW_POLICY:
		w->policy = value;
		break;
	case ROW_STATE:
		w->reader.state = value;
		break;
	case ROW_KEY:
		w->reader.key = value;
		break;
	case ROW_CHECK:
		w->check = true;
		break;
	case ROW_N:
		break;
	}
	return 0;
}

static void note(void *context, const char *text)
{
	(void)context;
	say_line("%s", text);
}

static int load(struct work *w, struct error *e)
{
	struct policy_places places = { w->policy, w->languages };

	if (places.policy == NULL) {
		if (policy_words_default(w->file, e) < 0)
			return -1;
		places.policy = w->file;
	}
	if (policy_place("languages", w->languages, e) < 0)
		return -1;
	if (policy_load(&places, &w->loaded, &w->faults, e) < 0)
		return FAIL_IN(e, "policy");
	return 0;
}

/* libseccomp asks the kernel what it can when it is used first: not later, where
 * that would kill. */
static int warm_up(struct work *w, struct error *e)
{
	return filter_compile(&filter_compiler, w->learn.filter, e);
}

static int answer_check(struct work *w, struct error *e)
{
	size_t n;

	if (learn_check(&w->learn, &n, e) < 0)
		return say_failed(e, EXIT_USAGE);
	if (n == 0)
		say_line("%s: nothing of %zu run%s would be refused",
		    w->learn.policy->name, w->learn.n_runs,
		    w->learn.n_runs == 1 ? "" : "s");
	return n == 0 ? 0 : 1;
}

static int answer(struct work *w, struct error *e)
{
	struct text_out out = { w->out, sizeof(w->out), 0 };

	if (w->check)
		return answer_check(w, e);
	if (learn_least(&w->learn, e) < 0 ||
	    learn_write(&w->learn, &out, e) < 0)
		return say_failed(e, EXIT_USAGE);
	say_line("a fragment for the policy %s, of %zu run%s; merge it, then "
	         "look again with --check",
	    w->learn.policy->name, w->learn.n_runs,
	    w->learn.n_runs == 1 ? "" : "s");
	return say_out(out.data, out.len) != 0 ? EXIT_USAGE : 0;
}

static int learn(struct work *w, struct error *e)
{
	const struct learn_sink sink = { note, w };
	int code = EXIT_USAGE;

	if (load(w, e) < 0 ||
	    learn_open(w->loaded.policy, &sink, &w->learn, e) < 0)
		return say_failed(e, EXIT_USAGE);
	if (warm_up(w, e) < 0 || learn_hints(&w->learn, e) < 0 ||
	    learn_reader_start(&w->reader, e) < 0 ||
	    learn_reader_confine(e) < 0)
		code = say_failed(e, EXIT_USAGE);
	else if (learn_reader_take(&w->reader, &w->learn, &code, e) < 0)
		code = say_failed(e, e->kind == ERROR_STATE ? 1 : EXIT_USAGE);
	else if (code == 0)
		code = answer(w, e);
	learn_close(&w->learn);
	return code;
}

static int run(struct work *w, char **words)
{
	const struct options_into to = { take_option, w, w->reader.runs,
		LEARN_RUNS_MAX, "64 runs" };
	struct error e;
	bool help = false;

	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (w->reader.runs[0] != NULL)
		return learn(w, &e);
	say_line("from which runs? write bailiff policy learn RUN...");
	return EXIT_USAGE;
}

int policy_learn_main(char **words)
{
	struct work *w = calloc(1, sizeof(*w));
	int code;

	if (w == NULL)
		return say_failed(
		    &(struct error){ .text = "no memory" }, EXIT_USAGE);
	w->reader.fd = -1;
	code = run(w, words);
	own_close(&w->reader.fd);
	policy_loaded_done(&w->loaded);
	free(w);
	return code;
}
