/*
 * mcp/about.c - the policy as JSON for a model.  Linked by bailiff-mcp.  What
 * the service says of its policy is trusted.
 */
#include "mcp/about.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mcp/lore.h"

static const char *const peer_order[] = { "python", "java", "javascript", "cpp",
	"go", "ruby", "r" };
#define N_PEER (sizeof(peer_order) / sizeof(peer_order[0]))

static size_t place_of(const char *name)
{
	size_t i = 0;

	while (i < N_PEER && strcmp(peer_order[i], name) != 0)
		i++;
	return i;
}

static bool stands_before(
    const struct protocol_language *one, const struct protocol_language *other)
{
	size_t place = place_of(one->name);
	size_t other_place = place_of(other->name);

	if (place != other_place)
		return place < other_place;
	return strcmp(one->name, other->name) < 0;
}

int about_add(
    struct about *a, const struct protocol_language *l, struct error *e)
{
	struct protocol_language *copy;
	size_t at = a->n;

	if (a->n == ABOUT_LANGUAGES_MAX)
		return FAIL(
		    e, ERROR_LIMIT, "the policy has too many languages");
	copy = malloc(sizeof(*copy));
	if (copy == NULL)
		return FAIL_SYS(e, "no memory");
	*copy = *l;
	for (; at > 0 && stands_before(copy, a->languages[at - 1]); at--)
		a->languages[at] = a->languages[at - 1];
	a->languages[at] = copy;
	a->n++;
	return 0;
}

void about_done(struct about *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->languages[i]);
	a->n = 0;
	page_free(&a->text);
}

static bool is_called(const struct protocol_language *l, const char *name)
{
	if (strcasecmp(l->name, name) == 0)
		return true;
	for (uint64_t i = 0; i < l->aliases.n; i++)
		if (strcasecmp(l->aliases.items[i].text, name) == 0)
			return true;
	return false;
}

const struct protocol_language *about_find(
    const struct about *a, const char *name)
{
	for (size_t i = 0; i < a->n; i++)
		if (is_called(a->languages[i], name))
			return a->languages[i];
	return NULL;
}

static const struct protocol_bound *limit_of(
    const struct protocol_language *l, const char *name)
{
	for (uint64_t i = 0; i < l->limits.n; i++)
		if (strcmp(l->limits.items[i].name, name) == 0)
			return &l->limits.items[i];
	return NULL;
}

const struct protocol_bound *about_limit(const struct about *a,
    const struct protocol_language *language, const char *name)
{
	const struct protocol_bound *best = NULL;

	if (language != NULL)
		return limit_of(language, name);
	for (size_t i = 0; i < a->n; i++) {
		const struct protocol_bound *b =
		    limit_of(a->languages[i], name);

		if (b != NULL && (best == NULL || b->max > best->max))
			best = b;
	}
	return best;
}

bool about_grants(const struct about *a, const char *capability)
{
	for (size_t i = 0; i < a->n; i++)
		for (uint64_t j = 0; j < a->languages[i]->capabilities.n; j++)
			if (strcmp(a->languages[i]->capabilities.items[j].text,
			        capability) == 0)
				return true;
	return false;
}

void about_names(const struct about *a, struct page *to)
{
	for (size_t i = 0; i < a->n; i++)
		page_format(
		    to, "%s%s", i > 0 ? ", " : "", a->languages[i]->name);
}

void about_list(const struct about *a, struct page *to)
{
	page_text(to, "[");
	for (size_t i = 0; i < a->n; i++) {
		page_text(to, i > 0 ? ",\n  " : "\n  ");
		page_word(to, a->languages[i]->name);
	}
	page_text(to, a->n > 0 ? "\n]" : "]");
}

static void put_examples(
    const struct lore *lore, struct page *to, const char *indent)
{
	size_t n = lore != NULL
	               ? sizeof(lore->examples) / sizeof(lore->examples[0])
	               : 0;
	size_t i = 0;

	page_format(to, "%s\"examples\": [", indent);
	for (; i < n && lore->examples[i].title != NULL; i++) {
		const struct lore_example *x = &lore->examples[i];

		page_format(to, "%s%s  {\"title\": ", i > 0 ? "," : "", indent);
		page_word(to, x->title);
		page_text(to, ", \"description\": ");
		page_word(to, x->description);
		page_text(to, ", \"code\": ");
		page_word(to, x->code);
		page_text(to, "}");
	}
	page_format(to, "%s]", i > 0 ? indent : "");
}

static void put_uses(const struct lore *lore, struct page *to)
{
	for (size_t i = 0;
	     lore != NULL &&
	     i < sizeof(lore->use_cases) / sizeof(lore->use_cases[0]) &&
	     lore->use_cases[i] != NULL;
	     i++) {
		page_text(to, i > 0 ? ", " : "");
		page_word(to, lore->use_cases[i]);
	}
}

static void put_words(
    struct page *to, const struct protocol_word *words, uint64_t n)
{
	page_text(to, "[");
	for (uint64_t i = 0; i < n; i++) {
		page_text(to, i > 0 ? ", " : "");
		page_word(to, words[i].text);
	}
	page_text(to, "]");
}

