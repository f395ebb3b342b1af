/*
 * audit/record_outcome.c - members that say how a run ended, and the lists
 * that other members share.  Linked by the signer.
 */
#include <string.h>

#include "audit/record_parts.h"
#include "base/sha256.h"

static bool is_rule(const char *text)
{
	for (; *text != '\0'; text++)
		if (!((*text >= 'a' && *text <= 'z') ||
		        (*text >= '0' && *text <= '9') || *text == '_' ||
		        *text == '.'))
			return false;
	return true;
}

void record_put_words(
    struct json *j, struct record_words words, enum record_form form)
{
	const char *sorted[EVENT_WORDS_MAX];
	size_t n = 0;

	for (uint64_t i = 0; i < words.n; i++) {
		const char *word = words.items[i].text;
		size_t at = n++;

		if (word[0] == '\0' || (form == FORM_RULES && !is_rule(word)))
			json_refuse(j, ERROR_MALFORMED,
			    "rule id that is not dotted lower-case words");
		for (; at > 0 && strcmp(sorted[at - 1], word) > 0; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = word;
	}
	json_array(j);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0)
			json_string(j, sorted[i]);
	json_end(j);
}

void record_put_members(struct json *j, struct record_member *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct record_member m = list[i];
		size_t at = i;

		for (; at > 0 && strcmp(list[at - 1].name, m.name) > 0; at--)
			list[at] = list[at - 1];
		list[at] = m;
	}
	json_object(j);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && strcmp(list[i - 1].name, list[i].name) == 0)
			json_refuse(j, ERROR_MALFORMED, "name given twice");
		json_key(j, list[i].name);
		if (list[i].value == EVENT_UNLIMITED)
			json_string(j, "unlimited");
		else
			json_number(j, list[i].value);
	}
	json_end(j);
}

static void put_number(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_number(j, value);
}

static void put_digest(
    struct json *j, const char *key, const uint8_t digest[SHA256_BYTES])
{
	json_key(j, key);
	json_hex(j, digest, SHA256_BYTES);
}

static void put_word(struct json *j, const char *word)
{
	if (word == NULL)
		json_refuse(j, ERROR_MALFORMED, "word outside its list");
	else
		json_string(j, word);
}

static void put_exit(struct json *j, uint32_t kind, uint32_t value)
{
	if (kind != EXIT_CODE && kind != EXIT_SIGNAL)
		json_refuse(j, ERROR_MALFORMED, "unknown kind of exit");
	json_object(j);
	put_number(j, kind == EXIT_CODE ? "code" : "signal", value);
	json_end(j);
}

void record_put_degraded(struct json *j, const struct record *r)
{
	record_put_words(j,
	    (struct record_words){
	        r->outcome->degraded.items, r->outcome->degraded.n },
	    FORM_TEXT);
}

void record_put_viol(struct json *j, const struct record *r)
{
	record_put_words(j,
	    (struct record_words){ r->outcome->viol.items, r->outcome->viol.n },
	    FORM_TEXT);
}

void record_put_exit(struct json *j, const struct record *r)
{
	put_exit(j, r->outcome->exit_kind, r->outcome->exit_value);
}

/* Beyond the format's own members: which step of ours failed, and how. */
void record_put_failed(struct json *j, const struct record *r)
{
	json_object(j);
	put_number(j, "errno", r->outcome->step_errno);
	json_key(j, "step");
	json_string(j, r->outcome->step);
	json_end(j);
}

void record_put_files(struct json *j, const struct record *r)
{
	json_object(j);
	put_number(j, "bytes", r->outcome->files_bytes);
	put_number(j, "count", r->outcome->files_count);
	if (r->outcome->files_skipped > 0)
		put_number(j, "skipped", r->outcome->files_skipped);
	json_end(j);
}

void record_put_intent(struct json *j, const struct record *r)
{
	bool ours = r->type == RECORD_ABORTED;

	json_object(j);
	put_digest(j, "leaf",
	    ours ? r->aborted->intent_leaf : r->outcome->intent_leaf);
	put_number(
	    j, "seq", ours ? r->aborted->intent_seq : r->outcome->intent_seq);
	json_end(j);
}

