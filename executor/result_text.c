/*
 * executor/result_text.c - writes result.json.  Linked by the supervisor.
 *  Words come from closed lists and client texts were proven to be
 * percent-encoded, still every string goes through the JSON escape.
 */
#include "executor/result_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/words.h"
#include "base/number.h"
#include "executor/collect.h"

/* A text being made: after the first failure nothing more is appended. */
struct json {
	struct text_out *out;
	struct error *e;
	int failed;
};

static void put(struct json *j, const char *text)
{
	if (j->failed == 0)
		j->failed = text_printf(j->out, j->e, "%s", text);
}

static void put_u64(struct json *j, const char *key, uint64_t value)
{
	if (j->failed == 0)
		j->failed =
		    text_printf(j->out, j->e, "\"%s\":%" PRIu64, key, value);
}

static void put_text(struct json *j, const char *text)
{
	if (j->failed == 0)
		j->failed = text_json_string(text, strlen(text), j->out, j->e);
}

static void put_key_text(struct json *j, const char *key, const char *text)
{
	if (j->failed == 0)
		j->failed = text_printf(j->out, j->e, "\"%s\":", key);
	put_text(j, text);
}

static void put_sha256(struct json *j, const char *key, const uint8_t *digest)
{
	char hex[SHA256_HEX];

	sha256_hex(digest, hex);
	put_key_text(j, key, hex);
}

static void put_words(
    struct json *j, const char *key, const struct event_word *words, uint64_t n)
{
	if (j->failed == 0)
		j->failed = text_printf(j->out, j->e, "\"%s\":[", key);
	for (uint64_t i = 0; i < n; i++) {
		put(j, i > 0 ? "," : "");
		put_text(j, words[i].text);
	}
	put(j, "]");
}

static void put_stream(
    struct json *j, const char *key, const struct event_stream *s)
{
	if (j->failed == 0)
		j->failed = text_printf(j->out, j->e, "\"%s\":{", key);
	put_sha256(j, "sha256", s->sha256);
	put(j, ",");
	put_u64(j, "size", s->size);
	put(j, ",");
	put_u64(j, "total", s->total);
	put(j, ",");
	put_sha256(j, "total_sha256", s->total_sha256);
	put(j, "}");
}

static void put_exit(struct json *j, const struct event_outcome *o)
{
	if (o->exit_kind == EXIT_ABSENT)
		return;
	put(j, "\"exit\":{");
	put_u64(
	    j, o->exit_kind == EXIT_CODE ? "code" : "signal", o->exit_value);
	put(j, "},");
}

static void put_failed(
    struct json *j, const struct event_outcome *o, const char *remedy)
{
	if (o->step[0] == '\0')
		return;
	put(j, "\"failed\":{");
	put_u64(j, "errno", o->step_errno);
	put(j, ",");
	put_key_text(j, "remedy", remedy);
	put(j, ",");
	put_key_text(j, "step", o->step);
	put(j, "},");
}

static int compare_limits(const void *a, const void *b)
{
	return strcmp(((const struct event_limit *)a)->name,
	    ((const struct event_limit *)b)->name);
}

static void put_limits(struct json *j, const struct event_intent *intent)
{
	struct event_limit sorted[EVENT_LIMITS_MAX];
	size_t n = (size_t)intent->limits.n;

	memcpy(sorted, intent->limits.items, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_limits);
	put(j, "\"limits\":{");
	for (size_t i = 0; i < n; i++) {
		put(j, i > 0 ? "," : "");
		if (sorted[i].value == EVENT_UNLIMITED)
			put_key_text(j, sorted[i].name, "unlimited");
		else
			put_u64(j, sorted[i].name, sorted[i].value);
	}
	put(j, "},");
}

static int compare_steps(const void *a, const void *b)
{
	return strcmp(((const struct event_step *)a)->name,
	    ((const struct event_step *)b)->name);
}

static void put_timing(struct json *j, const struct event_outcome *o)
{
	struct event_step sorted[EVENT_STEPS_MAX];
	size_t n = (size_t)o->timing.n;

	memcpy(sorted, o->timing.items, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare_steps);
	put(j, "\"timing\":{");
	for (size_t i = 0; i < n; i++) {
		put(j, i > 0 ? "," : "");
		put_u64(j, sorted[i].name, sorted[i].us);
	}
	put(j, "},");
}

