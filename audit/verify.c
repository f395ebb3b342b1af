/*
 * audit/verify.c - the order of a verification: checkpoint, pin, records, heads
 * held elsewhere, results, verdict.  Linked by the audit reader.
 *
 * The checkpoint is read before the log, so that a log that grows meanwhile
 * only gains records above it.
 */
#include "audit/verify.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/checkpoint.h"
#include "audit/verify_from.h"
#include "audit/verify_results.h"
#include "audit/witness_policy.h"
#include "base/file.h"
#include "base/own.h"

struct checkpoint {
	uint8_t *data; /* owned; NULL: there is none */
	size_t len;
};

static int open_checkpoint(
    struct verify *v, const struct checkpoint *c, struct error *e)
{
	struct heads_one one = { .source = HEAD_CHECKPOINT };
	struct error why;

	if (c->data == NULL) {
		(void)VERIFY_BAD(v, NULL, "checkpoint", "a signed checkpoint",
		    "no such file");
		return 0;
	}
	if (note_open(c->data, c->len, &v->summary->pin, &one.head, &why) < 0) {
		(void)VERIFY_BAD(v, NULL, "checkpoint",
		    "a checkpoint signed by the pinned key", "%s", why.text);
		return 0;
	}
	v->checkpoint = one.head;
	v->summary->witnessed =
	    v->options->witnesses != NULL &&
	    witness_policy_holds(v->options->witnesses, c->data, c->len);
	return heads_add(&v->heads, &one, e);
}

int verify_open_head(struct verify *v, const struct verify_known *k,
    struct tree_head *ret, struct error *e)
{
	struct note_proof proof;

	if (k->len <= 8 || memcmp(k->data, "c2sp.org", 8) != 0)
		return note_open(k->data, k->len, &v->summary->pin, ret, e);
	if (note_proof_open(k->data, k->len, &v->summary->pin, &proof, e) < 0)
		return -1;
	*ret = proof.head;
	return 0;
}

static int open_known(struct verify *v, size_t i, struct error *e)
{
	const struct verify_known *k = &v->options->known[i];
	struct heads_one one = { .source = HEAD_KNOWN, .index = i };

	if (verify_open_head(v, k, &one.head, e) < 0)
		return FAIL_IN(e, "--known %s", k->name);
	return heads_add(&v->heads, &one, e);
}

/* What stands where a line should; false unless it is one. */
static bool is_line(struct verify *v, const struct lines_line *line)
{
	struct report_place place = { true, v->tree.size, line->offset,
		line->segment };

	if (line->kind == LINES_LONG)
		return VERIFY_BAD(v, &place, "record.form",
		    "at most 65535 bytes and LF", "a longer line");
	if (line->kind == LINES_CUT)
		return VERIFY_BAD(v, &place, "record.form",
		    "LF at the end of a segment",
		    "%zu bytes without, and another segment follows",
		    line->len);
	return line->kind == LINES_ONE;
}

