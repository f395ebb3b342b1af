/*
 * audit/record_notes.c - the members of records that are not about one run's
 * way from request to outcome: gaps, clock steps, changes, readers, removals.
 * Linked by the signer.
 */
#include <stdlib.h>
#include <string.h>

#include "audit/record_parts.h"
#include "base/sha256.h"
#include "base/text.h"

static void put_word(struct json *j, const char *word)
{
	if (word == NULL)
		json_refuse(j, ERROR_MALFORMED, "a word outside of its list");
	else
		json_string(j, word);
}

static void put_when(struct json *j, uint64_t time_us)
{
	char text[RECORD_TIME_MAX];

	record_time(time_us, text);
	json_string(j, text);
}

static void put_run(struct json *j, const uint8_t run[EVENT_RUN_BYTES])
{
	json_prefixed(j, "r_", (struct json_bytes){ run, EVENT_RUN_BYTES });
}

void record_put_note_reason(struct json *j, const struct record *r)
{
	put_word(j, r->type == RECORD_GAP ? gap_word(r->gap->reason)
	                                  : prune_word(r->prune->reason));
}

void record_put_refused(struct json *j, const struct record *r)
{
	if (r->gap->refused == 0)
		json_refuse(j, ERROR_MALFORMED, "a gap of nothing");
	json_number(j, r->gap->refused);
}

void record_put_from(struct json *j, const struct record *r)
{
	if (r->gap->from_us > r->gap->to_us)
		json_refuse(
		    j, ERROR_MALFORMED, "a gap that ends before it began");
	put_when(j, r->gap->from_us);
}

void record_put_to(struct json *j, const struct record *r)
{
	put_when(j, r->gap->to_us);
}

void record_put_step(struct json *j, const struct record *r)
{
	json_object(j);
	json_key(j, "us");
	json_number(j, r->clock->us);
	json_key(j, "way");
	json_string(j, r->clock->back ? "back" : "forward");
	json_end(j);
}

void record_put_was(struct json *j, const struct record *r)
{
	json_hex(j, r->config->was, SHA256_BYTES);
}

/* Written by a supervisor from a name that it has; judged all the same. */
void record_put_name(struct json *j, const struct record *r)
{
	char raw[EVENT_NAME_MAX];
	struct error e;
	size_t len;

	if (text_percent_decode(r->access->name, raw, sizeof(raw), &len, &e) <
	    0)
		json_refuse(j, ERROR_MALFORMED, "name not percent-encoded");
	json_string(j, r->access->name);
}

void record_put_what(struct json *j, const struct record *r)
{
	json_string(j, r->access->name[0] == '\0' ? "list" : "file");
}

void record_put_count(struct json *j, const struct record *r)
{
	json_number(j, r->prune->runs.n);
}

void record_put_results(struct json *j, const struct record *r)
{
	json_truth(j, r->redact->results);
}

static int compare_runs(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct event_run));
}

static void put_pruned(struct json *j, const struct event_prune *prune)
{
	struct event_run sorted[EVENT_BATCH_MAX];
	size_t n = (size_t)prune->runs.n;

	memcpy(sorted, prune->runs.items, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_runs);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && compare_runs(&sorted[i - 1], &sorted[i]) == 0)
			json_refuse(j, ERROR_MALFORMED, "a run named twice");
		put_run(j, sorted[i].run);
	}
}

static void put_salt(struct json *j, const struct record_salt *salt)
{
	json_object(j);
	json_key(j, "epoch");
	json_number(j, salt->epoch);
	json_key(j, "req");
	put_run(j, salt->run);
	json_key(j, "seq");
	json_number(j, salt->seq);
	json_end(j);
}

void record_put_runs(struct json *j, const struct record *r)
{
	size_t n =
	    r->type == RECORD_PRUNE ? (size_t)r->prune->runs.n : r->redact->n;

	if (n == 0)
		json_refuse(j, ERROR_MALFORMED, "no run is named");
	json_array(j);
	if (r->type == RECORD_PRUNE)
		put_pruned(j, r->prune);
	else
		for (size_t i = 0; i < n; i++)
			put_salt(j, &r->redact->salts[i]);
	json_end(j);
}