/* Why a file was not kept; by enum collect_why. */
static const char *const skip_words[COLLECT_WHY_N] = {
	[COLLECT_LINK] = "link",
	[COLLECT_SPECIAL] = "special",
	[COLLECT_FOREIGN] = "foreign",
	[COLLECT_LIMIT] = "artifacts",
	[COLLECT_NAME] = "name",
	[COLLECT_READ] = "unreadable",
	[COLLECT_WRITE] = "disk",
	[COLLECT_BYTES] = "artifact_bytes",
	[COLLECT_DEPTH] = "artifact_depth",
	[COLLECT_PLOTS] = "plots",
	[COLLECT_PLOT_BYTES] = "plot_bytes",
	[COLLECT_PATTERN] = "pattern",
};

void result_skipped_name(
    const uint8_t *name, size_t len, struct result_skipped *ret)
{
	struct error too_long;

	/* A byte takes three at most. */
	ret->cut = false;
	while (text_percent_encode(
	           name, len, ret->name, sizeof(ret->name), &too_long) < 0) {
		ret->cut = true;
		len = len >= EVENT_NAME_MAX ? EVENT_NAME_MAX - 1 : len - 1;
	}
}

static void put_skipped(struct json *j, const struct result_facts *f)
{
	if (f->n_skipped == 0)
		return;
	put(j, ",\"skipped_names\":[");
	for (size_t i = 0; i < f->n_skipped; i++) {
		const struct result_skipped *s = &f->skipped[i];

		put(j, i > 0 ? ",{" : "{");
		put(j, s->cut ? "\"cut\":true," : "");
		put_key_text(j, "name", s->name);
		put(j, ",");
		put_key_text(j, "why", skip_words[s->why]);
		put(j, "}");
	}
	put(j, "]");
}

static void put_audit_and_decision(struct json *j, const struct result_facts *f)
{
	put(j, "{\"audit\":{");
	put_sha256(j, "leaf", f->outcome->intent_leaf);
	put(j, ",");
	put_u64(j, "seq", f->outcome->intent_seq);
	put(j, "},\"decision\":\"allow\",");
	put_words(
	    j, "degraded", f->outcome->degraded.items, f->outcome->degraded.n);
	put(j, ",");
	put_exit(j, f->outcome);
	put_failed(j, f->outcome, f->remedy);
	put(j, "\"files\":{");
	put_u64(j, "bytes", f->outcome->files_bytes);
	put(j, ",");
	put_u64(j, "count", f->outcome->files_count);
	put(j, ",");
	if (j->failed == 0)
		j->failed =
		    result_files_json(f->files, f->n_files, j->out, j->e);
	put(j, ",");
	put_u64(j, "skipped", f->outcome->files_skipped);
	put_skipped(j, f);
	put(j, "},");
}

static void put_policy_and_principal(
    struct json *j, const struct event_intent *intent)
{
	put(j, "\"policy\":{");
	put_sha256(j, "file", intent->policy.file);
	put(j, ",");
	put_key_text(j, "name", intent->policy.name);
	put(j, ",");
	put_sha256(j, "sha256", intent->policy.sha256);
	put(j, "},\"principal\":{");
	put_key_text(j, "auth", intent->principal.auth);
	put(j, ",");
	put_u64(j, "gid", intent->principal.gid);
	put(j, ",");
	put_u64(j, "uid", intent->principal.uid);
	put(j, "},");
}

static void put_use(struct json *j, const struct event_outcome *o)
{
	put(j, "\"use\":{");
	put_u64(j, "cpu_us", o->cpu_us);
	put(j, ",");
	if (o->memory_peak != 0) {
		put_u64(j, "memory_peak", o->memory_peak);
		put(j, ",");
	}
	if (o->pids_peak != 0) {
		put_u64(j, "pids_peak", o->pids_peak);
		put(j, ",");
	}
	put_u64(j, "wall_us", o->wall_us);
	put(j, "},\"v\":1,");
}

