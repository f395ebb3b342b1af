/*
 * mcp/results.c - how a run went, as content of a tool result.  Linked by
 * bailiff-mcp.  Files of the run are any bytes; their names come encoded.
 */
#include "mcp/results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"
#include "mcp/fetch.h"
#include "mcp/media.h"
#include "mcp/receipt.h"

#define FILES           "files/"
#define FILES_LEN       6
#define IMAGES_MAX      8
#define IMAGE_BYTES_MAX 1048576
#define IMAGES_BYTES    (4u << 20) /* together; a line holds 8 MiB */
#define LINKS_MAX       32
#define LISTED_MAX      64
#define RESULT          "result.json"
#define RECORD          "record.dsse.json"
#define RESULT_JSON_MAX (1u << 20)
#define RESULT_DEPTH    8

void results_put_name(struct page *to, const char *encoded)
{
	char name[PROTOCOL_RESULT_NAME_MAX];
	struct error e;
	size_t len;

	if (text_percent_decode(encoded, name, sizeof(name), &len, &e) == 0)
		(void)page_string(to, name, len);
	else
		page_word(to, encoded);
}

static bool is_artifact(const struct fetch_entry *e)
{
	return strncmp(e->name, FILES, FILES_LEN) == 0;
}

/* What images may still be put into an answer. */
struct image_room {
	size_t n, bytes;
};

static void choose_images_of(
    struct fetch *f, bool plots, struct image_room *room)
{
	for (size_t i = 0; i < f->n_entries && room->n > 0; i++) {
		const struct fetch_entry *e = &f->entries[i];

		if (!is_artifact(e) || e->is_plot != plots ||
		    media_image_magic(e) == NULL || e->size == 0 ||
		    e->size > IMAGE_BYTES_MAX || e->size > room->bytes)
			continue;
		room->bytes -= (size_t)e->size;
		room->n -= fetch_want(f, e->name);
	}
}

/* What the program showed comes before what it saved. */
static void choose_images(struct fetch *f)
{
	struct image_room room = { IMAGES_MAX, IMAGES_BYTES };

	choose_images_of(f, true, &room);
	choose_images_of(f, false, &room);
}

static const struct fetch_entry *entry_of(
    const struct fetch *f, const char *name)
{
	for (size_t i = 0; i < f->n_entries; i++)
		if (strcmp(f->entries[i].name, name) == 0)
			return &f->entries[i];
	return NULL;
}

static void choose_streams(struct fetch *f)
{
	(void)fetch_want(f, "stdout");
	(void)fetch_want(f, "stderr");
}

/* Whether this client is shown more than what is kept here. */
static bool shows_more(const struct call *c)
{
	const struct facts *f = &c->job->facts;

	return c->plan.shown > JOB_SHOWN_MAX &&
	       (f->out_size > JOB_SHOWN_MAX || f->err_size > JOB_SHOWN_MAX);
}

static void choose_for_run(struct server *s, struct call *c, struct fetch *f)
{
	(void)s;
	if (shows_more(c))
		choose_streams(f);
	choose_images(f);
}

static void choose_for_stored(struct server *s, struct call *c, struct fetch *f)
{
	(void)s;
	if (c->job == NULL) {
		(void)fetch_want(f, RESULT);
		(void)fetch_want(f, RECORD);
	}
	choose_streams(f);
	choose_images(f);
}

/* True if it begins as it should, and was appended. */
static bool put_image(const struct fetch_entry *entry,
    const struct fetch_open *o, struct page *bytes, struct page *to)
{
	const char *magic = entry != NULL ? media_image_magic(entry) : NULL;
	struct error e;

	page_clear(bytes);
	if (magic == NULL || fetch_read(o, 0, IMAGE_BYTES_MAX, bytes, &e) < 0 ||
	    bytes->len < strlen(magic) ||
	    memcmp(bytes->data, magic, strlen(magic)) != 0)
		return false;
	page_text(to, "{\"type\":\"image\",\"data\":\"");
	page_base64(to, bytes->data, bytes->len);
	page_format(to, "\",\"mimeType\":\"%s\"},", media_of(entry));
	return true;
}

