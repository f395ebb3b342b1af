/*
 * mcp/facts.c - a run's end as JSON.  Linked by bailiff-mcp.  Output of the
 * program is any bytes; the rest comes from the service.
 */
#include "mcp/facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mcp/advice.h"

enum {
	CODE_TIMEOUT = 124,
	CODE_DENIED = 126,
	CODE_SIGNAL = 128,
	CODE_MEMORY = 137,
};

static void hex_of(const uint8_t digest[32], char ret[65])
{
	for (size_t i = 0; i < 32; i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

static void join(
    char ret[FACTS_WORDS_MAX], const struct protocol_word *words, uint64_t n)
{
	size_t len = 0;

	ret[0] = '\0';
	for (uint64_t i = 0; i < n && len < FACTS_WORDS_MAX; i++)
		len += (size_t)snprintf(ret + len, FACTS_WORDS_MAX - len,
		    "%s%s", i > 0 ? ", " : "", words[i].text);
}

static void set(char *to, size_t cap, const char *text)
{
	size_t len = strnlen(text, cap - 1);

	memcpy(to, text, len);
	to[len] = '\0';
}

void facts_of_policy(struct facts *f, const struct about *about)
{
	hex_of(about->sha256, f->policy_hash);
}

void facts_decide(struct facts *f, const struct protocol_decided *d,
    const struct about *about)
{
	struct text_out advice = { f->advice, sizeof(f->advice), 0 };

	set(f->run_id, sizeof(f->run_id), d->run_id);
	f->allow = d->allow != 0;
	facts_of_policy(f, about);
	f->audit.seq = d->seq;
	f->audit.of_intent = f->allow;
	hex_of(d->leaf, f->audit.leaf);
	if (f->allow) {
		set(f->status, sizeof(f->status), "running");
		join(f->rules, d->rules.items, d->rules.n);
		return;
	}
	set(f->status, sizeof(f->status), "denied");
	join(f->rules, d->reasons.items, d->reasons.n);
	advice_for(d, about, &advice);
}

void facts_finish(struct facts *f, const struct protocol_finished *m)
{
	set(f->status, sizeof(f->status), m->status);
	set(f->killed_by, sizeof(f->killed_by), m->killed_by);
	set(f->step, sizeof(f->step), m->step);
	set(f->remedy, sizeof(f->remedy), m->remedy);
	join(f->degraded, m->degraded.items, m->degraded.n);
	f->exit_kind = m->exit_kind;
	f->exit_value = m->exit_value;
	f->wall_us = m->wall_us;
	f->memory_peak = m->memory_peak;
	f->out_size = m->out.size;
	f->out_total = m->out.total;
	f->err_size = m->err.size;
	f->err_total = m->err.total;
	f->files = m->files_count;
	f->files_skipped = m->files_skipped;
	f->audit.seq = m->seq;
	f->audit.of_intent = false;
	hex_of(m->leaf, f->audit.leaf);
}

struct recall {
	const struct scan *s;
	bool ok;
};

static uint32_t member(struct recall *r, uint32_t object, const char *name)
{
	uint32_t node =
	    object != SCAN_NONE ? scan_member(r->s, object, name) : SCAN_NONE;

	r->ok = r->ok && node != SCAN_NONE;
	return node;
}

static void recall_text(struct recall *r, uint32_t node, char *ret, size_t cap)
{
	size_t len;

	if (node == SCAN_NONE || scan_string(r->s, node, ret, cap, &len) < 0)
		r->ok = false;
}

static void recall_number(struct recall *r, uint32_t node, uint64_t *ret)
{
	if (node == SCAN_NONE || !scan_u64(r->s, node, ret))
		r->ok = false;
}

static void recall_words(
    struct recall *r, uint32_t node, char ret[FACTS_WORDS_MAX])
{
	size_t at = 0;

	ret[0] = '\0';
	if (node == SCAN_NONE)
		return;
	for (uint32_t i = scan_first(r->s, node); i != SCAN_NONE;
	     i = r->s->nodes[i].next) {
		char word[PROTOCOL_WORD_MAX] = "";
		size_t len;

		if (scan_string(r->s, i, word, sizeof(word), &len) < 0)
			r->ok = false;
		if (at < FACTS_WORDS_MAX)
			at += (size_t)snprintf(ret + at, FACTS_WORDS_MAX - at,
			    "%s%s", at > 0 ? ", " : "", word);
	}
}

static void recall_end(struct recall *r, struct facts *f)
{
	uint32_t end = scan_member(r->s, 0, "exit");
	uint32_t failed = scan_member(r->s, 0, "failed");
	uint32_t killed_by = scan_member(r->s, 0, "killed_by");
	uint64_t value = 0;

	if (killed_by != SCAN_NONE)
		recall_text(r, killed_by, f->killed_by, sizeof(f->killed_by));
	if (failed != SCAN_NONE) {
		recall_text(
		    r, member(r, failed, "step"), f->step, sizeof(f->step));
		recall_text(r, member(r, failed, "remedy"), f->remedy,
		    sizeof(f->remedy));
	}
	if (end == SCAN_NONE)
		return;
	f->exit_kind = scan_member(r->s, end, "code") != SCAN_NONE ? 1 : 2;
	recall_number(
	    r, member(r, end, f->exit_kind == 1 ? "code" : "signal"), &value);
	f->exit_value = (uint32_t)value;
}

static void recall_streams(struct recall *r, struct facts *f)
{
	uint32_t out = member(r, 0, "stdout");
	uint32_t err = member(r, 0, "stderr");

	recall_number(r, member(r, out, "size"), &f->out_size);
	recall_number(r, member(r, out, "total"), &f->out_total);
	recall_number(r, member(r, err, "size"), &f->err_size);
	recall_number(r, member(r, err, "total"), &f->err_total);
}

bool facts_recall(struct facts *f, const struct scan *s)
{
	struct recall r = { s, s->nodes[0].kind == SCAN_OBJECT };
	uint32_t audit = member(&r, 0, "audit");
	uint32_t files = member(&r, 0, "files");
	uint32_t use = member(&r, 0, "use");

	f->allow = true;
	f->audit.of_intent = true;
	recall_text(&r, member(&r, 0, "req"), f->run_id, sizeof(f->run_id));
	recall_text(&r, member(&r, 0, "status"), f->status, sizeof(f->status));
	recall_number(&r, member(&r, audit, "seq"), &f->audit.seq);
	recall_text(&r, member(&r, audit, "leaf"), f->audit.leaf,
	    sizeof(f->audit.leaf));
	recall_number(&r, member(&r, files, "count"), &f->files);
	recall_number(&r, member(&r, files, "skipped"), &f->files_skipped);
	recall_number(&r, member(&r, use, "wall_us"), &f->wall_us);
	recall_number(&r, member(&r, use, "memory_peak"), &f->memory_peak);
	recall_text(&r, member(&r, member(&r, 0, "policy"), "sha256"),
	    f->policy_hash, sizeof(f->policy_hash));
	recall_words(&r, scan_member(s, 0, "rules"), f->rules);
	recall_words(&r, scan_member(s, 0, "degraded"), f->degraded);
	recall_streams(&r, f);
	recall_end(&r, f);
	return r.ok;
}

static bool is(const struct facts *f, const char *status)
{
	return strcmp(f->status, status) == 0;
}

bool facts_are_error(const struct facts *f)
{
	if (is(f, "ok") || is(f, "running"))
		return false;
	/* The program's own failure is a result like any other. */
	return !is(f, "error") || f->step[0] != '\0';
}

int facts_exit_code(const struct facts *f)
{
	if (is(f, "denied"))
		return CODE_DENIED;
	if (is(f, "timeout"))
		return CODE_TIMEOUT;
	if (is(f, "memory"))
		return CODE_MEMORY;
	if (f->step[0] != '\0' || (!is(f, "ok") && !is(f, "error")))
		return 1;
	if (f->exit_kind == 1)
		return (int)(f->exit_value & 255);
	return f->exit_kind == 2 ? CODE_SIGNAL + (int)(f->exit_value & 127) : 1;
}

/* A line of ours about an end that was not the program's. */
static void put_reason(const struct facts *f, struct page *to)
{
	static const struct {
		const char *killed_by, *text;
	} kills[] = {
		{ "wall", "stopped at the wall time limit" },
		{ "cpu", "stopped at the cpu time limit" },
		{ "memory", "stopped at the memory limit" },
		{ "pids", "stopped at the limit of processes" },
		{ "output", "stopped at the limit of output" },
		{ "disk", "stopped at the limit of disk" },
		{ "syscall", "killed at a forbidden system call" },
		{ "client", "cancelled" },
		{ "supervisor", "killed: the service lost its launcher" },
	};
	size_t before = to->len;

	if (strcmp(f->rules, "request.malformed") == 0)
		page_text(to, f->advice);
	else if (is(f, "denied"))
		page_format(
		    to, "denied by the policy (%s): %s", f->rules, f->advice);
	else if (f->step[0] != '\0')
		page_format(to, "could not be run: step %s failed%s%s", f->step,
		    f->remedy[0] != '\0' ? "; " : "", f->remedy);
	for (size_t i = 0; to->len == before && f->killed_by[0] != '\0' &&
	                   i < sizeof(kills) / sizeof(kills[0]);
	     i++)
		if (strcmp(kills[i].killed_by, f->killed_by) == 0)
			page_text(to, kills[i].text);
	if (to->len == before && is(f, "aborted"))
		page_text(to, "the service ended before the run did");
	if (is(f, "timeout") && f->wall_ms_limit != 0)
		page_format(to,
		    " of %" PRIu64 ".%03" PRIu64 " s; output up to then is "
		    "kept; ask for a longer timeout or do less",
		    f->wall_ms_limit / 1000, f->wall_ms_limit % 1000);
}

/* Our line first, then what the program wrote. */
static size_t put_stderr(
    const struct facts *f, const struct facts_stream *err, struct page *to)
{
	struct page text;
	size_t n_bad;

	page_init(&text, PAGE_LINE_MAX);
	put_reason(f, &text);
	if (text.len > 0)
		page_text(&text, "\n");
	page_bytes(&text, err->data, err->len);
	n_bad = page_string(to, text.len > 0 ? text.data : "", text.len);
	to->failed = to->failed || text.failed;
	page_free(&text);
	return n_bad;
}

static void put_policy(const struct facts *f, struct page *to)
{
	page_format(to, ",\n  \"policy\": {\"decision\": \"%s\", \"rule\": ",
	    f->allow ? "allow" : "deny");
	page_word(to, f->rules);
	page_format(to, ", \"hash\": \"sha256:%s\"}", f->policy_hash);
	if (f->audit.leaf[0] == '\0')
		page_text(to, ",\n  \"audit\": null");
	else
		page_format(to,
		    ",\n  \"audit\": {\"seq\": %" PRIu64
		    ", \"leaf\": \"%s\"%s}",
		    f->audit.seq, f->audit.leaf,
		    f->audit.of_intent ? ", \"record\": \"intent\"" : "");
	if (f->degraded[0] != '\0') {
		page_text(to, ",\n  \"degraded\": ");
		page_word(to, f->degraded);
	}
	if (f->n_libraries > 0)
		page_text(to,
		    ",\n  \"libraries\": \"nothing is installed for a run; "
		    "what the host has can be imported\"");
}

static void put_use(const struct facts *f, struct page *to)
{
	page_text(to, ",\n  \"signal\": ");
	page_format(to, f->exit_kind == 2 ? "%" PRIu32 : "null", f->exit_value);
	page_format(to, ",\n  \"duration_ms\": %" PRIu64, f->wall_us / 1000);
	if (f->killed_by[0] != '\0') {
		page_text(to, ",\n  \"killed_by\": ");
		page_word(to, f->killed_by);
	}
	page_text(to, ",\n  \"limits\": {");
	if (f->wall_ms_limit != 0)
		page_format(to,
		    "\"wall_ms\": %" PRIu64 ", \"memory\": %" PRIu64,
		    f->wall_ms_limit, f->memory_limit);
	page_format(to, "},\n  \"memory_peak\": %" PRIu64, f->memory_peak);
}

static void put_truncated(const struct facts *f, const struct facts_body *body,
    size_t n_bad, struct page *to)
{
	bool out_cut =
	    f->out_total > body->out_offset + (uint64_t)body->out.len;
	bool err_cut = f->err_total > (uint64_t)body->err.len;

	page_format(to, ",\n  \"truncated\": {\"stdout\": %s, \"stderr\": %s}",
	    out_cut ? "true" : "false", err_cut ? "true" : "false");
	if (out_cut || body->out_offset > 0)
		page_format(to,
		    ",\n  \"stdout_offset\": %" PRIu64
		    ",\n  \"stdout_size\": %" PRIu64
		    ",\n  \"stdout_total\": %" PRIu64,
		    body->out_offset, f->out_size, f->out_total);
	if (err_cut)
		page_format(to,
		    ",\n  \"stderr_size\": %" PRIu64
		    ",\n  \"stderr_total\": %" PRIu64,
		    f->err_size, f->err_total);
	if (n_bad > 0)
		page_format(to, ",\n  \"encoding_errors\": %zu", n_bad);
}

void facts_print(
    const struct facts *f, const struct facts_body *body, struct page *to)
{
	bool running = is(f, "running");
	size_t n_bad;

	page_format(to, "{\n  \"exit_code\": ");
	page_format(to, running ? "null" : "%d", facts_exit_code(f));
	page_text(to, ",\n  \"stderr\": ");
	n_bad = put_stderr(f, &body->err, to);
	page_text(to, ",\n  \"stdout\": ");
	n_bad += page_string(to, body->out.data, body->out.len);
	page_format(to, ",\n  \"run_id\": \"%s\",\n  \"status\": \"%s\"",
	    f->run_id, f->status);
	put_use(f, to);
	put_truncated(f, body, n_bad, to);
	put_policy(f, to);
	if (f->files_skipped > 0)
		page_format(to, ",\n  \"artifacts_skipped\": %" PRIu64,
		    f->files_skipped);
	page_text(to, ",\n  \"artifacts\": [");
	if (body->artifacts != NULL)
		page_bytes(to, body->artifacts->data, body->artifacts->len);
	page_text(to, "]\n}");
}