int result_json(
    const struct result_facts *f, struct text_out *out, struct error *e)
{
	char run[2 * EVENT_RUN_BYTES + 3] = "r_";
	struct json j = { out, e, 0 };
	const struct event_outcome *o = f->outcome;

	for (size_t i = 0; i < EVENT_RUN_BYTES; i++) {
		run[2 + 2 * i] = "0123456789abcdef"[o->run[i] >> 4];
		run[3 + 2 * i] = "0123456789abcdef"[o->run[i] & 15];
	}
	put_audit_and_decision(&j, f);
	if (j.failed == 0)
		j.failed = result_inputs_json(f->inputs, f->n_inputs, out, e);
	if (o->killed_by != KILLER_NONE) {
		put_key_text(&j, "killed_by", killer_word(o->killed_by));
		put(&j, ",");
	}
	put_key_text(&j, "lang", f->intent->lang);
	put(&j, ",");
	put_limits(&j, f->intent);
	put_key_text(&j, "phase", phase_word(o->phase));
	put(&j, ",");
	put_policy_and_principal(&j, f->intent);
	put_key_text(&j, "req", run);
	put(&j, ",");
	put_words(&j, "rules", f->intent->rules.items, f->intent->rules.n);
	put(&j, ",");
	put_key_text(&j, "start", o->start);
	put(&j, ",");
	put_key_text(&j, "status", status_word(o->status));
	put(&j, ",");
	put_stream(&j, "stderr", &o->err);
	put(&j, ",");
	put_stream(&j, "stdout", &o->out);
	put(&j, ",");
	put_timing(&j, o);
	put_use(&j, o);
	put_words(&j, "viol", o->viol.items, o->viol.n);
	put(&j, "}\n");
	return j.failed;
}

/* Digits that end in 'end', which follow 'at'. */
static int read_number(
    const char *at, char end, uint64_t max, uint64_t *ret, struct error *e)
{
	const struct number_range range = { 0, max };
	char digits[24] = "";
	size_t n = strspn(at, "0123456789");

	if (n >= sizeof(digits) || at[n] != end)
		return FAIL(e, ERROR_MALFORMED, "not a number of result.json");
	memcpy(digits, at, n);
	return number_parse(digits, "result.json", range, ret, e);
}

int result_json_uid(const char *text, uint32_t *ret_uid, struct error *e)
{
	static const char key[] =
	    ",\"principal\":{\"auth\":\"peercred\",\"gid\":";
	static const char middle[] = ",\"uid\":";
	const char *at = strstr(text, key);
	uint64_t uid;

	if (at == NULL)
		return FAIL(e, ERROR_MALFORMED, "no principal");
	at += sizeof(key) - 1;
	at += strspn(at, "0123456789");
	if (strncmp(at, middle, sizeof(middle) - 1) != 0)
		return FAIL(e, ERROR_MALFORMED, "no uid");
	if (read_number(at + sizeof(middle) - 1, '}', UINT32_MAX, &uid, e) < 0)
		return -1;
	*ret_uid = (uint32_t)uid;
	return 0;
}

int result_json_files(const char *text, uint64_t *ret_bytes, struct error *e)
{
	static const char key[] = "\"files\":{\"bytes\":";
	const char *at = strstr(text, key);

	if (at == NULL)
		return FAIL(e, ERROR_MALFORMED, "no files");
	return read_number(
	    at + sizeof(key) - 1, ',', (UINT64_C(1) << 53) - 1, ret_bytes, e);
}

bool result_json_is_of(const char *text, const char *policy)
{
	static const char key[] = ",\"policy\":{\"file\":\"";
	static const char middle[] = "\",\"name\":\"";
	const char *at = strstr(text, key);
	size_t len = strlen(policy);

	if (at == NULL)
		return false;
	at += sizeof(key) - 1;
	at += strspn(at, "0123456789abcdef");
	if (strncmp(at, middle, sizeof(middle) - 1) != 0)
		return false;
	at += sizeof(middle) - 1;
	return strncmp(at, policy, len) == 0 && at[len] == '"';
}
