/*
 * cli/audit_verify.c - `bailiff audit verify`.  Linked by bailiff-audit.  Its
 * words and the files they name are the caller's own; the log is hostile, and
 * read only after the process has confined itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/witness_policy.h"
#include "base/own.h"
#include "base/sha256.h"
#include "cli/audit.h"
#include "cli/say.h"

#define KNOWN_MAX 64

enum option {
	OPTION_KEY,
	OPTION_RESULTS,
	OPTION_KNOWN,
	OPTION_FROM,
	OPTION_POLICY,
	OPTION_WITNESS_POLICY,
	OPTION_REQUIRE,
	OPTION_STRICT,
	OPTION_DEEP,
	OPTION_JSON,
};

/* clang-format off */
static const struct option_row rows[] = {
	[OPTION_KEY] = { "--key", "VKEY", "trust this verifier key, or the one in a file of that name", false },
	[OPTION_RESULTS] = { "--results", "DIR", "check results and kept policies; last or alone: of the state", false },
	[OPTION_KNOWN] = { "--known", "FILE", "a checkpoint or receipt held elsewhere: the log must agree", true },
	[OPTION_FROM] = { "--from", "FILE", "begin where this checkpoint or receipt ends: only what is new", false },
	[OPTION_POLICY] = { "--policy", "FILE", "an execution policy that the records must name", false },
	[OPTION_WITNESS_POLICY] = { "--witness-policy", "FILE", "which witnesses count (C2SP tlog-policy)", false },
	[OPTION_REQUIRE] = { "--require", "LEVEL", "dev, local, anchored or witnessed", false },
	[OPTION_STRICT] = { "--strict", NULL, "a warning makes it exit 3", false },
	[OPTION_DEEP] = { "--deep", NULL, "check every record signature", false },
	[OPTION_JSON] = { "--json", NULL, "print one JSON object", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff audit verify",
	.usage = "[DIR] [options]",
	.about =
	    "Check a log against the key that its auditor holds: form, chain, "
	    "signatures,\nMerkle root, intents and outcomes, and the results "
	    "beside it.  DIR is an audit\nfolder or a state directory; without "
	    "it, the state directory of this account.\n",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.notes =
	    "Without --key, the local key with the log's id is trusted:\n"
	    "/etc/bailiff/keys.d/<log id>/log.vkey, and for others than root\n"
	    "~/.config/bailiff/<log id>/log.vkey before it.  A key in the log "
	    "folder never is.\n\n"
	    "examples:\n"
	    "  bailiff audit verify\n"
	    "  bailiff audit verify --results\n"
	    "  bailiff audit verify /mnt/copy/audit --key log.vkey --known "
	    "receipt --deep\n\n"
	    "exit codes:\n"
	    "  0 VERIFIED   1 TAMPERED   2 could not run   3 below --require, "
	    "or --strict\n"
	    "  4 DIVERGED from a head held elsewhere   5 INCOMPLETE after a "
	    "crash\n"
	    "  6 UNSUPPORTED version, type or algorithm\n",
};

struct request {
	const char *dir, *key, *results, *from, *policy, *witness_policy;
	const char *known[KNOWN_MAX];
	size_t n_known;
	enum verify_require require;
	bool strict, deep, json;
};

/* What the request names, read before the process confines itself. */
struct inputs {
	struct note_key key;
	uint8_t policy[SHA256_BYTES];
	struct witness_policy witnesses;
	struct verify_known known[KNOWN_MAX];
	struct verify_known from;
	struct audit_place place;
	struct report report;
};

static int read_require(
    const char *word, enum verify_require *ret, struct error *e)
{
	for (enum verify_require i = REQUIRE_DEV;
	     verify_require_word(i) != NULL; i++)
		if (strcmp(word, verify_require_word(i)) == 0) {
			*ret = i;
			return 0;
		}
	return FAIL(e, ERROR_USAGE,
	    "--require %.40s: write dev, local, anchored or witnessed", word);
}

static int take_option(
    void *into, int option, const char *value, struct error *e)
{
	struct request *r = into;

	switch ((enum option)option) {
	case OPTION_KEY:
		r->key = value;
		break;
	case OPTION_RESULTS:
		r->results = value;
		break;
	case OPTION_KNOWN:
		if (r->n_known == KNOWN_MAX)
			return FAIL(
			    e, ERROR_USAGE, "more than %d --known", KNOWN_MAX);
		r->known[r->n_known++] = value;
		break;
	case OPTION_FROM:
		r->from = value;
		break;
	case OPTION_POLICY:
		r->policy = value;
		break;
	case OPTION_WITNESS_POLICY:
		r->witness_policy = value;
		break;
	case OPTION_REQUIRE:
		return read_require(value, &r->require, e);
	case OPTION_STRICT:
		r->strict = true;
		break;
	case OPTION_DEEP:
		r->deep = true;
		break;
	case OPTION_JSON:
		r->json = true;
		break;
	}
	return 0;
}

/* "--results" alone, or with another option behind it, means the results of
 * the state directory: the table then sees an empty value. */
static void default_results(char **words)
{
	static char empty[] = "--results=";

	for (size_t i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], "--results") == 0 &&
		    (words[i + 1] == NULL ||
		        strncmp(words[i + 1], "--", 2) == 0))
			words[i] = empty;
}

