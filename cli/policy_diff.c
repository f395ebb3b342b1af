/*
 * cli/policy_diff.c - `bailiff policy diff`.  Linked by bailiff-policy.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/policy.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "cli/sheet.h"
#include "policy/diff.h"
#include "policy/load.h"

enum row {
	ROW_JSON,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_JSON] = { "--json", NULL, "print one JSON object", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff policy diff",
	.usage = "[--json] A B",
	.about = "Say what the policy B allows that A does not, what it denies "
	         "that A allows,\nand what else is other.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0 they mean the same, 1 they differ, 2 usage, or "
	         "no answer\n",
};

#define EXIT_TROUBLE 2

/* Everything of one command; on the heap. */
struct work {
	struct policy_loaded loaded[2];
	struct policy_faults faults;
	struct sheet sheet;
	enum diff_kind kind; /* that is being printed */
	size_t n, n_all;
	char languages[POLICY_PATH_MAX];
};

static const char *const headings[] = {
	[DIFF_ALLOWED] = "allowed",
	[DIFF_DENIED] = "denied",
	[DIFF_CHANGED] = "changed",
};

static void take(void *context, const struct diff_item *item)
{
	struct work *w = context;

	if (item->kind != w->kind)
		return;
	/* No heading without a line beneath it, for a person. */
	if (w->n++ == 0 && !w->sheet.json)
		sheet_begin(&w->sheet, headings[w->kind]);
	w->n_all++;
	if (!w->sheet.json) {
		sheet_text(&w->sheet, item->what, item->text);
		return;
	}
	sheet_begin(&w->sheet, NULL);
	sheet_text(&w->sheet, "what", item->what);
	sheet_text(&w->sheet, "text", item->text);
	sheet_end(&w->sheet);
}

static int put_kind(struct work *w, enum diff_kind kind, struct error *e)
{
	const struct diff_sink sink = { take, w };

	w->kind = kind;
	w->n = 0;
	if (w->sheet.json)
		sheet_list(&w->sheet, headings[kind]);
	if (diff_policies(w->loaded[0].policy, w->loaded[1].policy, &sink, e) <
	    0)
		return -1;
	if (w->sheet.json)
		sheet_list_end(&w->sheet);
	else if (w->n > 0)
		sheet_end(&w->sheet);
	return 0;
}

static int load(struct work *w, const char *const *files, struct error *e)
{
	if (policy_place("languages", w->languages, e) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		struct policy_places places = { files[i], w->languages };

		if (policy_load(&places, &w->loaded[i], &w->faults, e) < 0)
			return -1;
	}
	return 0;
}

static bool is_same(const struct work *w)
{
	return memcmp(w->loaded[0].policy->sha256, w->loaded[1].policy->sha256,
	           SHA256_BYTES) == 0;
}

static int run(struct work *w, const char *const *files)
{
	struct error e;

	if (load(w, files, &e) < 0)
		return say_failed(&e, EXIT_TROUBLE);
	sheet_begin(&w->sheet, NULL);
	sheet_flag(&w->sheet, "same", is_same(w));
	for (int kind = DIFF_ALLOWED; kind <= DIFF_CHANGED; kind++)
		if (put_kind(w, (enum diff_kind)kind, &e) < 0)
			return say_failed(&e, EXIT_TROUBLE);
	sheet_end(&w->sheet);
	/* The digest covers all that a policy means. */
	if (is_same(w) != (w->n_all == 0)) {
		say_line("the policies differ in a way that this command does "
		         "not know");
		return EXIT_TROUBLE;
	}
	if (sheet_print(&w->sheet) != 0)
		return EXIT_TROUBLE;
	return is_same(w) ? 0 : 1;
}

int policy_diff_main(char **words)
{
	static const struct policy_words_want want = { &command, "A B", 2, 2 };
	struct policy_words_given given;
	struct work *w;
	int code = policy_words_take(&want, words, &given);

	if (code != POLICY_WORDS_GO_ON)
		return code;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return say_failed(
		    &(struct error){ .text = "no memory" }, EXIT_TROUBLE);
	w->sheet.json = given.has[ROW_JSON];
	code = run(w, given.operands);
	for (size_t i = 0; i < 2; i++)
		policy_loaded_done(&w->loaded[i]);
	free(w);
	return code;
}