void record_put_killer(struct json *j, const struct record *r)
{
	put_word(
	    j, killer_word(r->type == RECORD_ABORTED ? r->aborted->killed_by
	                                             : r->outcome->killed_by));
}

void record_put_manifest(struct json *j, const struct record *r)
{
	json_hex(j, r->outcome->manifest, SHA256_BYTES);
}

void record_put_phase(struct json *j, const struct record *r)
{
	put_word(j, phase_word(r->outcome->phase));
}

void record_put_phases(struct json *j, const struct record *r)
{
	json_array(j);
	for (uint64_t i = 0; i < r->outcome->phases.n; i++) {
		const struct event_phase *p = &r->outcome->phases.items[i];

		json_object(j);
		put_number(j, "cpu_us", p->cpu_us);
		if (p->exit_kind != EXIT_ABSENT) {
			json_key(j, "exit");
			put_exit(j, p->exit_kind, p->exit_value);
		}
		json_key(j, "phase");
		put_word(j, phase_word(p->phase));
		put_number(j, "wall_us", p->wall_us);
		json_end(j);
	}
	json_end(j);
}

void record_put_posture(struct json *j, const struct record *r)
{
	json_object(j);
	put_digest(j, "sha256", r->outcome->posture_sha256);
	put_number(j, "steps", r->outcome->posture_steps);
	json_end(j);
}

void record_put_start(struct json *j, const struct record *r)
{
	if (strcmp(r->outcome->start, "cold") != 0 &&
	    strcmp(r->outcome->start, "warm") != 0)
		json_refuse(j, ERROR_MALFORMED, "start neither cold nor warm");
	json_string(j, r->outcome->start);
}

/* "denied" is for replies; "aborted" is for the signer alone to say. */
void record_put_status(struct json *j, const struct record *r)
{
	if (r->type == RECORD_ABORTED)
		json_string(j, status_word(STATUS_ABORTED));
	else if (r->outcome->status == STATUS_DENIED ||
	         r->outcome->status == STATUS_ABORTED)
		json_refuse(
		    j, ERROR_MALFORMED, "status that no supervisor may report");
	else
		put_word(j, status_word(r->outcome->status));
}

static void put_stream(struct json *j, const struct event_stream *s)
{
	json_object(j);
	put_digest(j, "sha256", s->sha256);
	put_number(j, "size", s->size);
	put_number(j, "total", s->total);
	put_digest(j, "total_sha256", s->total_sha256);
	json_end(j);
}

void record_put_stderr(struct json *j, const struct record *r)
{
	put_stream(j, &r->outcome->err);
}

void record_put_stdout(struct json *j, const struct record *r)
{
	put_stream(j, &r->outcome->out);
}

void record_put_timing(struct json *j, const struct record *r)
{
	struct record_member members[EVENT_STEPS_MAX];

	for (uint64_t i = 0; i < r->outcome->timing.n; i++)
		members[i] = (struct record_member){
			r->outcome->timing.items[i].name,
			r->outcome->timing.items[i].us,
		};
	record_put_members(j, members, (size_t)r->outcome->timing.n);
}

void record_put_trace(struct json *j, const struct record *r)
{
	json_object(j);
	put_number(j, "bytes", r->outcome->trace_bytes);
	json_key(j, "complete");
	json_truth(j, r->outcome->trace_complete != 0);
	put_number(j, "events", r->outcome->trace_events);
	put_digest(j, "sha256", r->outcome->trace_sha256);
	json_key(j, "tier");
	json_string(j, r->outcome->trace_tier);
	json_end(j);
}

void record_put_use(struct json *j, const struct record *r)
{
	json_object(j);
	put_number(j, "cpu_us", r->outcome->cpu_us);
	if (r->outcome->memory_peak != 0)
		put_number(j, "memory_peak", r->outcome->memory_peak);
	if (r->outcome->pids_peak != 0)
		put_number(j, "pids_peak", r->outcome->pids_peak);
	put_number(j, "wall_us", r->outcome->wall_us);
	json_end(j);
}
