/*
 * cli/policy_page.h - the answer of `bailiff policy check` while it is made.
 * Private to bailiff-policy.
 */
#ifndef CLI_POLICY_PAGE_H
#define CLI_POLICY_PAGE_H

#include "base/text.h"
#include "cli/toolchain.h"
#include "policy/absent.h"
#include "policy/load.h"

#define PAGE_MAX 1048576

/* The answer while it is made, and what is too big for a stack; on the heap. */
struct page {
	struct text_out out;
	struct error e;
	bool failed;
	bool json;
	bool effective; /* print the policy's own text instead */
	size_t n_warnings, n_modules;
	struct toolchain toolchain;
	struct absent absent[POLICY_LANGUAGES_MAX]; /* of each language */
	struct policy_loaded loaded;
	struct policy_faults faults;
	char languages[POLICY_PATH_MAX]; /* directory of the data files */
	char preset[POLICY_PATH_MAX];
	char text[PAGE_MAX];
};

/* As it is; as a JSON string behind 'key'; with controls escaped. */
void page_put(struct page *p, const char *text);
void page_string(struct page *p, const char *key, const char *value);
void page_plain(struct page *p, const char *text);
void page_warn(struct page *p, const char *what, const char *why);

/*
 * policy_modules.c: look for the denied modules of every language on this
 * host.  One that a service would refuse becomes a fault of 'file'.
 */
int page_find_modules(
    struct page *p, const char *file, struct error *e) MUST_CHECK;
/* policy_rules.c: compile every code rule; what cannot be is a fault. */
void page_check_rules(
    struct page *p, const char *file, const struct policy *policy);
/* How each is enforced, and warnings about those that are not here. */
void page_modules(struct page *p, const struct policy *policy);
void page_warn_modules(struct page *p, const struct policy *policy);

#endif
