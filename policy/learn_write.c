/*
 * policy/learn_write.c - the fragment as text.  Linked by bailiff-policy; pure.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/learn.h"
#include "policy/parse.h"

#define COLUMNS 78

struct writer {
	struct text_out *out;
	struct error *e;
	bool failed;
};

static void put(struct writer *w, const char *text)
{
	if (!w->failed && text_printf(w->out, w->e, "%s", text) < 0)
		w->failed = true;
}

static void put_text(struct writer *w, const char *text)
{
	if (!w->failed &&
	    text_json_string(text, strlen(text), w->out, w->e) < 0)
		w->failed = true;
}

/* A list of words, some to a line. */
static void put_list(
    struct writer *w, const char *indent, const char *const *words, size_t n)
{
	size_t column = COLUMNS;

	put(w, "[");
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i]) + sizeof("\"\", ") - 1;

		put(w, i > 0 ? "," : "");
		if (column + len > COLUMNS) {
			put(w, "\n");
			put(w, indent);
			column = strlen(indent);
		} else {
			put(w, " ");
		}
		put_text(w, words[i]);
		column += len;
	}
	put(w, "]");
}

static void put_capabilities(struct writer *w, const struct capabilities *c)
{
	const char *names[CALLSET_MAX];

	put(w, "      \"capabilities\": {\n");
	for (size_t i = 0; i < parse_capability_names.n; i++) {
		const char *name = parse_capability_names.items[i];

		if (strcmp(name, "network") == 0)
			continue; /* false is its only value */
		put(w, "        ");
		put_text(w, name);
		put(w, parse_capability(c, i) ? ": true,\n" : ": false,\n");
	}
	put(w, "        \"syscalls\": {\n          \"only\": ");
	put_list(w, "            ", names, callset_names(&c->only, names));
	put(w, "\n        }\n      }");
}

/* What is found in files by an import, and nothing else. */
static void put_modules(struct writer *w, const struct learn_language *of)
{
	const char *names[LEARN_MODULES_MAX];

	for (size_t i = 0; i < of->n_modules; i++)
		names[i] = of->modules[i];
	put(w, ",\n      \"modules\": {\n        \"only\": ");
	put_list(w, "          ", names, of->n_modules);
	put(w, "\n      }");
}

static void put_language(struct writer *w, const struct learn_language *of)
{
	put(w, "    ");
	put_text(w, of->of->language.name);
	put(w, ": {\n");
	put_capabilities(w, &of->least);
	if (of->of->language.modules.n_directories > 0)
		put_modules(w, of);
	put(w, "\n    }");
}

int learn_write(struct learn *l, struct text_out *out, struct error *e)
{
	struct writer w = { out, e, false };
	bool first = true;

	put(&w, "{\n  \"languages\": {\n");
	for (size_t i = 0; i < l->policy->n_languages; i++) {
		if (l->languages[i].n_runs == 0)
			continue;
		put(&w, first ? "" : ",\n");
		put_language(&w, &l->languages[i]);
		first = false;
	}
	put(&w, "\n  }");
	if (l->host_inputs == 0)
		put(&w, ",\n  \"paths\": { \"read\": [] }");
	put(&w, "\n}\n");
	return w.failed ? -1 : 0;
}
