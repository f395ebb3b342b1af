/*
 * cli/audit_print.c - the report of `bailiff audit verify`.  Linked by
 * bailiff-audit.  The texts of a report are escaped already.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"
#include "cli/audit.h"
#include "cli/say.h"

#define LINE_BYTES 2048
#define JSON_BYTES ((size_t)2 << 20)

static const char *const levels[] = {
	[REPORT_PASS] = "PASS",
	[REPORT_WARN] = "WARN",
	[REPORT_FAIL] = "FAIL",
};

/* What the verdict is worth: the word that stands last. */
static const char *assurance(const struct verify_summary *s)
{
	switch (s->verdict) {
	case VERDICT_VERIFIED:
	case VERDICT_BELOW:
	case VERDICT_INCOMPLETE:
		return verify_require_word(s->assured);
	case VERDICT_TAMPERED:
	case VERDICT_NOT_RUN:
	case VERDICT_DIVERGED:
	case VERDICT_UNSUPPORTED:
		break;
	}
	return "none";
}

static int print_finding(const struct report_finding *f)
{
	char line[LINE_BYTES];
	struct text_out out = { line, sizeof(line), 0 };
	struct error e;
	int done =
	    text_printf(&out, &e, "%s  %-16s ", levels[f->level], f->check);

	if (done == 0 && f->place.known)
		done =
		    text_printf(&out, &e, "record %" PRIu64 " at byte %" PRIu64,
		        f->place.seq, f->place.offset);
	if (done == 0 && f->place.known && f->place.segment > 0)
		done = text_printf(
		    &out, &e, " of log/%06u.jsonl", f->place.segment);
	if (done == 0 && f->place.known)
		done = text_printf(&out, &e, ": ");
	if (done == 0 && f->expected[0] != '\0')
		done =
		    text_printf(&out, &e, "expected %s; found ", f->expected);
	if (done == 0)
		done = text_printf(&out, &e, "%s\n", f->found);
	return done < 0 ? say_failed(&e, 1) : say_out(line, out.len);
}

static int print_integrity(
    const struct report *r, const struct verify_summary *s)
{
	char line[LINE_BYTES], from[64] = "";
	int n;

	if (s->from > 0)
		(void)snprintf(from, sizeof(from),
		    ", from record %" PRIu64 " on", s->from);
	if (s->verdict == VERDICT_VERIFIED || s->verdict == VERDICT_BELOW)
		n = snprintf(line, sizeof(line),
		    "Integrity: %s: %" PRIu64 " records in %" PRIu64
		    " bytes%s, %" PRIu64
		    " of them below the signed checkpoint; cannot be excluded: "
		    "records cut off together with the checkpoint, unless a "
		    "head held elsewhere is given (--known)\n",
		    verdict_word(s->verdict), s->records, s->bytes, from,
		    s->covered);
	else
		n = snprintf(line, sizeof(line),
		    "Integrity: %s: %" PRIu64 " checks failed, %" PRIu64
		    " warnings; %" PRIu64 " records in %" PRIu64
		    " bytes%s were judged\n",
		    verdict_word(s->verdict), r->n_fail, r->n_warn, s->records,
		    s->bytes, from);
	return n < 0 ? 1 : say_out(line, (size_t)n);
}

/* How the keys lay on the signer's disk, by what the epochs say; a log that was
 * written before they said it had plain files. */
static const char *keys_word(const struct verify_summary *s)
{
	if (!s->pinned || s->records == 0)
		return "not said";
	if (!s->keys_sealed)
		return "files";
	return s->keys_files ? "files, later sealed" : "sealed";
}

static int print_assurance(const struct verify_summary *s)
{
	char line[LINE_BYTES];
	bool full = s->durability == PROMISE_FULL;
	int n = snprintf(line, sizeof(line),
	    "Assurance: pin: %s, keys: %s%s%s, %s\n",
	    !s->pinned        ? "none"
	    : s->pin_is_local ? "local key"
	                      : "--key",
	    keys_word(s), full ? "" : ", durability: ",
	    full ? "" : promise_word(s->durability), assurance(s));

	return n < 0 ? 1 : say_out(line, (size_t)n);
}

