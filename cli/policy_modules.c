/*
 * cli/policy_modules.c - what `bailiff policy check` says of denied modules,
 * and the parts of its page.  Linked by bailiff-policy.
 */
#include <stdio.h>
#include <string.h>

#include "cli/policy_page.h"

void page_put(struct page *p, const char *text)
{
	if (text_printf(&p->out, &p->e, "%s", text) < 0)
		p->failed = true;
}

void page_string(struct page *p, const char *key, const char *value)
{
	page_put(p, key);
	if (text_json_string(value, strlen(value), &p->out, &p->e) < 0)
		p->failed = true;
}

void page_plain(struct page *p, const char *text)
{
	(void)text_escape(text, strlen(text), TEXT_KEEP_NONE, &p->out);
}

void page_warn(struct page *p, const char *what, const char *why)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%.300s: %s", what, why);
	if (p->json) {
		page_string(p, p->n_warnings > 0 ? "," : "", text);
	} else {
		page_put(p, "warning    ");
		page_plain(p, text);
		page_put(p, "\n");
	}
	p->n_warnings++;
}

static void add_fault(struct page *p, const char *file, const struct absent *a,
    const struct absent_module *module)
{
	struct policy_fault *f = &p->faults.items[p->faults.n];
	size_t n = strlen(file);

	if (p->faults.n == POLICY_ERRORS_MAX) {
		p->faults.more++;
		return;
	}
	p->faults.n++;
	*f = (struct policy_fault){ .line = 0 };
	(void)snprintf(f->file, sizeof(f->file), "%s",
	    n < sizeof(f->file) ? file : file + n - sizeof(f->file) + 1);
	(void)snprintf(f->pointer, sizeof(f->pointer),
	    "/languages/%s/modules/deny", a->language->language.name);
	absent_reason(module, a->language, f->text, sizeof(f->text));
}

int page_find_modules(struct page *p, const char *file, struct error *e)
{
	const struct policy *policy = p->loaded.policy;

	for (size_t i = 0; i < policy->n_languages; i++) {
		struct absent *a = &p->absent[i];

		if (absent_find(&policy->languages[i], a, e) < 0)
			return -1;
		for (size_t j = 0; j < a->n_modules; j++)
			if (a->modules[j].way == ABSENT_NEITHER)
				add_fault(p, file, a, &a->modules[j]);
	}
	return 0;
}

static void put_paths(
    struct page *p, const struct absent *a, const struct absent_module *module)
{
	page_put(p, p->json ? ",\"files\":[" : "");
	for (size_t i = 0; i < module->n; i++) {
		const char *path = a->paths[module->first + i];

		if (p->json) {
			page_string(p, i > 0 ? "," : "", path);
			continue;
		}
		page_put(p, i > 0 ? "\n                    " : "");
		page_plain(p, path);
	}
	page_put(p, p->json ? "]}" : "\n");
}

static void put_module_json(
    struct page *p, const char *language, const struct absent_module *module)
{
	page_string(p,
	    p->n_modules > 0 ? ",{\"language\":" : "{\"language\":", language);
	page_string(p, ",\"name\":", module->name);
	page_string(p, ",\"enforced\":", absent_way_word(module->way));
	if (module->way == ABSENT_CAPABILITY)
		page_string(p, ",\"capability\":", module->capability);
}

static void put_module_line(
    struct page *p, const char *language, const struct absent_module *module)
{
	bool answered = module->way == ABSENT_CAPABILITY;

	if (text_printf(&p->out, &p->e, "%-11s%s: %s: %s%s%s%s",
	        p->n_modules == 0 ? "denied" : "", language, module->name,
	        absent_way_word(module->way), answered ? " " : "",
	        answered ? module->capability : "",
	        module->n > 0 ? "\n                    " : "") < 0)
		p->failed = true;
}

/* How one denied module is enforced here. */
static void put_module(
    struct page *p, const struct absent *a, const struct absent_module *module)
{
	const char *language = a->language->language.name;

	if (p->json)
		put_module_json(p, language, module);
	else
		put_module_line(p, language, module);
	p->n_modules++;
	put_paths(p, a, module);
}

/* What only a code rule keeps out has no files to show. */
static void put_screened(struct page *p, const char *language, const char *name)
{
	if (p->json) {
		page_string(p,
		    p->n_modules > 0 ? ",{\"language\":" : "{\"language\":",
		    language);
		page_string(p, ",\"name\":", name);
		page_string(p, ",\"enforced\":", ABSENT_SCREENED);
		page_put(p, ",\"files\":[]}");
	} else if (text_printf(&p->out, &p->e, "%-11s%s: %s: %s\n",
	               p->n_modules == 0 ? "denied" : "", language, name,
	               ABSENT_SCREENED) < 0) {
		p->failed = true;
	}
	p->n_modules++;
}

/* A list of the only modules: what else this host has goes. */
static void put_only(
    struct page *p, const struct policy_language *l, const struct absent *a)
{
	const char *language = l->language.name;

	if (p->json) {
		page_string(p,
		    p->n_modules > 0 ? ",{\"language\":" : "{\"language\":",
		    language);
		if (text_printf(&p->out, &p->e,
		        ",\"name\":null,\"enforced\":\"only\",\"named\":%zu,"
		        "\"absent\":%zu}",
		        l->n_only, a->n_others) < 0)
			p->failed = true;
	} else if (text_printf(&p->out, &p->e,
	               "%-11s%s: all but %zu modules: absent, %zu files or "
	               "directories\n",
	               p->n_modules == 0 ? "denied" : "", language, l->n_only,
	               a->n_others) < 0) {
		p->failed = true;
	}
	p->n_modules++;
}

static void put_language_modules(
    struct page *p, const struct policy_language *l, const struct absent *a)
{
	for (size_t i = 0; i < a->n_modules; i++)
		put_module(p, a, &a->modules[i]);
	if (l->has_only)
		put_only(p, l, a);
	for (size_t i = 0; i < l->n_rules; i++)
		if (absent_is_screened(l, &l->rules[i]))
			put_screened(p, l->language.name, l->rules[i].text);
}

void page_modules(struct page *p, const struct policy *policy)
{
	page_put(p, p->json ? "],\"modules\":[" : "");
	for (size_t i = 0; i < policy->n_languages; i++)
		put_language_modules(p, &policy->languages[i], &p->absent[i]);
}

void page_warn_modules(struct page *p, const struct policy *policy)
{
	for (size_t i = 0; i < policy->n_languages; i++)
		for (size_t j = 0; j < p->absent[i].n_modules; j++)
			if (p->absent[i].modules[j].way == ABSENT_NOTHING)
				page_warn(p, p->absent[i].modules[j].name,
				    "this host has no such module");
}