static int read_policies(
    const struct request *r, struct inputs *in, struct error *e)
{
	AUTO_FREE uint8_t *policy = NULL;
	AUTO_FREE uint8_t *witnesses = NULL;
	size_t len;

	if (r->policy != NULL) {
		if (audit_read_file(
		        r->policy, (size_t)1 << 20, &policy, &len, e) < 0)
			return FAIL_IN(e, "--policy");
		sha256_of(policy, len, in->policy);
	}
	if (r->witness_policy == NULL)
		return 0;
	if (audit_read_file(
	        r->witness_policy, WITNESS_BYTES_MAX, &witnesses, &len, e) < 0)
		return FAIL_IN(e, "--witness-policy");
	if (witness_policy_read(
	        (const char *)witnesses, len, &in->witnesses, e) < 0)
		return FAIL_IN(e, "--witness-policy %s", r->witness_policy);
	return 0;
}

static int read_inputs(
    const struct request *r, struct inputs *in, struct error *e)
{
	if (read_policies(r, in, e) < 0)
		return -1;
	for (size_t i = 0; i < r->n_known; i++) {
		struct verify_known *k = &in->known[i];

		k->name = r->known[i];
		if (audit_read_file(
		        k->name, NOTE_BYTES_MAX, &k->data, &k->len, e) < 0)
			return FAIL_IN(e, "--known");
	}
	if (r->from != NULL) {
		in->from.name = r->from;
		if (audit_read_file(r->from, NOTE_BYTES_MAX, &in->from.data,
		        &in->from.len, e) < 0)
			return FAIL_IN(e, "--from");
	}
	if (report_init(&in->report, e) < 0)
		return -1;
	if (audit_place_open(r->dir, r->results, &in->place, e) < 0)
		return -1;
	return audit_place_open_policies(&in->place, e);
}

static int verify(const struct request *r, struct inputs *in, struct error *e)
{
	struct verify_options o = {
		.audit_fd = in->place.audit_fd,
		.log_fd = in->place.log_fd,
		.results_fd = in->place.results_fd,
		.policies_fd = in->place.policies_fd,
		.key = r->key != NULL ? &in->key : NULL,
		.pin_fds = { in->place.pin_fds[0], in->place.pin_fds[1] },
		.known = in->known,
		.n_known = r->n_known,
		.from = r->from != NULL ? &in->from : NULL,
		.policy_sha256 = r->policy != NULL ? in->policy : NULL,
		.witnesses = r->witness_policy != NULL ? &in->witnesses : NULL,
		.require = r->require,
		.deep = r->deep,
		.strict = r->strict,
	};
	struct verify_summary s;
	int failed;

	if (audit_confine(&in->place, 1, e) < 0)
		return say_failed(e, VERDICT_NOT_RUN);
	if (verify_log(&o, &in->report, &s, e) < 0) {
		error_prefix(e, "%s", in->place.path);
		return say_failed(e, VERDICT_NOT_RUN);
	}
	failed = r->json ? audit_print_json(&in->report, &s)
	                 : audit_print_text(&in->report, &s);
	/* A report that nobody could read must not pass for a good one. */
	return failed != 0 ? (int)VERDICT_NOT_RUN : (int)s.verdict;
}

static void inputs_done(struct inputs *in)
{
	for (size_t i = 0; i < KNOWN_MAX; i++)
		free(in->known[i].data);
	free(in->from.data);
	audit_place_close(&in->place);
	report_done(&in->report);
	free(in);
}

static int run(const struct request *r, struct error *e)
{
	struct inputs *in = calloc(1, sizeof(*in));
	int code = VERDICT_NOT_RUN;

	if (in == NULL) {
		error_fill(e, ERROR_SYSTEM, ENOMEM, "allocate");
		return say_failed(e, code);
	}
	in->place = (struct audit_place)AUDIT_PLACE_NONE;
	if (r->key != NULL && audit_read_key(r->key, &in->key, e) < 0)
		code = say_failed(e, e->kind == ERROR_UNAVAILABLE
		                         ? VERDICT_UNSUPPORTED
		                         : VERDICT_NOT_RUN);
	else if (read_inputs(r, in, e) < 0)
		code = say_failed(e, code);
	else
		code = verify(r, in, e);
	inputs_done(in);
	return code;
}

int audit_verify_main(char **words)
{
	struct request r = { 0 };
	const struct options_into to = { take_option, &r, &r.dir, 1,
		"one folder" };
	struct error e;
	bool help = false;

	default_results(words);
	if (options_read(&command, words, &to, &help, &e) < 0)
		return say_failed(&e, EXIT_USAGE);
	if (help)
		return options_help(&command);
	if (r.from != NULL && (r.results != NULL || r.policy != NULL)) {
		say_line("--from reads only the records that are new, and "
		         "--results and --policy ask about all: verify without "
		         "--from");
		return EXIT_USAGE;
	}
	return run(&r, &e);
}
