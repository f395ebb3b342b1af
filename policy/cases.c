/*
 * policy/cases.c - case files.  Linked by bailiff-policy; pure.  The text may be
 * anything.
 */
#include "policy/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/parse.h"

static const struct reader_names answer_words = { 5,
	{ "allow", "arguments", "once", "EPERM", "ENOSYS" } };

static void take_version(struct reader *r, uint32_t node, void *to)
{
	parse_version(r, node, to);
}

static void take_name(struct reader *r, uint32_t node, void *to)
{
	struct cases_case *c = to;

	(void)reader_text(r, node, c->name, sizeof(c->name));
}

static void take_request(struct reader *r, uint32_t node, void *to)
{
	struct cases_case *c = to;

	/* Its faults are in r->faults already. */
	if (request_read(r, node, &c->request) < 0)
		return;
}

static void take_decision(struct reader *r, uint32_t node, void *to)
{
	static const struct reader_names words = { 2, { "deny", "allow" } };
	struct cases_expect *expect = to;
	size_t which;

	if (reader_word(r, node, &words, &which))
		expect->allow = which == 1;
}

static bool has_word(const struct cases_words *words, const char *word)
{
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(words->items[i], word) == 0)
			return true;
	return false;
}

static void take_words(
    struct reader *r, uint32_t node, struct cases_words *words)
{
	char word[POLICY_WORD_MAX];

	words->is_given = true;
	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		if (!reader_text(r, i, word, sizeof(word)))
			continue;
		if (has_word(words, word)) {
			reader_fault(r, i, "it stands here twice");
		} else if (words->n == POLICY_WORDS_MAX) {
			reader_fault(
			    r, i, "more than %d words", POLICY_WORDS_MAX);
			return;
		} else {
			memcpy(words->items[words->n++], word, sizeof(word));
		}
	}
}

static void take_reasons(struct reader *r, uint32_t node, void *to)
{
	struct cases_expect *expect = to;

	take_words(r, node, &expect->reasons);
}

static void take_rules(struct reader *r, uint32_t node, void *to)
{
	struct cases_expect *expect = to;

	take_words(r, node, &expect->rules);
}

/* The same spelling as a request's own limits. */
static void take_limits(struct reader *r, uint32_t node, void *to)
{
	struct cases_expect *expect = to;
	struct policy_request asks = { .language = "" };

	request_read_limits(r, node, &asks);
	memcpy(expect->names, asks.asks, sizeof(expect->names));
	memcpy(expect->limits, asks.limits, sizeof(expect->limits));
}

static void take_call(
    struct reader *r, uint32_t node, struct cases_expect *expect)
{
	struct cases_call *call = &expect->calls[expect->n_calls];

	if (scan_key(&r->scan, node, call->name, sizeof(call->name)) < 0 ||
	    !number_of_name(FILTER_ARCH, call->name, &call->number)) {
		reader_fault(r, node, "no system call of that name is known");
		return;
	}
	if (reader_word(r, node, &answer_words, &call->answer))
		expect->n_calls++;
}

static void take_calls(struct reader *r, uint32_t node, void *to)
{
	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	if (r->scan.nodes[node].n > CASES_CALLS_MAX) {
		reader_fault(r, node, "more than %d calls", CASES_CALLS_MAX);
		return;
	}
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		take_call(r, i, to);
}

static const struct reader_key expect_rows[] = {
	{ "decision", take_decision, 0, true, NULL },
	{ "reasons", take_reasons, 0, false, NULL },
	{ "rules", take_rules, 0, false, NULL },
	{ "limits", take_limits, 0, false, NULL },
	{ "calls", take_calls, 0, false, NULL },
};
const struct reader_keys cases_expect_keys = { "what is expected",
	sizeof(expect_rows) / sizeof(expect_rows[0]), expect_rows };

static void take_expect(struct reader *r, uint32_t node, void *to)
{
	struct cases_case *c = to;

	reader_object(r, node, &cases_expect_keys, &c->expect);
	if (!c->expect.allow && c->expect.n_calls > 0)
		reader_fault(r, node, "a denied request makes no calls");
}

static const struct reader_key case_rows[] = {
	{ "name", take_name, 0, true, NULL },
	{ "request", take_request, 0, true, NULL },
	{ "expect", take_expect, 0, true, NULL },
};
const struct reader_keys cases_case_keys = { "a case",
	sizeof(case_rows) / sizeof(case_rows[0]), case_rows };

/* What cases_open fills. */
struct opening {
	struct cases_case *scratch;
	struct cases_file file;
};

void cases_read(struct reader *r, uint32_t node, struct cases_case *ret)
{
	ret->name[0] = '\0';
	memset(&ret->expect, 0, sizeof(ret->expect));
	reader_object(r, node, &cases_case_keys, ret);
}