static void put_artifacts(
    const struct fetch *f, const char *run_id, struct page *to)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_entries && n < LISTED_MAX; i++) {
		const struct fetch_entry *e = &f->entries[i];

		if (!is_artifact(e))
			continue;
		page_text(
		    to, n++ > 0 ? ",\n    {\"path\": " : "\n    {\"path\": ");
		results_put_name(to, e->name + FILES_LEN);
		page_format(to, ", \"type\": \"%s\"", media_of(e));
		if (e->width > 0)
			page_format(to,
			    ", \"width\": %" PRIu32 ", \"height\": %" PRIu32,
			    e->width, e->height);
		if (e->is_plot)
			page_text(to, ", \"plot\": true");
		page_format(
		    to, ", \"size\": %" PRIu64 ", \"sha256\": \"", e->size);
		page_hex(to, e->sha256, sizeof(e->sha256));
		page_text(to, "\", \"uri\": ");
		page_format(to, "\"sandbox://runs/%s/%s\"}", run_id, e->name);
	}
	page_text(to, n > 0 ? "\n  " : "");
}

static void put_links(struct fetch *f, const char *run_id, struct page *to)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_entries && n < LINKS_MAX; i++) {
		const struct fetch_entry *e = &f->entries[i];

		if (!is_artifact(e) || fetch_opened(f, e->name) != NULL)
			continue;
		n++;
		page_format(to,
		    ",{\"type\":\"resource_link\",\"uri\":\"sandbox://runs/%s/"
		    "%s\",\"name\":",
		    run_id, e->name);
		results_put_name(to, e->name + FILES_LEN);
		page_format(to, ",\"mimeType\":\"%s\",\"size\":%" PRIu64 "}",
		    media_of(e), e->size);
	}
}

/* Images, text, links; 's->text' holds the text. */
static void answer(struct server *s, const struct call *c, struct fetch *f,
    const struct facts *facts)
{
	page_text(&s->body, "\"content\":[");
	for (size_t i = 0; i < f->n_opened; i++)
		if (f->opens[i].fd >= 0)
			(void)put_image(entry_of(f, f->opens[i].name),
			    &f->opens[i], &s->list, &s->body);
	page_text(&s->body, "{\"type\":\"text\",\"text\":");
	(void)page_string(&s->body, s->text.data, s->text.len);
	page_text(&s->body, "}");
	if (c->to.links)
		put_links(f, facts->run_id, &s->body);
	page_format(&s->body, "],\"isError\":%s",
	    facts_are_error(facts) ? "true" : "false");
	if (facts->run_id[0] != '\0')
		page_format(&s->extra,
		    "\"bailiff/runId\":\"%s\",\"bailiff/auditLeaf\":\"%s\"",
		    facts->run_id, facts->audit.leaf);
	s->body.failed = s->body.failed || s->text.failed;
	reply_result(s, &c->to, REPLY_PLAIN);
}

static void print(struct server *s, const struct fetch *f,
    const struct facts *facts, struct facts_body *body)
{
	page_clear(&s->list);
	put_artifacts(f, facts->run_id, &s->list);
	body->artifacts = &s->list;
	page_clear(&s->text);
	facts_print(facts, body, &s->text);
}

/* Part of a stream, from the service; as kept here, where it has none. */
static struct facts_stream read_stream(struct fetch *f, const char *name,
    const struct facts_stream *kept, uint64_t offset, struct page *to)
{
	struct fetch_open *o = fetch_opened(f, name);
	struct error e;

	if (o == NULL) {
		size_t skip = offset < kept->len ? (size_t)offset : kept->len;

		return (
		    struct facts_stream){ kept->data + skip, kept->len - skip };
	}
	(void)!fetch_read(o, offset, to->max, to, &e);
	/* Not a candidate for an image, and no longer needed. */
	own_close(&o->fd);
	o->fd = -1;
	return (struct facts_stream){ to->len > 0 ? to->data : "", to->len };
}