enum installed_as {
	INSTALLED_NAMES,    /* a list, as the peer has it */
	INSTALLED_VERSIONS, /* an object: the version of each */
};

/* From lines of "NAME VERSION". */
static void put_installed(
    struct page *to, const struct protocol_language *l, enum installed_as how)
{
	const char *at = (const char *)l->installed.data;
	const char *end = at + l->installed.len;
	bool names = how == INSTALLED_NAMES;

	page_text(to, names ? "[" : "{");
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *space = memchr(at, ' ', (size_t)(end - at));

		if (stop == NULL || space == NULL || space > stop)
			break;
		page_text(to, at > (const char *)l->installed.data ? ", " : "");
		(void)page_string(to, at, (size_t)(space - at));
		if (!names) {
			page_text(to, ": ");
			(void)page_string(
			    to, space + 1, (size_t)(stop - space - 1));
		}
		at = stop + 1;
	}
	page_text(to, names ? "]" : "}");
}

/* The peer's keys first, in its order; ours behind. */
void about_details(
    const struct protocol_language *l, struct page *to, const char *indent)
{
	const struct lore *lore = lore_of(l->name);

	page_format(to, "{%s\"version\": ", indent);
	page_word(to, l->missing != 0         ? "not installed"
	              : l->version[0] != '\0' ? l->version
	                                      : "of the host");
	page_format(to, ",%s\"package_manager\": ", indent);
	page_word(to, lore != NULL ? lore->package_manager : "none");
	page_format(to, ",%s\"preinstalled_libraries\": ", indent);
	put_installed(to, l, INSTALLED_NAMES);
	page_format(to, ",%s\"use_cases\": [", indent);
	put_uses(lore, to);
	page_format(to, "],%s\"visualization_support\": %s,", indent,
	    lore != NULL && lore->plots ? "true" : "false");
	put_examples(lore, to, indent);
	page_format(to, ",%s\"aliases\": ", indent);
	put_words(to, l->aliases.items, l->aliases.n);
	page_format(to, ",%s\"capabilities\": ", indent);
	put_words(to, l->capabilities.items, l->capabilities.n);
	page_format(to, ",%s\"denied_modules\": ", indent);
	put_words(to, l->denied_modules.items, l->denied_modules.n);
	page_format(to, ",%s\"library_versions\": ", indent);
	put_installed(to, l, INSTALLED_VERSIONS);
	if (l->installed_more > 0)
		page_format(to, ",%s\"libraries_not_listed\": %" PRIu64, indent,
		    l->installed_more);
	page_format(to, ",%s\"package\": ", indent);
	page_word(to, l->package);
}

void about_all(const struct about *a, struct page *to)
{
	page_text(to, "{");
	for (size_t i = 0; i < a->n; i++) {
		page_text(to, i > 0 ? ",\n  " : "\n  ");
		page_word(to, a->languages[i]->name);
		page_text(to, ": ");
		about_details(a->languages[i], to, "\n    ");
		page_text(to, "\n  }");
	}
	page_text(to, "\n}");
}

static void put_number(struct page *to, uint64_t value)
{
	if (value == UINT64_MAX)
		page_text(to, "\"unlimited\"");
	else
		page_format(to, "%" PRIu64, value);
}

static void put_language(struct page *to, const struct protocol_language *l)
{
	page_text(to, ": {\n      \"available\": ");
	page_text(to, l->missing == 0 ? "true" : "false");
	page_text(to, ",\n      \"capabilities\": ");
	put_words(to, l->capabilities.items, l->capabilities.n);
	page_text(to, ",\n      \"denied_modules\": ");
	put_words(to, l->denied_modules.items, l->denied_modules.n);
	page_text(to, ",\n      \"limits\": {");
	for (uint64_t i = 0; i < l->limits.n; i++) {
		page_text(to, i > 0 ? ",\n        " : "\n        ");
		page_word(to, l->limits.items[i].name);
		page_text(to, ": {\"default\": ");
		put_number(to, l->limits.items[i].value);
		page_text(to, ", \"max\": ");
		put_number(to, l->limits.items[i].max);
		page_text(to, "}");
	}
	page_text(to, "\n      }\n    }");
}

void about_policy(const struct about *a, struct page *to)
{
	page_text(to, "{\n  \"name\": ");
	page_word(to, a->name);
	page_text(to, ",\n  \"hash\": \"sha256:");
	page_hex(to, a->sha256, sizeof(a->sha256));
	page_format(to,
	    "\",\n  \"network\": \"%s\",\n  \"concurrency\": {\"runs\": "
	    "%" PRIu64 ", \"queue\": %" PRIu64 "},\n  \"languages\": {",
	    about_grants(a, "network") ? "allowed" : "none", a->runs, a->queue);
	for (size_t i = 0; i < a->n; i++) {
		page_text(to, i > 0 ? ",\n    " : "\n    ");
		page_word(to, a->languages[i]->name);
		put_language(to, a->languages[i]);
	}
	page_text(to, "\n  },\n  \"text\": \"sandbox://policy\"\n}");
}