static void take_cases(struct reader *r, uint32_t node, void *to)
{
	struct opening *o = to;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	o->file.first = scan_first(&r->scan, node);
	o->file.n = r->scan.nodes[node].n;
	if (o->file.n == 0)
		reader_fault(r, node, "no case: nothing would be tested");
	for (uint32_t i = o->file.first; i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		cases_read(r, i, o->scratch);
}

static const struct reader_key file_rows[] = {
	{ "version", take_version, 0, true, NULL },
	{ "cases", take_cases, 0, true, NULL },
};
const struct reader_keys cases_keys = { "a case file",
	sizeof(file_rows) / sizeof(file_rows[0]), file_rows };

int cases_open(struct reader *r, const struct policy_text *text,
    struct cases_case *scratch, struct cases_file *ret, struct error *e)
{
	struct opening o = { scratch, { SCAN_NONE, 0 } };

	if (reader_open(r, text) == 0)
		reader_object(r, 0, &cases_keys, &o);
	if (r->faults->n > 0)
		return parse_fail(r->faults, e);
	*ret = o.file;
	return 0;
}

/* Clauses of one comparison; 'failed' sticks. */
struct clauses {
	struct text_out *out;
	struct error *e;
	size_t n;
	bool failed;
};

static void begin(struct clauses *c, const char *what)
{
	if (text_printf(c->out, c->e, "%s%s", c->n++ > 0 ? "; " : "", what) < 0)
		c->failed = true;
}

static void say(struct clauses *c, const char *before, const char *text)
{
	if (!c->failed && text_printf(c->out, c->e, "%s%s", before, text) < 0)
		c->failed = true;
}

static void compare_words(struct clauses *c, const char *what,
    const struct cases_words *want, const struct policy_words *got)
{
	bool same = want->n == got->n;

	if (!want->is_given)
		return;
	for (size_t i = 0; i < got->n; i++)
		same = same && has_word(want, got->items[i]);
	if (same)
		return;
	begin(c, what);
	for (size_t i = 0; i < got->n; i++)
		say(c, i > 0 ? ", " : " ", got->items[i]);
	say(c, got->n == 0 ? " none" : "", ", expected");
	for (size_t i = 0; i < want->n; i++)
		say(c, i > 0 ? ", " : " ", want->items[i]);
	say(c, want->n == 0 ? " none" : "", "");
}

static void compare_limit(
    struct clauses *c, enum limit_id id, uint64_t want, uint64_t got)
{
	const uint64_t values[] = { got, want };
	char digits[24];

	if (want == got)
		return;
	begin(c, limit_table[id].name);
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(digits, sizeof(digits), "%" PRIu64, values[i]);
		say(c, i == 0 ? " " : ", expected ",
		    values[i] == LIMIT_UNLIMITED ? "unlimited" : digits);
	}
}

static void compare_call(struct clauses *c, const struct cases_call *want,
    const struct answers *answers)
{
	/* A call that this machine does not have cannot be made. */
	const char *got = "ENOSYS";

	if (want->number >= 0 && want->number <= NUMBER_LAST)
		got = answers->of[want->number].by_arguments
		          ? "arguments"
		          : answer_word(answers->of[want->number].word);
	if (strcmp(got, answer_words.items[want->answer]) == 0)
		return;
	begin(c, want->name);
	say(c, " ", got);
	say(c, ", expected ", answer_words.items[want->answer]);
}

static void compare_decision(struct clauses *c,
    const struct cases_expect *expect, const struct policy_decision *got)
{
	if (expect->allow == got->allow)
		return;
	begin(c, got->allow ? "decision allow, expected deny"
	                    : "decision deny, expected allow");
	/* Why, even if nobody said what to expect. */
	for (size_t i = 0; i < got->reasons.n; i++)
		say(c, i > 0 ? ", " : ": ", got->reasons.items[i]);
}

static void compare_limits(struct clauses *c, const struct cases_expect *expect,
    const struct policy_decision *got)
{
	for (size_t i = 0; i < LIMIT_N; i++) {
		if (!expect->names[i])
			continue;
		if (got->language == NULL) {
			begin(c, "no limits without a language");
			return;
		}
		compare_limit(
		    c, (enum limit_id)i, expect->limits[i], got->limits[i]);
	}
}

int cases_compare(const struct cases_expect *expect,
    const struct policy_decision *got, const struct answers *answers,
    struct text_out *out, struct error *e)
{
	struct clauses c = { .out = out, .e = e };

	compare_decision(&c, expect, got);
	compare_words(&c, "reasons", &expect->reasons, &got->reasons);
	compare_words(&c, "rules", &expect->rules, &got->rules);
	compare_limits(&c, expect, got);
	for (size_t i = 0; got->allow && i < expect->n_calls; i++)
		compare_call(&c, &expect->calls[i], answers);
	return c.failed ? -1 : 0;
}