/* 'kept' is what there is of each stream without the service. */
static void answer_facts(struct server *s, const struct call *c,
    struct fetch *f, const struct facts *facts, const struct facts_body *kept)
{
	struct facts_body body = { .out_offset = c->plan.offset };
	struct page out;
	struct page err;

	page_init(&out, c->plan.shown);
	page_init(&err, c->plan.shown);
	body.out = read_stream(f, "stdout", &kept->out, c->plan.offset, &out);
	body.err = read_stream(f, "stderr", &kept->err, 0, &err);
	job_share(&body.out, &body.err, c->plan.shown);
	print(s, f, facts, &body);
	answer(s, c, f, facts);
	page_free(&out);
	page_free(&err);
}

static void render_run(struct server *s, struct call *c, struct fetch *f)
{
	struct facts_body kept;

	job_shown(c->job, &kept);
	answer_facts(s, c, f, &c->job->facts, &kept);
}

/* All of a file of ours, into 'to'; false if it is not there. */
static bool read_whole(struct fetch *f, const char *name, struct page *to)
{
	struct fetch_open *o = fetch_opened(f, name);
	struct error e;
	bool good;

	page_clear(to);
	if (o == NULL)
		return false;
	good = fetch_read(o, 0, RESULT_JSON_MAX, to, &e) == 0 && to->len > 0;
	own_close(&o->fd);
	o->fd = -1;
	return good;
}

static bool recall(struct server *s, struct fetch *f, struct facts *ret)
{
	struct scan scan = { .nodes = s->nodes,
		.cap = RPC_NODES_MAX,
		.max_depth = RESULT_DEPTH };
	struct error e;

	if (!read_whole(f, RESULT, &s->text))
		return false;
	scan.text = s->text.data;
	scan.len = s->text.len;
	if (scan_parse(&scan, &e) < 0 || !facts_recall(ret, &scan))
		return false;
	/* It names the intent; the record beside it is the outcome. */
	if (read_whole(f, RECORD, &s->text) && !s->text.failed)
		receipt_recall(&s->text, &scan, ret);
	return true;
}

static void answer_no_run(
    struct server *s, const struct call *c, const char *why)
{
	page_clear(&s->text);
	page_format(&s->text,
	    "%s. A run that was denied, or that did not start, left no "
	    "result.",
	    why);
	reply_text(s, &c->to, &s->text, REPLY_ERROR);
}

static void render_stored(struct server *s, struct call *c, struct fetch *f)
{
	static const struct facts_body nothing = { .out = { "", 0 },
		.err = { "", 0 } };
	struct facts facts = { .allow = false };

	/* What this front knows is as good, and there when nothing is kept. */
	if (c->job != NULL)
		render_run(s, c, f);
	else if (f->failed[0] != '\0')
		answer_no_run(s, c, f->failed);
	else if (!recall(s, f, &facts))
		answer_no_run(s, c, "its result cannot be read");
	else
		answer_facts(s, c, f, &facts, &nothing);
}

const struct plan_kind results_of_run = { true, choose_for_run, render_run };
const struct plan_kind results_of_stored = { true, choose_for_stored,
	render_stored };
const struct plan_kind results_running = { false, NULL, render_run };

void results_choose(struct call *c)
{
	if (c->plan.kind == &results_running && c->until_ms != 0)
		c->plan.kind = &results_of_stored; /* get_run that waited */
	else if (c->plan.kind == &results_of_run && c->job->facts.files == 0 &&
	         !shows_more(c))
		c->plan.kind = &results_running; /* there is nothing to list */
}

void results_abandoned(struct server *s, struct call *c)
{
	struct fetch nothing = { .call = c };

	render_run(s, c, &nothing);
}
