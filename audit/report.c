/*
 * audit/report.c - findings and the verdict.  Linked by the audit reader; the
 * texts it is given hold hostile bytes.
 */
#include "audit/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const words[] = {
	[VERDICT_VERIFIED] = "VERIFIED",
	[VERDICT_TAMPERED] = "TAMPERED",
	[VERDICT_NOT_RUN] = "NOT RUN",
	[VERDICT_BELOW] = "BELOW",
	[VERDICT_DIVERGED] = "DIVERGED",
	[VERDICT_INCOMPLETE] = "INCOMPLETE",
	[VERDICT_UNSUPPORTED] = "UNSUPPORTED",
};

const char *verdict_word(enum verdict v)
{
	return words[v];
}

int report_init(struct report *r, struct error *e)
{
	memset(r, 0, sizeof(*r));
	r->findings = calloc(REPORT_KEPT, sizeof(r->findings[0]));
	if (r->findings == NULL)
		return FAIL_SYS(e, "allocate the report");
	return 0;
}

void report_done(struct report *r)
{
	free(r->findings);
	memset(r, 0, sizeof(*r));
}

static enum report_level level_of(enum verdict v)
{
	if (v == VERDICT_VERIFIED)
		return REPORT_PASS;
	return v == VERDICT_BELOW ? REPORT_WARN : REPORT_FAIL;
}

static void keep_text(const char *from, char ret[REPORT_TEXT_MAX])
{
	struct text_out out = { ret, REPORT_TEXT_MAX - 1, 0 };

	(void)text_escape(from, strlen(from), TEXT_KEEP_NONE, &out);
	ret[out.len] = '\0';
}

void report_add(
    struct report *r, const struct report_what *what, const char *format, ...)
{
	enum report_level level = level_of(what->verdict);
	struct report_finding *f;
	char text[2 * REPORT_TEXT_MAX];
	va_list args;

	r->seen |= 1u << what->verdict;
	r->n_pass += level == REPORT_PASS;
	r->n_warn += level == REPORT_WARN;
	r->n_fail += level == REPORT_FAIL;
	if (r->n_findings == REPORT_KEPT)
		return;
	f = &r->findings[r->n_findings++];
	f->level = level;
	f->verdict = what->verdict;
	(void)snprintf(f->check, sizeof(f->check), "%s", what->check);
	if (what->place != NULL)
		f->place = *what->place;
	if (what->expected != NULL)
		keep_text(what->expected, f->expected);
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	keep_text(text, f->found);
}

enum verdict report_verdict(const struct report *r, bool strict)
{
	static const enum verdict gravest_first[] = {
		VERDICT_TAMPERED,
		VERDICT_DIVERGED,
		VERDICT_UNSUPPORTED,
		VERDICT_INCOMPLETE,
	};

	for (size_t i = 0; i < sizeof(gravest_first) / sizeof(gravest_first[0]);
	     i++)
		if ((r->seen & 1u << gravest_first[i]) != 0)
			return gravest_first[i];
	return strict && r->n_warn > 0 ? VERDICT_BELOW : VERDICT_VERIFIED;
}
