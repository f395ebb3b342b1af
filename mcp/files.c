/*
 * mcp/files.c - files of runs, as tools and as resources.  Linked by
 * bailiff-mcp.  Names come from a hostile client: they are compared, encoded
 * and handed to the service, which opens beneath the run's own folder and for
 * the run's own principal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "mcp/calls.h"
#include "mcp/fetch.h"
#include "mcp/media.h"
#include "mcp/results.h"
#include "mcp/tools.h"

#define RUNS         "sandbox://runs/"
#define RUNS_LEN     15
#define FILES        "files/"
#define FILES_LEN    6
#define ID_LEN       (PROTOCOL_RUN_ID_MAX - 1)
#define READ_DEFAULT 40000
#define RESOURCE_MAX (5u << 20) /* as base64 it fits in a line */
#define FILES_LISTED 1000

static void busy(struct server *s, const struct reply_to *to)
{
	page_clear(&s->text);
	page_text(&s->text, "busy: too many calls at once; try again");
	reply_text(s, to, &s->text, REPLY_ERROR);
}

static void failed(struct server *s, const struct reply_to *to, const char *why)
{
	page_clear(&s->text);
	page_text(&s->text, why);
	reply_text(s, to, &s->text, REPLY_ERROR);
}

static struct call *begin(struct server *s, const struct tool_call *c,
    const struct plan_kind *kind, const char *run_id)
{
	const struct call_of of = { c->scan, c->message, c->to, kind, NULL };
	struct call *call = calls_add(s, &of);

	if (call != NULL)
		(void)snprintf(call->plan.run_id, sizeof(call->plan.run_id),
		    "%.*s", ID_LEN, run_id);
	return call;
}

static void render_list(struct server *s, struct call *c, struct fetch *f)
{
	size_t n = 0;

	if (f->failed[0] != '\0') {
		failed(s, &c->to, f->failed);
		return;
	}
	page_clear(&s->text);
	page_format(&s->text, "{\n  \"run_id\": \"%s\",\n  \"files\": [",
	    c->plan.run_id);
	for (size_t i = 0; i < f->n_entries; i++) {
		const struct fetch_entry *e = &f->entries[i];

		if (strncmp(e->name, FILES, FILES_LEN) != 0)
			continue;
		if (n++ >= FILES_LISTED)
			continue;
		page_text(&s->text,
		    n > 1 ? ",\n    {\"path\": " : "\n    {\"path\": ");
		results_put_name(&s->text, e->name + FILES_LEN);
		page_format(&s->text,
		    ", \"type\": \"%s\", \"size\": %" PRIu64 ", \"uri\": ",
		    media_of(e), e->size);
		page_format(
		    &s->text, "\"" RUNS "%s/%s\"}", c->plan.run_id, e->name);
	}
	page_format(
	    &s->text, "%s],\n  \"count\": %zu\n}", n > 0 ? "\n  " : "", n);
	reply_text(s, &c->to, &s->text, REPLY_GOOD);
}

static const struct plan_kind list_files = { true, NULL, render_list };

void tool_list_files(struct server *s, struct tool_call *c)
{
	if (begin(s, c, &list_files, c->args.run_id.data) == NULL)
		busy(s, c->to);
}

