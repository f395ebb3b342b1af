/*
 * cli/policy_languages.c - `bailiff languages`.  Linked by bailiff-policy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/policy.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "cli/toolchain.h"
#include "policy/load.h"

#define OUTPUT_MAX 262144

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
	.name = "bailiff languages",
	.usage = "[--json]",
	.about =
	    "List the languages that a policy can allow, and whether their "
	    "programs\nare on this host; what is missing is named with "
	    "its package.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0, 1 a language file is broken, 2 usage\n",
};

/* The list while it is made, and what is too big for a stack; on the heap. */
struct page {
	struct text_out out;
	struct error e;
	bool failed;
	struct toolchain toolchain;
	struct policy_faults faults;
	char directory[POLICY_PATH_MAX];
	char text[OUTPUT_MAX];
};

static void put(struct page *p, const char *text)
{
	if (text_printf(&p->out, &p->e, "%s", text) < 0)
		p->failed = true;
}

static void put_string(struct page *p, const char *key, const char *value)
{
	put(p, key);
	if (text_json_string(value, strlen(value), &p->out, &p->e) < 0)
		p->failed = true;
}

static void put_json(
    struct page *p, const struct language *l, const struct toolchain *t)
{
	put_string(p, "{\"name\":", l->name);
	put(p, ",\"aliases\":[");
	for (size_t i = 0; i < l->n_aliases; i++)
		put_string(p, i > 0 ? "," : "", l->aliases[i]);
	put_string(p, "],\"package\":", l->package);
	put(p, t->found ? ",\"available\":true" : ",\"available\":false");
	if (t->found)
		put_string(p, ",\"program\":", t->path);
	if (t->version[0] != '\0')
		put_string(p, ",\"version\":", t->version);
	put(p, "}");
}

static void put_line(
    struct page *p, const struct language *l, const struct toolchain *t)
{
	char aliases[POLICY_ALIASES_MAX * (POLICY_NAME_MAX + 2)] = "";
	size_t len = 0;

	for (size_t i = 0; i < l->n_aliases; i++)
		len += (size_t)snprintf(aliases + len, sizeof(aliases) - len,
		    "%s%s", i > 0 ? ", " : "", l->aliases[i]);
	if (text_printf(&p->out, &p->e, "%-12s %-20s ", l->name, aliases) < 0)
		p->failed = true;
	if (t->found) {
		put(p, t->path);
		put(p, "  ");
		put(p, t->version);
	} else {
		put(p, "missing: apt-get install ");
		put(p, l->package);
	}
	put(p, "\n");
}

static void put_language(struct page *p, struct language *l, bool json)
{
	struct toolchain *t = &p->toolchain;
	struct error e;

	toolchain_find(l, t);
	/* A program that cannot say its version is no language. */
	if (t->found && toolchain_probe(l, t, &e) < 0) {
		say_line("%s", e.text);
		t->found = false;
	}
	(json ? put_json : put_line)(p, l, t);
}

static int list(struct page *p, bool json)
{
	struct policy_known known;
	struct error e;

	p->out = (struct text_out){ p->text, sizeof(p->text), 0 };
	if (policy_place("languages", p->directory, &e) < 0 ||
	    policy_load_known(p->directory, &known, &p->faults, &e) < 0)
		return say_failed(&e, 1);
	put(p, json ? "{\"languages\":[" : "");
	for (size_t i = 0; i < known.n; i++) {
		put(p, json && i > 0 ? "," : "");
		put_language(p, &known.items[i], json);
	}
	put(p, json ? "]}\n" : "");
	free(known.items);
	if (p->failed) {
		say_line("the list does not fit in memory");
		return 1;
	}
	return say_out(p->text, p->out.len);
}

static int run(bool json)
{
	struct page *page = calloc(1, sizeof(*page));
	int code;

	if (page == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	code = list(page, json);
	free(page);
	return code;
}

int policy_languages_main(char **words)
{
	static const struct policy_words_want want = { &command, "", 0, 0 };
	struct policy_words_given given;
	int code = policy_words_take(&want, words, &given);

	return code != POLICY_WORDS_GO_ON ? code : run(given.has[ROW_JSON]);
}
