/*
 * cli/report.c - a run as JSON.  Linked by `bailiff`.  Program output goes in
 * as a string only if it is well-formed UTF-8, else as base64: it is never
 * rewritten.
 */
#include "cli/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/say.h"

#define FIXED_PART_MAX 131072 /* all but the output, escapes included */

/* Every step is tried; the first failure is kept. */
struct report {
	struct text_out out;
	bool failed;
	struct error error;
};

__attribute__((format(printf, 2, 3))) static void put(
    struct report *r, const char *format, ...);

static void put_string(struct report *r, const char *text)
{
	if (!r->failed &&
	    text_json_string(text, strlen(text), &r->out, &r->error) < 0)
		r->failed = true;
}

static void put_word(struct report *r, const char *name, const char *text)
{
	put(r, ",\"%s\":", name);
	if (*text == '\0')
		put(r, "null");
	else
		put_string(r, text);
}

static void put(struct report *r, const char *format, ...)
{
	size_t room = r->out.cap - r->out.len;
	va_list args;
	int n;

	if (r->failed)
		return;
	va_start(args, format);
	n = vsnprintf(r->out.data + r->out.len, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room) {
		r->failed = true;
		error_fill(&r->error, ERROR_LIMIT, 0, "the report is too long");
		return;
	}
	r->out.len += (size_t)n;
}

static void put_words(
    struct report *r, const struct protocol_word *words, uint64_t n)
{
	put(r, "[");
	for (uint64_t i = 0; i < n; i++) {
		put(r, "%s", i > 0 ? "," : "");
		put_string(r, words[i].text);
	}
	put(r, "]");
}

static void put_hex(struct report *r, const uint8_t digest[32])
{
	put(r, "\"");
	for (size_t i = 0; i < 32; i++)
		put(r, "%02x", digest[i]);
	put(r, "\"");
}

static void put_receipt(
    struct report *r, const char *name, uint64_t seq, const uint8_t leaf[32])
{
	put(r, ",\"%s\":{\"seq\":%" PRIu64 ",\"leaf\":", name, seq);
	put_hex(r, leaf);
	put(r, "}");
}

static void put_decision(struct report *r, const struct follow *f)
{
	const struct protocol_decided *d = &f->decided;

	if (!f->has_decided) {
		put(r, ",\"decision\":null");
		return;
	}
	put(r, ",\"decision\":{\"allow\":%s,\"rules\":",
	    d->allow != 0 ? "true" : "false");
	put_words(r, d->rules.items, d->rules.n);
	put(r, ",\"reasons\":");
	put_words(r, d->reasons.items, d->reasons.n);
	put(r, "}");
}

static void put_stream(struct report *r, const char *name,
    const struct follow_kept *kept, const struct protocol_stream_end *end)
{
	const void *data = kept->len > 0 ? (const void *)kept->data : "";

	put(r, ",\"%s\":", name);
	if (!r->failed &&
	    text_json_string(data, kept->len, &r->out, &r->error) < 0) {
		r->failed = r->error.kind != ERROR_MALFORMED;
		put(r, "null,\"%s_base64\":\"", name);
		if (!r->failed &&
		    text_base64(data, kept->len, &r->out, &r->error) < 0)
			r->failed = true;
		put(r, "\"");
	}
	put(r, ",\"%s_truncated\":%s,\"%s_total\":%" PRIu64, name,
	    end->total > end->size ? "true" : "false", name, end->total);
	put(r, ",\"%s_sha256\":", name);
	put_hex(r, end->sha256);
}

static void put_end(struct report *r, const struct protocol_finished *e)
{
	put_word(r, "killed_by", e->killed_by);
	put(r, ",\"exit_code\":");
	put(r, e->exit_kind == 1 ? "%" PRIu32 : "null", e->exit_value);
	put(r, ",\"signal\":");
	put(r, e->exit_kind == 2 ? "%" PRIu32 : "null", e->exit_value);
	put(r, ",\"failed\":");
	if (*e->step == '\0') {
		put(r, "null");
		return;
	}
	put(r, "{\"errno\":%" PRIu32, e->step_errno);
	put_word(r, "step", e->step);
	put_word(r, "remedy", e->remedy);
	put(r, "}");
}

