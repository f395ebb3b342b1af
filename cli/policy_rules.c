/*
 * cli/policy_rules.c - code rules in `bailiff policy check`: each is compiled,
 * as bailiff-screen would.  Linked by bailiff-policy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/policy_page.h"
#include "policy/screening.h"

/* Processor time to compile one rule: a service compiles all of them whenever
 * its screen starts, and is to be ready soon. */
#define COMPILE_MAX_MS 5000

static uint64_t used_ms(void)
{
	struct timespec t = { 0 };

	/* It cannot fail with a clock that every Linux has. */
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void add_fault(struct page *p, const char *file,
    const struct screening_rules *rules, size_t which)
{
	const struct code_rule *rule = &rules->rules[which];
	struct policy_fault *f = &p->faults.items[p->faults.n];
	size_t n = strlen(file);

	if (p->faults.n == POLICY_ERRORS_MAX) {
		p->faults.more++;
		return;
	}
	p->faults.n++;
	*f =
	    (struct policy_fault){ .line = rule->line, .column = rule->column };
	(void)snprintf(f->file, sizeof(f->file), "%s",
	    n < sizeof(f->file) ? file : file + n - sizeof(f->file) + 1);
	(void)snprintf(f->pointer, sizeof(f->pointer),
	    "/languages/%s/rules/%zu/%s", rules->language, which,
	    rule->is_module ? "module" : "pattern");
	(void)snprintf(f->text, sizeof(f->text), "rule \"%s\": %.170s",
	    rule->id, p->e.text);
}

/* Alone, so that every one that is wrong is told. */
static bool each_is_sound(
    struct page *p, const char *file, const struct screening_rules *rules)
{
	bool sound = true;

	for (size_t i = 0; i < rules->n; i++) {
		const struct screening_rules one = { rules->language,
			&rules->rules[i], 1 };
		uint64_t before_ms = used_ms();
		struct screening *s = NULL;
		size_t which;
		int failed = screening_compile(&one, &s, &which, &p->e);

		if (failed == 0 && used_ms() - before_ms > COMPILE_MAX_MS)
			failed = FAIL(&p->e, ERROR_LIMIT,
			    "too expensive: it takes %" PRIu64
			    " ms to compile, at most %d; write smaller repeats",
			    used_ms() - before_ms, COMPILE_MAX_MS);
		if (failed < 0) {
			add_fault(p, file, rules, i);
			sound = false;
		}
		screening_free(s);
	}
	return sound;
}

void page_check_rules(
    struct page *p, const char *file, const struct policy *policy)
{
	for (size_t i = 0; i < policy->n_languages; i++) {
		const struct policy_language *l = &policy->languages[i];
		const struct screening_rules rules = { l->language.name,
			l->rules, l->n_rules };
		struct screening *s = NULL;
		size_t which;

		if (rules.n == 0 || !each_is_sound(p, file, &rules))
			continue;
		/* Together they may be too much. */
		if (screening_compile(&rules, &s, &which, &p->e) < 0)
			add_fault(p, file, &rules, which);
		screening_free(s);
	}
}
