/*
 * mcp/about.h - what the service said of its policy, once, at the start: it
 * never changes while the service lives.
 */
#ifndef MCP_ABOUT_H
#define MCP_ABOUT_H

#include "executor/protocol.h"
#include "mcp/page.h"

#define ABOUT_LANGUAGES_MAX 16

struct about {
	char name[PROTOCOL_WORD_MAX]; /* of the policy */
	uint8_t sha256[32];           /* of the effective policy */
	uint64_t runs, queue;
	struct page text; /* the effective policy */
	size_t n;
	struct protocol_language *languages[ABOUT_LANGUAGES_MAX]; /* owned */
};

/* Keep a copy, in the order in which llm-sandbox lists them, others behind. */
int about_add(struct about *a, const struct protocol_language *l,
    struct error *e) MUST_CHECK;
void about_done(struct about *a);

/* By name or alias, in any case; NULL if the policy does not allow it. */
const struct protocol_language *about_find(
    const struct about *a, const char *name);

/* A limit of a language (NULL: the loosest of all), or NULL. */
const struct protocol_bound *about_limit(const struct about *a,
    const struct protocol_language *language, const char *name);

/* Whether any language grants a capability. */
bool about_grants(const struct about *a, const char *capability);

/* "python, bash" */
void about_names(const struct about *a, struct page *to);

/* The JSON texts of get_supported_languages, get_language_details of one,
 * sandbox://languages and get_policy. */
void about_list(const struct about *a, struct page *to);
void about_details(
    const struct protocol_language *l, struct page *to, const char *indent);
void about_all(const struct about *a, struct page *to);
void about_policy(const struct about *a, struct page *to);

#endif