static void put_use(struct report *r, const struct protocol_finished *e)
{
	put(r, ",\"use\":{\"cpu_us\":%" PRIu64 ",\"wall_us\":%" PRIu64,
	    e->cpu_us, e->wall_us);
	if (e->memory_peak != 0)
		put(r, ",\"memory_peak\":%" PRIu64, e->memory_peak);
	if (e->pids_peak != 0)
		put(r, ",\"pids_peak\":%" PRIu64, e->pids_peak);
	put(r, ",\"files\":%" PRIu64 ",\"file_bytes\":%" PRIu64, e->files_count,
	    e->files_bytes);
	put(r, ",\"files_skipped\":%" PRIu64 "}", e->files_skipped);
	put(r, ",\"timing\":{");
	for (uint64_t i = 0; i < e->timing.n; i++) {
		put(r, "%s", i > 0 ? "," : "");
		put_string(r, e->timing.items[i].name);
		put(r, ":%" PRIu64, e->timing.items[i].us);
	}
	put(r, "},\"degraded\":");
	put_words(r, e->degraded.items, e->degraded.n);
	put_word(r, "result_folder", e->folder);
}

static void put_finished(struct report *r, const struct follow *f)
{
	const struct protocol_finished *e = &f->finished;

	put_word(r, "status", e->status);
	put_word(r, "phase", e->phase);
	put_end(r, e);
	put_stream(r, "stdout", &f->kept_out, &e->out);
	put_stream(r, "stderr", &f->kept_err, &e->err);
	put_use(r, e);
	put_receipt(r, "audit", e->seq, e->leaf);
	put_receipt(r, "intent", f->decided.seq, f->decided.leaf);
}

static void put_unfinished(struct report *r, const struct follow *f)
{
	bool denied = f->has_decided && f->decided.allow == 0;

	put_word(r, "status", denied ? "denied" : "error");
	put(r, ",\"phase\":null,\"killed_by\":null,\"exit_code\":null");
	put(r,
	    ",\"signal\":null,\"failed\":null,\"stdout\":null,\"stderr\":null");
	put(r, ",\"stdout_truncated\":false,\"stderr_truncated\":false");
	put(r, ",\"stdout_total\":0,\"stderr_total\":0");
	put(r, ",\"stdout_sha256\":null,\"stderr_sha256\":null,\"use\":null");
	put(r, ",\"timing\":null,\"degraded\":[],\"result_folder\":null");
	if (denied)
		put_receipt(r, "audit", f->decided.seq, f->decided.leaf);
	else
		put(r, ",\"audit\":null");
	if (f->has_decided && !denied)
		put_receipt(r, "intent", f->decided.seq, f->decided.leaf);
	else
		put(r, ",\"intent\":null");
}

int report_print(const struct follow *f, const char *failure)
{
	/* A byte takes at most six in a JSON string, two in base64. */
	size_t cap = FIXED_PART_MAX + 6 * (f->kept_out.len + f->kept_err.len);
	struct report r = { .out = { malloc(cap), cap, 0 } };
	int result;

	if (r.out.data == NULL) {
		say_line("no memory for the report");
		return 1;
	}
	put(&r, "{\"run_id\":");
	if (f->has_decided)
		put_string(&r, f->decided.run_id);
	else
		put(&r, "null");
	put_decision(&r, f);
	if (f->has_finished)
		put_finished(&r, f);
	else
		put_unfinished(&r, f);
	put_word(&r, "log", f->has_decided ? f->decided.log_path : "");
	put_word(&r, "error", failure != NULL ? failure : "");
	put(&r, "}\n");
	result =
	    r.failed ? say_failed(&r.error, 1) : say_out(r.out.data, r.out.len);
	free(r.out.data);
	return result;
}