int audit_print_text(const struct report *r, const struct verify_summary *s)
{
	uint64_t all = r->n_pass + r->n_warn + r->n_fail;
	char line[LINE_BYTES];
	int failed = 0;
	int n;

	for (size_t i = 0; i < r->n_findings && failed == 0; i++)
		failed = print_finding(&r->findings[i]);
	if (failed == 0 && all > r->n_findings) {
		n = snprintf(line, sizeof(line),
		    "%" PRIu64 " more findings are counted, not shown\n",
		    all - r->n_findings);
		failed = n < 0 ? 1 : say_out(line, (size_t)n);
	}
	if (failed == 0)
		failed = print_integrity(r, s);
	return failed == 0 ? print_assurance(s) : failed;
}

static int json_text(
    const char *name, const char *text, struct text_out *out, struct error *e)
{
	if (text_printf(out, e, "\"%s\":", name) < 0)
		return -1;
	return text_json_string(text, strlen(text), out, e);
}

static int json_finding(
    const struct report_finding *f, struct text_out *out, struct error *e)
{
	if (text_printf(out, e, "{\"level\":\"%s\",", levels[f->level]) < 0 ||
	    json_text("check", f->check, out, e) < 0 ||
	    text_printf(out, e, ",") < 0)
		return -1;
	if (f->place.known &&
	    text_printf(out, e,
	        "\"seq\":%" PRIu64 ",\"segment\":%u,\"offset\":%" PRIu64 ",",
	        f->place.seq, f->place.segment, f->place.offset) < 0)
		return -1;
	if (f->expected[0] != '\0' &&
	    (json_text("expected", f->expected, out, e) < 0 ||
	        text_printf(out, e, ",") < 0))
		return -1;
	if (json_text("found", f->found, out, e) < 0)
		return -1;
	return text_printf(out, e, "}");
}

static int json_summary(
    const struct verify_summary *s, struct text_out *out, struct error *e)
{
	if (text_printf(out, e,
	        "{\"verdict\":\"%s\",\"exit\":%d,\"assurance\":\"%s\","
	        "\"durability\":\"%s\",\"keys\":\"%s\",\"pin\":\"%s\",",
	        verdict_word(s->verdict), (int)s->verdict, assurance(s),
	        promise_word(s->durability), keys_word(s),
	        !s->pinned        ? "none"
	        : s->pin_is_local ? "local key"
	                          : "--key") < 0 ||
	    json_text("origin", s->pin.name, out, e) < 0 ||
	    text_printf(out, e,
	        ",\"from\":%" PRIu64 ",\"records\":%" PRIu64
	        ",\"bytes\":%" PRIu64 ",\"covered\":%" PRIu64
	        ",\"signatures\":%" PRIu64 ",\"results\":%" PRIu64
	        ",\"root\":\"",
	        s->from, s->records, s->bytes, s->covered, s->signatures,
	        s->results) < 0 ||
	    text_base64(s->head.root, sizeof(s->head.root), out, e) < 0)
		return -1;
	return text_printf(out, e, "\",");
}

static int json_report(const struct report *r, const struct verify_summary *s,
    struct text_out *out, struct error *e)
{
	if (json_summary(s, out, e) < 0 ||
	    text_printf(out, e,
	        "\"pass\":%" PRIu64 ",\"warn\":%" PRIu64 ",\"fail\":%" PRIu64
	        ",\"findings\":[",
	        r->n_pass, r->n_warn, r->n_fail) < 0)
		return -1;
	for (size_t i = 0; i < r->n_findings; i++)
		if ((i > 0 && text_printf(out, e, ",") < 0) ||
		    json_finding(&r->findings[i], out, e) < 0)
			return -1;
	return text_printf(out, e, "]}\n");
}

int audit_print_json(const struct report *r, const struct verify_summary *s)
{
	AUTO_FREE char *text = malloc(JSON_BYTES);
	struct text_out out = { text, JSON_BYTES, 0 };
	struct error e;

	if (text == NULL) {
		error_fill(&e, ERROR_SYSTEM, ENOMEM, "allocate the report");
		return say_failed(&e, 1);
	}
	if (json_report(r, s, &out, &e) < 0)
		return say_failed(&e, 1);
	return say_out(out.data, out.len);
}
