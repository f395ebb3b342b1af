/*
 * mcp/advice.c - reasons of a denial in words.  Linked by bailiff-mcp.
 */
#include "mcp/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REASONS_SHOWN 3

enum advice_more {
	MORE_NONE,
	MORE_LANGUAGES, /* which ones are allowed */
	MORE_LIMIT,     /* "limit.<name>.<how>": its bound */
	MORE_AGAIN,     /* later, unchanged */
};

/* By the beginning of a reason; the first row that fits. */
static const struct advice {
	const char *prefix, *text;
	enum advice_more more;
} advices[] = {
	{ "language.", "this language is not allowed", MORE_LANGUAGES },
	{ "limit.", "it asks for more than the policy allows", MORE_LIMIT },
	{ "code.empty", "there is no code to run", MORE_NONE },
	{ "code.too_large", "the code is too long; split it", MORE_NONE },
	{ "code.", "the policy does not allow what this code does", MORE_NONE },
	{ "stdin.too_large", "the standard input is too long", MORE_NONE },
	{ "inputs.too_many", "too many files; send fewer", MORE_NONE },
	{ "inputs.too_large", "the files are too large", MORE_NONE },
	{ "path.name",
	    "a file's path must be a plain name, without a slash, other than "
	    "that of the program itself, and each one different; the program "
	    "can make folders and move its files there",
	    MORE_NONE },
	{ "path.", "this path is not allowed", MORE_NONE },
	{ "concurrency.", "too many runs are going at once", MORE_AGAIN },
	{ "request.flood", "too many refused requests", MORE_AGAIN },
	{ "request.malformed", "the request could not be decoded", MORE_NONE },
};

/* Where the line is written; the first 'len' of 'cap' bytes are. */
struct line {
	char *to;
	size_t cap, len;
};

__attribute__((format(printf, 2, 3))) static void add(
    struct line *l, const char *format, ...);

static void add(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	if (l->len >= l->cap)
		return;
	va_start(args, format);
	n = vsnprintf(l->to + l->len, l->cap - l->len, format, args);
	va_end(args);
	l->len += n > 0 ? (size_t)n : 0;
}

static void add_languages(struct line *l, const struct about *about)
{
	add(l, "; allowed are: ");
	for (size_t i = 0; i < about->n; i++)
		add(l, "%s%s", i > 0 ? ", " : "", about->languages[i]->name);
	if (about->n == 0)
		add(l, "none");
}

/* "limit.wall.above_max": the rule's word is the beginning of the name. */
static void add_limit(
    struct line *l, const char *reason, const struct about *about)
{
	const char *word = reason + strlen("limit.");
	size_t len = strcspn(word, ".");

	for (size_t i = 0; about->n > 0 && i < about->languages[0]->limits.n;
	     i++) {
		const char *name = about->languages[0]->limits.items[i].name;
		const struct protocol_bound *b = about_limit(about, NULL, name);

		if (strncmp(name, word, len) != 0 ||
		    (name[len] != '\0' && strcmp(name + len, "_ms") != 0))
			continue;
		add(l, "; %s may be at most %" PRIu64, name, b->max);
	}
}

static void add_reason(
    struct line *l, const char *reason, const struct about *about)
{
	const struct advice *found = NULL;

	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (found == NULL && strncmp(reason, advices[i].prefix,
		                         strlen(advices[i].prefix)) == 0)
			found = &advices[i];
	add(l, "%s", found != NULL ? found->text : "this is not allowed");
	if (found != NULL && found->more == MORE_LANGUAGES)
		add_languages(l, about);
	if (found != NULL && found->more == MORE_LIMIT)
		add_limit(l, reason, about);
}

static bool may_try_again(const struct protocol_decided *d)
{
	for (uint64_t i = 0; i < d->reasons.n; i++)
		if (strncmp(d->reasons.items[i].text, "concurrency.", 12) ==
		        0 ||
		    strcmp(d->reasons.items[i].text, "request.flood") == 0)
			return true;
	return false;
}

void advice_for(const struct protocol_decided *d, const struct about *about,
    struct text_out *out)
{
	struct line l = { out->data, out->cap, 0 };

	for (uint64_t i = 0; i < d->reasons.n && i < REASONS_SHOWN; i++) {
		add(&l, "%s", i > 0 ? "; " : "");
		add_reason(&l, d->reasons.items[i].text, about);
	}
	if (may_try_again(d))
		add(&l, ". Try again when others have ended.");
	else
		add(&l, ". Trying again unchanged will be denied again; "
		        "get_policy shows what is allowed.");
}
