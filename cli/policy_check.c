/*
 * cli/policy_check.c - `bailiff policy check`.  Linked by bailiff-policy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/policy.h"
#include "cli/policy_page.h"
#include "cli/policy_words.h"
#include "cli/say.h"
#include "policy/advice.h"
#include "policy/degraded.h"
#include "policy/tracing.h"

enum row {
	ROW_JSON,
	ROW_EFFECTIVE,
	ROW_N
};

/* clang-format off */
static const struct option_row rows[ROW_N] = {
	[ROW_JSON] = { "--json", NULL, "print one JSON object", false },
	[ROW_EFFECTIVE] = { "--effective", NULL, "print what it means, as it is digested and kept", false },
};
/* clang-format on */

static const struct command command = {
	.name = "bailiff policy check",
	.usage = "[--json | --effective] [FILE]",
	.about =
	    "Read a policy as a service would and list everything wrong with "
	    "it, each\nfault as FILE:LINE:COLUMN: pointer: text.  Without "
	    "FILE: the policy that\nbailiff run would use.",
	.rows = rows,
	.n_rows = ROW_N,
	.notes = "exit codes: 0 sound, 1 faults, 2 usage\n",
};

static void put_fault(struct page *p, const struct policy_fault *f)
{
	if (p->json) {
		page_string(p, "{\"file\":", f->file);
		page_string(p, ",\"pointer\":", f->pointer);
		page_string(p, ",\"text\":", f->text);
		if (text_printf(&p->out, &p->e, ",\"line\":%u,\"column\":%u}",
		        f->line, f->column) < 0)
			p->failed = true;
		return;
	}
	page_plain(p, f->file);
	if (f->line > 0 &&
	    text_printf(&p->out, &p->e, ":%u:%u", f->line, f->column) < 0)
		p->failed = true;
	page_put(p, ": ");
	/* Both were made printable when they were recorded. */
	page_put(p, f->pointer[0] != '\0' ? f->pointer : "/");
	page_put(p, ": ");
	page_put(p, f->text);
	page_put(p, "\n");
}

static void put_faults(struct page *p, const struct policy_faults *faults)
{
	if (p->json)
		page_put(p, "{\"ok\":false,\"faults\":[");
	for (size_t i = 0; i < faults->n; i++) {
		if (p->json)
			page_put(p, i > 0 ? "," : "");
		put_fault(p, &faults->items[i]);
	}
	if (!p->json && faults->more > 0 &&
	    text_printf(&p->out, &p->e, "and %zu more\n", faults->more) < 0)
		p->failed = true;
	if (p->json &&
	    text_printf(&p->out, &p->e, "],\"more\":%zu}\n", faults->more) < 0)
		p->failed = true;
}

static void put_language(
    struct page *p, const struct policy_language *l, bool first)
{
	const struct toolchain *t = &p->toolchain;

	toolchain_find(&l->language, &p->toolchain);
	if (p->json) {
		page_string(
		    p, first ? "{\"name\":" : ",{\"name\":", l->language.name);
		page_string(p, ",\"package\":", l->language.package);
		page_put(p, t->found ? ",\"available\":true}"
		                     : ",\"available\":false}");
		return;
	}
	if (text_printf(&p->out, &p->e, "%-11s%-9s ", first ? "languages" : "",
	        l->language.name) < 0)
		p->failed = true;
	page_plain(p, t->found ? t->path : "missing: apt-get install ");
	if (!t->found)
		page_plain(p, l->language.package);
	page_put(p, "\n");
}

static void put_root(struct page *p, const char *path, bool first)
{
	if (p->json) {
		page_string(p, first ? "" : ",", path);
		return;
	}
	page_put(p, first ? "read       " : "           ");
	page_plain(p, path);
	page_put(p, "\n");
}

/* What a service of this account would lack, by the words of its results; what
 * is delegated to it only the service finds out. */
static void put_degraded(struct page *p, const struct policy *policy)
{
	for (size_t i = 0; i < DEGRADED_N; i++) {
		const struct degraded *d = &degraded_without_root[i];

		if (d->when != DEGRADED_WITH_GROUPS || getgroups(0, NULL) > 0)
			page_warn(p, d->word, d->what);
	}
	if (!policy->accept_degraded)
		page_warn(p, "degraded",
		    "refused, so a service of your account runs nothing by "
		    "this policy: run as root, or write accept");
}

static void take_advice(void *context, const char *what, const char *why)
{
	page_warn(context, what, why);
}

/* What can never take effect, or not on this host. */
static void put_advice(struct page *p, const struct policy *policy)
{
	const struct advice_sink sink = { take_advice, p };
	long pages = sysconf(_SC_PHYS_PAGES);
	long page = sysconf(_SC_PAGESIZE);
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const struct advice_host host = {
		.memory = pages > 0 && page > 0
		              ? (uint64_t)pages * (uint64_t)page
		              : 0,
		.processors = processors > 0 ? (uint32_t)processors : 1,
	};

	advice_find(policy, &host, &sink);
}