/* Components that are names; the service looks again. */
static bool is_clean(const char *name, size_t len)
{
	const char *at = name;

	if (len == 0 || strlen(name) != len)
		return false;
	for (;;) {
		size_t n = strcspn(at, "/");

		if (n == 0 || (n == 1 && at[0] == '.') ||
		    (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (at[n] == '\0')
			return true;
		at += n + 1;
	}
}

static void choose_name(struct server *s, struct call *c, struct fetch *f)
{
	(void)s;
	(void)fetch_want(f, c->plan.name);
}

static bool is_text(const struct page *p)
{
	size_t at = 0;

	while (at < p->len) {
		size_t n = text_utf8_length(p->data + at, p->len - at);

		if (n == 0 || p->data[at] == '\0')
			return false;
		at += n;
	}
	return true;
}

/* A character that the limit cut is left to the next part. */
static void cut_whole(struct page *p, bool more)
{
	struct page head = *p;

	for (size_t back = 0; more && back < 4 && back < p->len; back++) {
		head.len = p->len - back;
		if (is_text(&head)) {
			p->len = head.len;
			return;
		}
	}
}

static void render_read(struct server *s, struct call *c, struct fetch *f)
{
	const struct fetch_open *o = fetch_opened(f, c->plan.name);
	struct error e;
	bool text;

	page_clear(&s->list);
	if (o == NULL || fetch_read(o, c->plan.offset, (size_t)c->plan.limit,
	                     &s->list, &e) < 0) {
		failed(s, &c->to,
		    "no such file of that run for you; list_files shows "
		    "what there is");
		return;
	}
	cut_whole(&s->list, c->plan.offset + s->list.len < o->size);
	text = is_text(&s->list);
	page_clear(&s->text);
	page_text(&s->text, "{\n  \"path\": ");
	results_put_name(&s->text, c->plan.name + FILES_LEN);
	page_format(&s->text,
	    ",\n  \"size\": %" PRIu64 ",\n  \"offset\": %" PRIu64
	    ",\n  \"length\": %zu,\n  \"end\": %s,\n  \"encoding\": \"%s\",\n"
	    "  \"content\": ",
	    o->size, c->plan.offset, s->list.len,
	    c->plan.offset + s->list.len >= o->size ? "true" : "false",
	    text ? "utf-8" : "base64");
	if (text) {
		(void)page_string(&s->text, s->list.data, s->list.len);
	} else {
		page_text(&s->text, "\"");
		page_base64(&s->text, s->list.data, s->list.len);
		page_text(&s->text, "\"");
	}
	page_text(&s->text, "\n}");
	reply_text(s, &c->to, &s->text, REPLY_GOOD);
}

static const struct plan_kind read_file = { false, choose_name, render_read };

void tool_read_file(struct server *s, struct tool_call *c)
{
	char name[PROTOCOL_RESULT_NAME_MAX] = FILES;
	struct call *call;
	struct error e;

	if (!is_clean(c->args.path.data, c->args.path.len) ||
	    text_percent_encode(c->args.path.data, c->args.path.len,
	        name + FILES_LEN, sizeof(name) - FILES_LEN, &e) < 0) {
		failed(s, c->to,
		    "no such file: a path is relative, as list_files gave it, "
		    "without . or .. components");
		return;
	}
	call = begin(s, c, &read_file, c->args.run_id.data);
	if (call == NULL) {
		busy(s, c->to);
		return;
	}
	memcpy(call->plan.name, name, sizeof(call->plan.name));
	call->plan.offset = c->args.offset;
	call->plan.limit = c->args.limit != 0 ? c->args.limit : READ_DEFAULT;
}

void resource_missing(
    struct server *s, const struct reply_to *to, const char *uri)
{
	struct reply_fault fault = { to->modern ? RPC_PARAMS : RPC_NO_RESOURCE,
		"Resource not found", NULL };

	page_clear(&s->text);
	page_text(&s->text, "{\"uri\":");
	page_word(&s->text, uri);
	page_text(&s->text, "}");
	page_bytes(&s->text, "", 1);
	fault.data = s->text.failed ? NULL : s->text.data;
	reply_fault(s, to, &fault);
}

static void render_resource(struct server *s, struct call *c, struct fetch *f)
{
	const struct fetch_open *o = fetch_opened(f, c->plan.name);
	static const struct reply_fault too_large = { RPC_INTERNAL,
		"this resource is larger than 5 MiB; read_file reads it in "
		"parts",
		NULL };
	struct error e;

	page_clear(&s->list);
	if (o == NULL) {
		resource_missing(s, &c->to, c->plan.uri);
		return;
	}
	if (o->size > RESOURCE_MAX ||
	    fetch_read(o, 0, RESOURCE_MAX, &s->list, &e) < 0) {
		reply_fault(s, &c->to, &too_large);
		return;
	}
	page_text(&s->body, "\"contents\":[{\"uri\":");
	page_word(&s->body, c->plan.uri);
	if (is_text(&s->list) && s->list.len <= RESOURCE_MAX / 4) {
		page_format(&s->body, ",\"mimeType\":\"%s\",\"text\":",
		    strchr(c->plan.name, '.') != NULL
		        ? media_of_name(c->plan.name)
		        : "text/plain");
		(void)page_string(&s->body, s->list.data, s->list.len);
		page_text(&s->body, "}]");
	} else {
		page_format(&s->body, ",\"mimeType\":\"%s\",\"blob\":\"",
		    media_of_name(c->plan.name));
		page_base64(&s->body, s->list.data, s->list.len);
		page_text(&s->body, "\"}]");
	}
	reply_result(s, &c->to, REPLY_CACHED);
}

static const struct plan_kind resource = { false, choose_name,
	render_resource };

/* The name in the run's folder for what stands behind its id. */
static bool name_of(const char *rest, char ret[PROTOCOL_RESULT_NAME_MAX])
{
	static const struct {
		const char *uri, *name;
	} fixed[] = {
		{ "stdout", "stdout" },
		{ "stderr", "stderr" },
		{ "result", "result.json" },
		{ "audit", "record.dsse.json" },
	};
	char plain[PROTOCOL_RESULT_NAME_MAX];
	struct error e;
	size_t len;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (strcmp(rest, fixed[i].uri) == 0) {
			(void)snprintf(
			    ret, PROTOCOL_RESULT_NAME_MAX, "%s", fixed[i].name);
			return true;
		}
	if (strncmp(rest, FILES, FILES_LEN) != 0 ||
	    strlen(rest) >= PROTOCOL_RESULT_NAME_MAX ||
	    text_percent_decode(
	        rest + FILES_LEN, plain, sizeof(plain), &len, &e) < 0 ||
	    !is_clean(plain, len))
		return false;
	memcpy(ret, rest, strlen(rest) + 1);
	return true;
}

bool resource_read(struct server *s, const struct tool_call *c, const char *uri)
{
	static const struct reply_fault busy_fault = { RPC_INTERNAL,
		"busy: too many calls at once; try again", NULL };
	char name[PROTOCOL_RESULT_NAME_MAX];
	const char *id = uri + RUNS_LEN;
	struct call *call;

	if (strncmp(uri, RUNS, RUNS_LEN) != 0 || strncmp(id, "r_", 2) != 0 ||
	    strspn(id + 2, "0123456789abcdef") != ID_LEN - 2 ||
	    id[ID_LEN] != '/' || !name_of(id + ID_LEN + 1, name))
		return false;
	call = begin(s, c, &resource, id);
	if (call == NULL) {
		reply_fault(s, c->to, &busy_fault);
		return true;
	}
	memcpy(call->plan.name, name, sizeof(call->plan.name));
	call->plan.uri = strdup(uri);
	/* Without memory for it the answer cannot name it. */
	if (call->plan.uri == NULL)
		s->lost = true;
	return true;
}
