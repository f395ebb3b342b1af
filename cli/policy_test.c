/*
 * cli/policy_test.c - `bailiff policy test`: a policy against its case file.
 * Linked by bailiff-policy.  Every case is decided by the function that decides
 * runs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/own.h"
#include "cli/policy.h"
#include "cli/policy_screen.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "policy/cases.h"
#include "policy/load.h"

#define REPORT_MAX 4194304
#define WHY_MAX    8192

enum row {
	ROW_JUNIT,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_JUNIT] = { "--junit", NULL, "print JUnit's XML instead of TAP", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff policy test",
	.usage = "[--junit] FILE CASES",
	.about = "Decide every request of the case file CASES by the policy "
	         "FILE and compare\nwith what it expects.  Nothing runs.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0 all as expected, 1 not all, or no answer, 2 "
	         "usage\n",
};

/* Everything of one command; on the heap. */
struct work {
	bool junit;
	struct policy_loaded loaded;
	struct policy_faults faults;
	struct reader reader;
	struct cases_case one;
	struct policy_decision decision;
	struct policy_hits hits;
	struct filter filter;
	struct answers answers;
	size_t n_failed;
	char file[POLICY_PATH_MAX]; /* the case file's name, printable */
	char languages[POLICY_PATH_MAX];
	char why[WHY_MAX];     /* of one case, NUL-ended; "": as expected */
	char body[REPORT_MAX]; /* lines of the cases */
	struct text_out out;
	char head[POLICY_PATH_MAX * 8];
};

static int read_cases(
    const char *path, uint8_t **ret, size_t *ret_len, struct error *e)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "%.200s", path);
	if (!S_ISREG(st.st_mode))
		return FAIL(
		    e, ERROR_DENIED, "%.200s: not a regular file", path);
	if (file_read_all(fd, POLICY_TEXT_MAX, ret, ret_len, e) < 0)
		return FAIL_IN(e, "%.200s", path);
	return 0;
}

static int judge(struct work *w, struct error *e)
{
	const struct policy_decision *d = &w->decision;
	const struct policy_code code = { w->one.request.code,
		(size_t)w->one.request.asks.code_size };
	struct text_out why = { w->why, sizeof(w->why) - 1, 0 };

	policy_decide(w->loaded.policy, &w->one.request.asks, &w->decision);
	if (policy_screen(&code, &w->decision, &w->hits, e) < 0)
		return -1;
	if (d->allow && w->one.expect.n_calls > 0 &&
	    (filter_compile(&d->language->capabilities, &w->filter, e) < 0 ||
	        answers_find(&w->filter, &w->answers, e) < 0))
		return -1;
	if (cases_compare(&w->one.expect, d, &w->answers, &why, e) < 0)
		return -1;
	w->why[why.len] = '\0';
	return 0;
}

static int put_tap(struct work *w, size_t number, struct error *e)
{
	bool failed = w->why[0] != '\0';

	if (text_printf(
	        &w->out, e, "%s %zu - ", failed ? "not ok" : "ok", number) < 0)
		return -1;
	/* A "#" would begin a directive. */
	for (const char *at = w->one.name; *at != '\0'; at++)
		if (text_printf(&w->out, e, "%s%c",
		        *at == '#' || *at == '\\' ? "\\" : "", *at) < 0)
			return -1;
	if (!failed)
		return text_printf(&w->out, e, "\n");
	if (text_printf(&w->out, e, "\n  ---\n  message: ") < 0 ||
	    text_json_string(w->why, strlen(w->why), &w->out, e) < 0)
		return -1;
	return text_printf(&w->out, e, "\n  ...\n");
}

/* As text of an attribute; what is in it was made printable. */
static int put_xml(struct text_out *out, const char *text, struct error *e)
{
	static const struct {
		char from;
		const char *to;
	} odd[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" },
		{ '"', "&quot;" } };

	for (; *text != '\0'; text++) {
		const char *to = NULL;

		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
			to = odd[i].from == *text ? odd[i].to : to;
		if ((to != NULL ? text_printf(out, e, "%s", to)
		                : text_printf(out, e, "%c", *text)) < 0)
			return -1;
	}
	return 0;
}