/* Sound, but perhaps not what was meant. */
static void put_warnings(struct page *p, const struct policy *policy)
{
	for (size_t i = 0; i < policy->n_languages; i++) {
		toolchain_find(&policy->languages[i].language, &p->toolchain);
		if (!p->toolchain.found)
			page_warn(p, policy->languages[i].language.name,
			    "its program is not on this host");
	}
	for (size_t i = 0; i < policy->n_read_roots; i++) {
		struct stat st;

		if (lstat(policy->read_roots[i].path, &st) < 0)
			page_warn(
			    p, policy->read_roots[i].path, "does not exist");
		else if (!S_ISDIR(st.st_mode))
			page_warn(p, policy->read_roots[i].path,
			    "is no directory; nothing lies beneath it");
	}
	if (policy->n_languages == 0)
		page_warn(
		    p, "languages", "none is allowed, so nothing can run");
	if (policy->accept_degraded)
		page_warn(p, "degraded",
		    "runs with protections missing are accepted");
	if (geteuid() != 0)
		put_degraded(p, policy);
	page_warn_modules(p, policy);
	put_advice(p, policy);
}

/* By whom a policy is used decides what it means where it is silent. */
static void put_tracing(struct page *p, const struct policy *policy)
{
	if (p->json) {
		page_string(p, "\"trace\":", tracing_word(policy));
		page_string(p, ",\"trace_why\":", tracing_why(policy));
		page_put(p, ",");
		return;
	}
	page_put(p, "trace      ");
	page_put(p, tracing_word(policy));
	page_put(p, " (");
	page_put(p, tracing_why(policy));
	page_put(p, ")\n");
}

static void put_sound(
    struct page *p, const char *file, const struct policy *policy)
{
	char digest[SHA256_HEX];

	sha256_hex(policy->sha256, digest);
	if (p->json) {
		page_string(p, "{\"ok\":true,\"file\":", file);
		page_string(p, ",\"name\":", policy->name);
		page_string(p, ",\"sha256\":", digest);
		page_put(p, ",");
	} else {
		page_plain(p, file);
		page_put(p, ": sound\nname       ");
		page_put(p, policy->name);
		page_put(p, "\nsha256     ");
		page_put(p, digest);
		page_put(p, "\n");
	}
	put_tracing(p, policy);
	page_put(p, p->json ? "\"languages\":[" : "");
	for (size_t i = 0; i < policy->n_languages; i++)
		put_language(p, &policy->languages[i], i == 0);
	page_modules(p, policy);
	page_put(p, p->json ? "],\"read_roots\":[" : "");
	for (size_t i = 0; i < policy->n_read_roots; i++)
		put_root(p, policy->read_roots[i].path, i == 0);
	if (!p->json && policy->n_read_roots == 0)
		page_put(p, "read       no host path\n");
	page_put(p, p->json ? "],\"warnings\":[" : "");
	put_warnings(p, policy);
	page_put(p, p->json ? "]}\n" : "");
}

static int load(const char *file, struct page *p, struct error *e)
{
	struct policy_places places = { file, p->languages };

	if (policy_place("languages", p->languages, e) < 0)
		return -1;
	/* Faults of the text are no failure: they are the answer. */
	if (policy_load(&places, &p->loaded, &p->faults, e) < 0)
		return p->faults.n > 0 ? 0 : -1;
	page_check_rules(p, file, p->loaded.policy);
	return page_find_modules(p, file, e);
}

/* The bytes that are digested and kept, so that sha256sum can tell. */
static int put_effective(const struct policy *policy)
{
	return say_out(policy->effective, policy->effective_len);
}

static int check(const char *file, struct page *p)
{
	struct error e;
	bool sound;

	p->out = (struct text_out){ p->text, sizeof(p->text), 0 };
	if (load(file, p, &e) < 0)
		return say_failed(&e, 1);
	sound = p->faults.n == 0;
	if (sound && p->effective)
		return put_effective(p->loaded.policy);
	if (sound)
		put_sound(p, file, p->loaded.policy);
	else
		put_faults(p, &p->faults);
	if (p->failed) {
		say_line("the answer does not fit in memory");
		return 1;
	}
	return say_out(p->text, p->out.len) != 0 || !sound ? 1 : 0;
}

static int run(const char *file, const struct policy_words_given *given)
{
	struct page *page = calloc(1, sizeof(*page));
	struct error e;
	int code;

	if (page == NULL)
		return say_failed(&(struct error){ .text = "no memory" }, 1);
	page->json = given->has[ROW_JSON];
	page->effective = given->has[ROW_EFFECTIVE];
	if (file == NULL && policy_words_default(page->preset, &e) < 0)
		code = say_failed(&e, 1);
	else
		code = check(file != NULL ? file : page->preset, page);
	policy_loaded_done(&page->loaded);
	free(page);
	return code;
}

int policy_check_main(char **words)
{
	static const struct policy_words_want want = { &command, "FILE", 0, 1 };
	struct policy_words_given given;
	int code = policy_words_take(&want, words, &given);

	if (code != POLICY_WORDS_GO_ON)
		return code;
	if (given.has[ROW_JSON] && given.has[ROW_EFFECTIVE]) {
		say_line("--effective is JSON already; leave --json out");
		return EXIT_USAGE;
	}
	return run(given.operands[0], &given);
}