/* The signer of this log holds its lock for life. */
static bool signer_runs(const struct verify *v)
{
	struct file_open what = { v->options->audit_fd, "lock", O_RDONLY, 0 };
	struct error ignored; /* no lock file: no signer */
	AUTO_FD fd = -1;

	return file_open_beneath(&what, &fd, &ignored) == 0 &&
	       flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* Did somebody append after our last read?  Then somebody was there. */
static bool has_grown(const struct verify *v)
{
	struct stat st;

	return fstat(v->lines.fd, &st) == 0 &&
	       (uint64_t)st.st_size >
	           v->lines.offset + (v->lines.to - v->lines.from);
}

static void judge_end(
    struct verify *v, const struct lines_line *line, bool runs)
{
	struct report_place place = { true, v->tree.size, line->offset,
		line->segment };
	struct report_what what = { runs ? VERDICT_BELOW : VERDICT_INCOMPLETE,
		"log.tail", &place, "LF at the end of the log" };

	if (line->kind == LINES_TORN)
		report_add(v->report, &what, "%zu bytes without%s", line->len,
		    runs ? "; the signer runs" : ": torn by a crash");
	what.check = "state.open";
	what.place = NULL;
	what.expected = "an outcome for each intent";
	if (v->open.n_used > 0)
		report_add(v->report, &what, "%zu open%s", v->open.n_used,
		    runs ? "; the signer runs" : " and no signer runs");
	what.check = "log.durability";
	what.expected = "epoch.close where durability is not full";
	if (!runs && v->ended == ENDED_NOT && v->promise > PROMISE_FULL)
		report_add(v->report, &what,
		    "none: a crash; acknowledged records at the end may be "
		    "lost (durability %s)",
		    promise_word(v->promise));
	if (v->tree.size > v->checkpoint.size)
		report_add(v->report,
		    &(struct report_what){
		        VERDICT_BELOW, "log.in_flight", NULL, NULL },
		    "%" PRIu64 " records beyond the checkpoint are held by "
		    "chain and signature only",
		    v->tree.size - v->checkpoint.size);
}

/* Heads that the log never reached. */
static void judge_unmet(struct verify *v)
{
	struct heads_one one;
	char expected[64];

	(void)snprintf(expected, sizeof(expected),
	    "at most %" PRIu64 " records", v->tree.size);
	while (heads_take(&v->heads, UINT64_MAX, &one)) {
		struct report_what what = { VERDICT_DIVERGED, "known.head",
			NULL, expected };

		if (one.source == HEAD_CHECKPOINT) {
			what.verdict = VERDICT_TAMPERED;
			what.check = "checkpoint.size";
			report_add(v->report, &what,
			    "the signed checkpoint covers %" PRIu64,
			    one.head.size);
		} else if (one.source == HEAD_KNOWN) {
			report_add(v->report, &what,
			    "--known %s covers %" PRIu64,
			    v->options->known[one.index].name, one.head.size);
		} else {
			what.check = "results.receipt";
			report_add(v->report, &what,
			    "the receipt of record %" PRIu64 " covers %" PRIu64,
			    one.index, one.head.size);
		}
	}
}

static void say_passed(struct verify *v)
{
	struct report_what what = { VERDICT_VERIFIED, "chain", NULL, NULL };

	report_add(v->report, &what,
	    "%" PRIu64 " records in %" PRIu64
	    " bytes: form, seq, prev, log id, types, intents and outcomes",
	    v->tree.size - v->from, v->lines.total);
	verify_say_from(v);
	what.check = "record.sig";
	report_add(v->report, &what,
	    "%" PRIu64 " record signatures checked (%s), keys of %" PRIu64
	    " epochs in order",
	    v->summary->signatures,
	    v->options->deep ? "each record" : "two of each epoch",
	    v->tree.size > 0 ? v->epoch + 1 : 0);
	if (v->checkpoint.size > 0 || v->tree.size == 0) {
		what.check = "checkpoint";
		report_add(v->report, &what,
		    "signed by the pinned key, covers %" PRIu64 " records",
		    v->checkpoint.size);
	}
	if (v->summary->redacted > 0) {
		what.check = "redacted";
		report_add(v->report, &what,
		    "%" PRIu64 " runs: what opened their commitments is "
		    "erased",
		    v->summary->redacted);
	}
	if (v->options->results_fd >= 0) {
		what.check = "results";
		report_add(v->report, &what,
		    "%" PRIu64 " folders checked against their records",
		    v->summary->results);
		verify_say_policies(v);
	}
}

/* Records decide; a cache beside them is only worth a word. */
static void judge_index(struct verify *v)
{
	index_flush(&v->index);
	if (v->index.differs)
		report_add(v->report,
		    &(struct report_what){ VERDICT_BELOW, "index", NULL,
		        "the leaves of these records" },
		    "audit/index says otherwise; remove index/ while no "
		    "signer runs: its next start makes it anew");
}

static int end(struct verify *v, const struct lines_line *line, struct error *e)
{
	bool runs = signer_runs(v) || has_grown(v);

	if (!verify_last_signature(v))
		return 0;
	judge_unmet(v);
	judge_end(v, line, runs);
	judge_index(v);
	if (v->options->results_fd >= 0) {
		if (verify_results_end(v, runs, e) < 0)
			return -1;
		verify_policies_end(v);
	}
	if (v->options->policy_sha256 != NULL && !v->policy_named)
		(void)VERIFY_BAD(v, NULL, "policy",
		    "a policy that the records name", "another file");
	else if (v->options->policy_sha256 != NULL)
		report_add(v->report,
		    &(struct report_what){
		        VERDICT_VERIFIED, "policy", NULL, NULL },
		    "the records name this policy");
	if (v->report->n_fail == 0)
		say_passed(v);
	return 0;
}

static int next_line(struct verify *v, struct lines_line *ret, struct error *e)
{
	if (lines_next(&v->lines, ret, e) < 0)
		return -1;
	return ret->kind == LINES_LONG ? lines_judge_long(&v->lines, ret, e)
	                               : 0;
}

/* 'line' is the first one to be judged, then. */
static int begin(struct verify *v, const struct checkpoint *c,
    struct lines_line *line, struct error *e)
{
	if (v->options->from != NULL &&
	    (verify_from(v, e) < 0 || next_line(v, line, e) < 0))
		return -1;
	if (open_checkpoint(v, c, e) < 0)
		return -1;
	for (size_t i = 0; i < v->options->n_known; i++)
		if (open_known(v, i, e) < 0)
			return -1;
	if (v->options->results_fd >= 0 && verify_results_list(v, e) < 0)
		return -1;
	verify_from_heads(v);
	verify_meet_heads(v);
	return 0;
}

static int judge(struct verify *v, const struct checkpoint *c, struct error *e)
{
	struct lines_line line;
	bool go_on;

	if (next_line(v, &line, e) < 0 || verify_pin(v, &line, &go_on, e) < 0)
		return -1;
	if (!go_on)
		return 0;
	if (begin(v, c, &line, e) < 0)
		return -1;
	while (is_line(v, &line)) {
		if (verify_record(v, &line, &go_on, e) < 0)
			return -1;
		if (!go_on)
			return 0;
		if (next_line(v, &line, e) < 0)
			return -1;
	}
	if (line.kind == LINES_LONG || line.kind == LINES_CUT)
		return 0;
	return end(v, &line, e);
}

const char *verify_require_word(enum verify_require level)
{
	static const char *const words[] = { "dev", "local", "anchored",
		"witnessed" };

	return (size_t)level < sizeof(words) / sizeof(words[0]) ? words[level]
	                                                        : NULL;
}

static void conclude(struct verify *v)
{
	struct verify_summary *s = v->summary;
	enum verify_require met = s->durability == PROMISE_NONE ? REQUIRE_DEV
	                          : s->witnessed ? REQUIRE_WITNESSED
	                                         : REQUIRE_LOCAL;

	s->records = v->tree.size - v->from;
	s->bytes = v->lines.total;
	s->covered = v->checkpoint.size < v->tree.size ? v->checkpoint.size
	                                               : v->tree.size;
	s->covered -= s->covered < v->from ? s->covered : v->from;
	tree_head_of(&v->tree, &s->head);
	s->assured = met;
	s->verdict = report_verdict(v->report, v->options->strict);
	if (v->options->require <= met)
		return;
	report_add(v->report,
	    &(struct report_what){ VERDICT_BELOW, "assurance", NULL,
	        verify_require_word(v->options->require) },
	    "%s", verify_require_word(met));
	if (s->verdict == VERDICT_VERIFIED)
		s->verdict = VERDICT_BELOW;
}

static int tables(struct verify *v, struct error *e)
{
	if (idmap_init(&v->keys, 0, e) < 0 || idmap_init(&v->used, 0, e) < 0 ||
	    idmap_init(&v->open, sizeof(struct verify_open), e) < 0 ||
	    idmap_init(&v->boots, 1, e) < 0 || idmap_init(&v->gone, 1, e) < 0 ||
	    idmap_init(&v->policies, sizeof(struct verify_policy), e) < 0)
		return -1;
	return idmap_init(&v->folders, 0, e);
}

static void release(struct verify *v)
{
	idmap_done(&v->keys);
	idmap_done(&v->used);
	idmap_done(&v->open);
	idmap_done(&v->boots);
	idmap_done(&v->folders);
	idmap_done(&v->gone);
	idmap_done(&v->policies);
	heads_done(&v->heads);
	lines_close(&v->lines);
	index_close(&v->index);
	free(v->losses);
	free(v);
}

int verify_log(const struct verify_options *options, struct report *report,
    struct verify_summary *ret, struct error *e)
{
	struct verify *v = calloc(1, sizeof(*v));
	struct checkpoint c = { NULL, 0 };
	int done = -1;

	if (v == NULL)
		return FAIL_SYS(e, "allocate the verifier");
	memset(ret, 0, sizeof(*ret));
	v->options = options;
	v->report = report;
	v->summary = ret;
	v->lines.fd = -1;
	v->lines.next_fd = -1;
	index_open_to_compare(options->audit_fd, &v->index);
	if (options->from != NULL)
		index_close(&v->index);
	if (tables(v, e) == 0 &&
	    checkpoint_read(options->audit_fd, &c.data, &c.len, e) == 0 &&
	    lines_open(options->log_fd, &v->lines, e) == 0)
		done = judge(v, &c, e);
	if (done == 0)
		conclude(v);
	free(c.data);
	release(v);
	return done;
}