static int put_junit(struct work *w, struct error *e)
{
	bool failed = w->why[0] != '\0';

	if (text_printf(&w->out, e, "  <testcase classname=\"%s\" name=\"",
	        w->loaded.policy->name) < 0 ||
	    put_xml(&w->out, w->one.name, e) < 0)
		return -1;
	if (!failed)
		return text_printf(&w->out, e, "\"/>\n");
	if (text_printf(&w->out, e, "\">\n    <failure message=\"") < 0 ||
	    put_xml(&w->out, w->why, e) < 0)
		return -1;
	return text_printf(&w->out, e, "\"/>\n  </testcase>\n");
}

static int put_head(
    struct work *w, size_t n, struct text_out *head, struct error *e)
{
	if (!w->junit)
		return text_printf(head, e, "TAP version 14\n1..%zu\n", n);
	if (text_printf(head, e,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<testsuite name=\"") < 0 ||
	    put_xml(head, w->file, e) < 0)
		return -1;
	return text_printf(
	    head, e, "\" tests=\"%zu\" failures=\"%zu\">\n", n, w->n_failed);
}

static int test_all(
    struct work *w, const struct cases_file *cases, struct error *e)
{
	size_t number = 0;

	for (uint32_t i = cases->first; i != SCAN_NONE;
	     i = w->reader.scan.nodes[i].next) {
		cases_read(&w->reader, i, &w->one);
		if (judge(w, e) < 0)
			return FAIL_IN(e, "case '%s'", w->one.name);
		w->n_failed += w->why[0] != '\0';
		number++;
		if ((w->junit ? put_junit(w, e) : put_tap(w, number, e)) < 0)
			return FAIL_IN(e, "the report");
	}
	return w->junit ? text_printf(&w->out, e, "</testsuite>\n") : 0;
}

static int print_all(struct work *w, size_t n, struct error *e)
{
	struct text_out head = { w->head, sizeof(w->head), 0 };

	if (put_head(w, n, &head, e) < 0)
		return say_failed(e, 1);
	if (say_out(w->head, head.len) != 0 ||
	    say_out(w->body, w->out.len) != 0)
		return 1;
	return w->n_failed > 0 ? 1 : 0;
}

static int load(struct work *w, const char *file, struct error *e)
{
	struct policy_places places = { file, w->languages };

	if (policy_place("languages", w->languages, e) < 0)
		return -1;
	return policy_load(&places, &w->loaded, &w->faults, e);
}

static int run(struct work *w, const struct policy_words_given *given)
{
	const char *path = given->operands[1];
	struct text_out name = { w->file, sizeof(w->file) - 1, 0 };
	struct policy_text text = { .name = path };
	AUTO_FREE uint8_t *data = NULL;
	struct cases_file cases;
	struct error e;

	(void)text_escape(path, strlen(path), TEXT_KEEP_NONE, &name);
	w->out = (struct text_out){ w->body, sizeof(w->body), 0 };
	w->reader.faults = &w->faults;
	if (load(w, given->operands[0], &e) < 0 ||
	    read_cases(path, &data, &text.len, &e) < 0)
		return say_failed(&e, 1);
	text.data = (const char *)data;
	if (cases_open(&w->reader, &text, &w->one, &cases, &e) < 0 ||
	    test_all(w, &cases, &e) < 0)
		return say_failed(&e, 1);
	return print_all(w, cases.n, &e);
}

int policy_test_main(char **words)
{
	static const struct policy_words_want want = { &command, "FILE CASES",
		2, 2 };
	struct policy_words_given given;
	struct work *w;
	int code = policy_words_take(&want, words, &given);

	if (code != POLICY_WORDS_GO_ON)
		return code;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	w->junit = given.has[ROW_JUNIT];
	code = run(w, &given);
	policy_loaded_done(&w->loaded);
	free(w);
	return code;
}
