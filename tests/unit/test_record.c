/*
 * tests/unit/test_record.c - the golden log, rebuilt from typed events with
 * the keys, clock and salts of its generator, byte for byte; and what must
 * never become a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/record.h"
#include "audit/tree.h"
#include "base/sha256.h"

#define GOLDEN TEST_SOURCE_DIR "/tests/audit/vectors/log.jsonl"

struct builder {
	struct record_frame frame;
	uint8_t log_secret[RECORD_SECRET];
	uint8_t record_secret[3][RECORD_SECRET];
	uint8_t record_public[3][32];
	uint8_t salt[RECORD_SALT];
	uint8_t leaves[16][32];
	struct event_hello hello;
	struct event_intent intent, good;
	struct event_denial denial;
	struct event_outcome outcome;
	struct record_line line;
	char want[EVENT_LINE_MAX + 2];
	FILE *golden;
};

static void digest_of(const char *text, uint8_t ret[32])
{
	sha256_of(text, strlen(text), ret);
}

static void unhex(const char *text, uint8_t *ret, size_t len)
{
	assert_int_equal(
	    sodium_hex2bin(ret, len, text, 2 * len, NULL, NULL, NULL), 0);
}

static void seeded(uint8_t seed_byte, uint8_t ret_public[32], uint8_t *ret)
{
	uint8_t seed[32];

	memset(seed, seed_byte, sizeof(seed));
	assert_int_equal(crypto_sign_seed_keypair(ret_public, ret, seed), 0);
}

static void fill_hello(struct event_hello *hello)
{
	/* Out of order on purpose: sorting is the record's own business. */
	static const char *const programs[] = { "tracer", "bailiff", "launch",
		"collect", "supervisor", "signer" };
	char text[64];

	for (size_t i = 0; i < 6; i++) {
		struct event_build *b = &hello->builds.items[i];

		(void)snprintf(
		    b->program, sizeof(b->program), "%s", programs[i]);
		(void)snprintf(
		    text, sizeof(text), "build of %s\n", programs[i]);
		digest_of(text, b->sha256);
	}
	hello->builds.n = 6;
}

static int set_up(void **state)
{
	struct builder *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	assert_true(sodium_init() >= 0);
	unhex("6f1d2c3b4a5968778695a4b3c2d1e0f0", b->frame.log, 16);
	unhex("5f0c3b7e9d1a4c2b8e6f7a9b0c1d2e3f", b->frame.boot, 16);
	seeded(1, b->frame.log_key, b->log_secret);
	seeded(2, b->record_public[0], b->record_secret[0]);
	seeded(3, b->record_public[1], b->record_secret[1]);
	seeded(5, b->record_public[2], b->record_secret[2]);
	fill_hello(&b->hello);
	b->golden = fopen(GOLDEN, "re");
	assert_non_null(b->golden);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct builder *b = *state;

	(void)fclose(b->golden);
	free(b);
	return 0;
}

/* Build one record, compare it with the next golden line, move on. */
static void next_is(struct builder *b, struct record r)
{
	char *want = b->want;
	struct error e = { 0 };
	uint64_t seq = b->frame.seq;
	size_t len;

	b->frame.mono_ns = 1000000000 + seq;
	/* 2026-11-30T18:00:00Z */
	b->frame.time_us = (1796061600 + seq) * 1000000;
	for (size_t i = 0; i < RECORD_SALT; i++)
		b->salt[i] = (uint8_t)(seq * 32 + i);
	r.frame = &b->frame;
	r.salt = b->salt;
	if (record_build(&r, b->record_secret[b->frame.epoch], &b->line, &e) <
	    0)
		fail_msg("record %u: %s", (unsigned)seq, e.text);

	assert_non_null(fgets(want, sizeof(b->want), b->golden));
	len = strcspn(want, "\n");
	b->line.data[b->line.len] = '\0';
	want[len] = '\0';
	assert_string_equal(b->line.data, want);
	tree_leaf(b->line.data, b->line.len, b->leaves[seq]);
	memcpy(b->frame.prev, b->leaves[seq], 32);
	b->frame.seq++;
}

static void set_word(struct event_word *w, const char *text)
{
	(void)snprintf(w->text, sizeof(w->text), "%s", text);
}

static void fill_policy(struct event_policy *p, struct event_principal *who)
{
	(void)snprintf(p->name, sizeof(p->name), "default");
	digest_of("effective policy v1\n", p->sha256);
	digest_of("{\"preset\":\"default\"}\n", p->file);
	(void)snprintf(who->auth, sizeof(who->auth), "peercred");
	who->uid = 1000;
	who->gid = 1000;
}

#define CODE     "import sys\nprint(sum(map(int, sys.stdin)))\n"
#define SLOW     "#include <cstdio>\nint main() { for (;;) std::puts(\"tick\"); }\n"
#define RAW      "{\"language\":\"python\",\"code\":7"
#define RUN_OK   "00112233445566778899aabbccddeeff"
#define RUN_SLOW "8899aabbccddeeff0011223344556677"

struct limits {
	uint64_t out, wall_ms;
};

static void fill_intent(struct builder *b, struct limits limits)
{
	struct event_intent *in = &b->intent;
	const struct event_limit list[] = {
		{ "wall_ms", limits.wall_ms },
		{ "cpu_ms", 1000 },
		{ "memory", 268435456 },
		{ "pids", 16 },
		{ "stdout", limits.out },
	};

	in->rules.n = 1;
	memcpy(in->limits.items, list, sizeof(list));
	in->limits.n = 5;
	sha256_of("LANG=C.UTF-8", 13, in->env_sha256);
	in->env_count = 1;
	fill_policy(&in->policy, &in->principal);
	digest_of("build of launch\n", in->sandbox_build);
	digest_of("view v1\n", in->sandbox_view);
}

static void first_intent(struct builder *b)
{
	struct event_intent *in = &b->intent;
	uint8_t list[32];
	char hex[SHA256_HEX];
	char text[128];

	memset(in, 0, sizeof(*in));
	fill_intent(b, (struct limits){ 65536, 5000 });
	unhex(RUN_OK, in->run, 16);
	set_word(&in->rules.items[0], "language.python");
	(void)snprintf(in->lang, sizeof(in->lang), "python");
	digest_of(CODE, in->code_sha256);
	in->code_size = strlen(CODE);
	digest_of("3\n4\n", in->stdin_sha256);
	in->stdin_size = 4;
	sha256_of("--fast", 7, in->args_sha256);
	in->args_count = 1;
	digest_of("a,b\n1,2\n", list);
	sha256_hex(list, hex);
	(void)snprintf(text, sizeof(text), "%s  data.csv\n", hex);
	digest_of(text, in->inputs_sha256);
	in->inputs_count = 1;
	(void)snprintf(in->claims.client, 32, "example-client");
	(void)snprintf(in->claims.version, 32, "1.4.0");
	(void)snprintf(in->claims.request, 32, "17");
	(void)snprintf(in->claims.label, 32, "monthly%%20sum");
	(void)snprintf(in->claims.traceparent, 64,
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
	next_is(b, (struct record){ .type = RECORD_INTENT, .intent = in });
}

static void second_intent(struct builder *b)
{
	struct event_intent *in = &b->intent;

	memset(in, 0, sizeof(*in));
	fill_intent(b, (struct limits){ 50, 250 });
	unhex(RUN_SLOW, in->run, 16);
	set_word(&in->rules.items[0], "language.cpp");
	(void)snprintf(in->lang, sizeof(in->lang), "cpp");
	digest_of(SLOW, in->code_sha256);
	in->code_size = strlen(SLOW);
	digest_of("", in->stdin_sha256);
	digest_of("", in->args_sha256);
	digest_of("", in->inputs_sha256);
	next_is(b, (struct record){ .type = RECORD_INTENT, .intent = in });
}

static void fill_stream(struct event_stream *s, const char *text)
{
	digest_of(text, s->sha256);
	s->size = strlen(text);
	digest_of(text, s->total_sha256);
	s->total = s->size;
}

static void add_step(struct event_outcome *o, const char *name, uint64_t us)
{
	struct event_step *s = &o->timing.items[o->timing.n++];

	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	s->us = us;
}

static void add_subject(
    struct event_outcome *o, const char *name, const char *text)
{
	struct event_subject *s = &o->subjects.items[o->subjects.n++];

	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	digest_of(text, s->sha256);
	o->files_count++;
	o->files_bytes += strlen(text);
}

static void fill_outcome(struct builder *b, uint64_t intent_seq)
{
	struct event_outcome *o = &b->outcome;

	memset(o, 0, sizeof(*o));
	o->intent_seq = intent_seq;
	memcpy(o->intent_leaf, b->leaves[intent_seq], 32);
	o->has = OUTCOME_HAS_OUTPUT | OUTCOME_HAS_USE | OUTCOME_HAS_POSTURE |
	         OUTCOME_HAS_TRACE;
	o->phase = PHASE_RUN;
	digest_of("posture v1\n", o->posture_sha256);
	o->posture_steps = 31;
	o->pids_peak = 1;
	o->trace_complete = 1;
	(void)snprintf(o->trace_tier, sizeof(o->trace_tier), "bpf");
	fill_stream(&o->err, "");
}

static void first_outcome(struct builder *b)
{
	static const char trace[] =
	    "{\"e\":\"exec\",\"path\":\"/usr/bin/python3\"}\n"
	    "{\"e\":\"open\",\"path\":\"/sandbox/plot.svg\"}\n"
	    "{\"e\":\"exit\",\"code\":0}\n";
	struct event_outcome *o = &b->outcome;

	fill_outcome(b, 1);
	unhex(RUN_OK, o->run, 16);
	o->status = STATUS_OK;
	o->exit_kind = EXIT_CODE;
	fill_stream(&o->out, "7\n");
	o->cpu_us = 18000;
	o->wall_us = 21000;
	o->memory_peak = 9216000;
	(void)snprintf(o->start, sizeof(o->start), "cold");
	unhex(
	    "0ae69a0bcb44c13ff8bbb1b7ec99fa2da4f1ec86ca34e5323636e2479de323f7",
	    o->manifest, 32);
	add_step(o, "setup", 2300);
	add_step(o, "run", 21000);
	add_step(o, "collect", 400);
	add_step(o, "decide", 90);
	add_step(o, "intent", 4100);
	add_subject(o, "files/sum.txt", "sum 7\n");
	add_subject(o, "files/plot.svg", "<svg/>\n");
	o->trace_events = 3;
	o->trace_bytes = strlen(trace);
	digest_of(trace, o->trace_sha256);
	next_is(b, (struct record){ .type = RECORD_OUTCOME, .outcome = o });
}

static void second_outcome(struct builder *b)
{
	static const char trace[] =
	    "{\"e\":\"exec\",\"path\":\"/sandbox/main\"}\n"
	    "{\"e\":\"kill\",\"signal\":9}\n";
	struct event_outcome *o = &b->outcome;
	char tick[1001] = "";

	for (size_t i = 0; i < 200; i++)
		memcpy(tick + i * 5, "tick\n", 6);
	fill_outcome(b, 5);
	unhex(RUN_SLOW, o->run, 16);
	o->status = STATUS_TIMEOUT;
	o->killed_by = KILLER_WALL;
	o->exit_kind = EXIT_SIGNAL;
	o->exit_value = 9;
	fill_stream(&o->out, tick);
	o->out.size = 50;
	sha256_of(tick, 50, o->out.sha256);
	o->cpu_us = 240000;
	o->wall_us = 250000;
	o->memory_peak = 4096000;
	(void)snprintf(o->start, sizeof(o->start), "warm");
	unhex(
	    "8ea9d9b8ba9512e8bb6a0bf73b340035b4c2f471d8a183ed602cb40527ca86d3",
	    o->manifest, 32);
	o->phases.n = 2;
	o->phases.items[0] =
	    (struct event_phase){ PHASE_COMPILE, EXIT_CODE, 0, 310000, 330000 };
	o->phases.items[1] =
	    (struct event_phase){ PHASE_RUN, EXIT_SIGNAL, 9, 240000, 250000 };
	add_step(o, "compile", 330000);
	add_step(o, "collect", 300);
	add_step(o, "decide", 80);
	add_step(o, "intent", 4000);
	add_step(o, "run", 250000);
	add_step(o, "setup", 1900);
	o->trace_events = 2;
	o->trace_bytes = strlen(trace);
	digest_of(trace, o->trace_sha256);
	next_is(b, (struct record){ .type = RECORD_OUTCOME, .outcome = o });
}

static void denials(struct builder *b)
{
	struct event_denial *d = &b->denial;

	memset(d, 0, sizeof(*d));
	unhex("ffeeddccbbaa99887766554433221100", d->run, 16);
	d->has = DENIAL_HAS_CODE | DENIAL_HAS_LIMITS;
	d->rules.n = 1;
	set_word(&d->rules.items[0], "language.python");
	d->reasons.n = 3;
	set_word(&d->reasons.items[0], "path.traversal");
	set_word(&d->reasons.items[1], "limit.wall.above_max");
	set_word(&d->reasons.items[2], "path.traversal");
	(void)snprintf(d->lang, sizeof(d->lang), "python");
	digest_of(CODE, d->code_sha256);
	d->code_size = strlen(CODE);
	d->limits.n = 1;
	d->limits.items[0] = (struct event_limit){ "wall_ms", 9000000 };
	fill_policy(&d->policy, &d->principal);
	(void)snprintf(d->claims.client, 32, "example-client");
	next_is(b, (struct record){ .type = RECORD_DENIAL, .denial = d });

	memset(d, 0, sizeof(*d));
	unhex("7766554433221100ffeeddccbbaa9988", d->run, 16);
	d->has = DENIAL_HAS_RAW;
	d->reasons.n = 1;
	set_word(&d->reasons.items[0], "request.malformed");
	digest_of(RAW, d->raw_sha256);
	d->raw_size = strlen(RAW);
	fill_policy(&d->policy, &d->principal);
	next_is(b, (struct record){ .type = RECORD_DENIAL, .denial = d });
}

static void open_epoch(struct builder *b, enum record_type type)
{
	struct record_opening o = { .hello = &b->hello };
	uint64_t epoch = b->frame.epoch;

	o.origin = "localhost/bailiff/6f1d2c3b4a5968778695a4b3c2d1e0f0";
	memcpy(o.record_key, b->record_public[epoch], 32);
	sha256_of(b->record_public[epoch + 1], 32, o.next);
	assert_int_equal(crypto_sign_detached(o.proof, NULL, b->frame.prev, 32,
	                     b->record_secret[epoch]),
	    0);
	next_is(b, (struct record){ .type = type, .opening = &o });
}

static void golden_log_is_rebuilt_byte_for_byte(void **state)
{
	struct builder *b = *state;
	struct record_closing stop = { "stop", 7 };
	struct record_closing last = { NULL, 9 };

	open_epoch(b, RECORD_LOG_OPEN);
	first_intent(b);
	first_outcome(b);
	denials(b);
	second_intent(b);
	second_outcome(b);
	next_is(
	    b, (struct record){ .type = RECORD_EPOCH_CLOSE, .closing = &stop });
	b->frame.epoch = 1;
	open_epoch(b, RECORD_EPOCH_OPEN);
	next_is(
	    b, (struct record){ .type = RECORD_LOG_CLOSE, .closing = &last });
	assert_int_equal(fgetc(b->golden), EOF);
}

static void refused(
    struct builder *b, enum record_type type, void *event, enum error_kind kind)
{
	struct record r = { .type = type,
		.frame = &b->frame,
		.salt = b->salt,
		.intent = event };
	struct error e = { 0 };

	assert_int_equal(
	    record_build(&r, b->record_secret[0], &b->line, &e), -1);
	assert_int_equal(e.kind, kind);
}

static void texts_outside_the_profile_are_malformed(void **state)
{
	static const char *const bad[] = { "a\"b", "a\\b", "a\nb", "\x7f",
		"caf\xc3\xa9", "" };
	struct builder *b = *state;
	struct event_intent *in = &b->intent;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(in, 0, sizeof(*in));
		fill_intent(b, (struct limits){ 1, 1 });
		set_word(&in->rules.items[0], "language.x");
		(void)snprintf(in->lang, sizeof(in->lang), "%s", bad[i]);
		refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
	}
}

static void rules_limits_claims_and_numbers_are_checked(void **state)
{
	struct builder *b = *state;
	struct event_intent *in = &b->intent;

	memset(in, 0, sizeof(*in));
	fill_intent(b, (struct limits){ 1, 1 });
	set_word(&in->rules.items[0], "language.x");
	(void)snprintf(in->lang, sizeof(in->lang), "x");
	b->good = *in;

	set_word(&in->rules.items[0], "Language X");
	refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
	*in = b->good;
	(void)snprintf(in->limits.items[0].name, 8, "a-b");
	refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
	*in = b->good;
	(void)snprintf(in->limits.items[0].name, 8, "pids");
	refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
	*in = b->good;
	in->code_size = (uint64_t)1 << 53;
	refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
	*in = b->good;
	(void)snprintf(in->claims.label, 8, "a b");
	refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
	*in = b->good;
	(void)snprintf(in->claims.label, 8, "a%%41");
	refused(b, RECORD_INTENT, in, ERROR_MALFORMED);
}

static void words_of_an_outcome_are_closed_lists(void **state)
{
	struct builder *b = *state;
	struct event_outcome *o = &b->outcome;

	fill_outcome(b, 1);
	o->status = STATUS_DENIED;
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->status = STATUS_ABORTED;
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->status = STATUS_N;
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->status = STATUS_OK;
	o->phase = PHASE_N;
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->phase = PHASE_RUN;
	o->killed_by = KILLER_N;
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->killed_by = KILLER_NONE;
	o->exit_kind = 7;
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->exit_kind = EXIT_ABSENT;
	(void)snprintf(o->start, sizeof(o->start), "tepid");
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
	o->start[0] = '\0';
	o->subjects.n = 1;
	(void)snprintf(o->subjects.items[0].name, 16, "stdout");
	refused(b, RECORD_OUTCOME, o, ERROR_MALFORMED);
}

static void what_a_run_did_not_reach_is_absent(void **state)
{
	struct builder *b = *state;
	struct event_outcome *o = &b->outcome;
	struct record r = {
		.type = RECORD_OUTCOME, .frame = &b->frame, .outcome = o
	};
	struct error e = { 0 };

	memset(o, 0, sizeof(*o));
	o->status = STATUS_ERROR;
	o->phase = PHASE_SETUP;
	(void)snprintf(o->step, sizeof(o->step), "mounts");
	o->step_errno = 1;
	assert_int_equal(
	    record_build(&r, b->record_secret[0], &b->line, &e), 0);
	b->line.data[b->line.len] = '\0';
	assert_non_null(strstr(
	    b->line.data, "\"failed\":{\"errno\":1,\"step\":\"mounts\"}"));
	assert_non_null(strstr(b->line.data, "\"name\":\"log-key\""));
	assert_null(strstr(b->line.data, "\"stdout\""));
	assert_null(strstr(b->line.data, "\"posture\""));
	assert_null(strstr(b->line.data, "\"exit\""));
	assert_null(strstr(b->line.data, "\"trace\""));
}

static void largest_outcome_fits_in_a_line(void **state)
{
	struct builder *b = *state;
	struct event_outcome *o = &b->outcome;
	struct record r = {
		.type = RECORD_OUTCOME, .frame = &b->frame, .outcome = o
	};
	struct error e = { 0 };

	/* The largest outcome that the codec can carry fits, with room. */
	fill_outcome(b, 1);
	o->subjects.n = EVENT_SUBJECTS_MAX;
	for (size_t i = 0; i < EVENT_SUBJECTS_MAX; i++) {
		struct event_subject *s = &o->subjects.items[i];

		memset(s->name, 'x', sizeof(s->name) - 1);
		memcpy(s->name, "files/", 6);
		s->name[6] = (char)('A' + i / 16);
		s->name[7] = (char)('a' + i % 16);
	}
	assert_int_equal(
	    record_build(&r, b->record_secret[0], &b->line, &e), 0);
	assert_in_range(b->line.len, 38000, EVENT_LINE_MAX);
}

static void times_are_utc_with_six_decimals(void **state)
{
	char text[RECORD_TIME_MAX];

	(void)state;
	record_time(1796061600000001, text);
	assert_string_equal(text, "2026-11-30T18:00:00.000001Z");
	record_time(951782399999999, text);
	assert_string_equal(text, "2000-02-28T23:59:59.999999Z");
	/* Every day until 2200 as the C library has it. */
	for (time_t day = 0; day < 84000; day++) {
		time_t seconds = day * 86400 + 86399;
		char want[RECORD_TIME_MAX];
		struct tm tm;

		assert_non_null(gmtime_r(&seconds, &tm));
		assert_true(strftime(want, sizeof(want),
		                "%Y-%m-%dT%H:%M:%S.000000Z", &tm) > 0);
		record_time((uint64_t)seconds * 1000000, text);
		assert_string_equal(text, want);
		assert_int_equal(
		    record_time_read(text), (uint64_t)seconds * 1000000);
	}
}

/* -1 and the kind of the refusal; 0 when the record is built. */
static int build(struct builder *b, struct record r, enum error_kind *kind)
{
	struct error e = { 0 };

	r.frame = &b->frame;
	if (record_build(&r, b->record_secret[0], &b->line, &e) == 0)
		return 0;
	*kind = e.kind;
	return -1;
}

static void gaps_prunes_and_names_are_checked(void **state)
{
	struct builder *b = *state;
	struct event_gap gap = { .reason = GAP_BUSY, .refused = 1 };
	struct event_access access = { .principal.auth = "peercred" };
	struct event_prune *prune = calloc(1, sizeof(*prune));
	struct record r = { .type = RECORD_GAP, .gap = &gap };
	enum error_kind kind = ERROR_NONE;

	assert_non_null(prune);
	assert_int_equal(build(b, r, &kind), 0);
	gap.refused = 0;
	assert_int_equal(build(b, r, &kind), -1);
	gap = (struct event_gap){ .refused = 1, .from_us = 2, .to_us = 1 };
	assert_int_equal(build(b, r, &kind), -1);
	gap = (struct event_gap){ .refused = 1, .reason = GAP_N };
	assert_int_equal(build(b, r, &kind), -1);
	assert_int_equal(kind, ERROR_MALFORMED);

	r = (struct record){ .type = RECORD_ACCESS, .access = &access };
	assert_int_equal(build(b, r, &kind), 0);
	(void)snprintf(access.name, sizeof(access.name), "files/a%%20b");
	assert_int_equal(build(b, r, &kind), 0);
	(void)snprintf(access.name, sizeof(access.name), "files/a b");
	assert_int_equal(build(b, r, &kind), -1);

	r = (struct record){ .type = RECORD_PRUNE, .prune = prune };
	(void)snprintf(prune->policy.name, sizeof(prune->policy.name), "p");
	assert_int_equal(build(b, r, &kind), -1);
	prune->runs.n = 2;
	assert_int_equal(build(b, r, &kind), -1); /* one run, twice */
	prune->runs.items[1].run[0] = 1;
	assert_int_equal(build(b, r, &kind), 0);
	prune->reason = PRUNE_N;
	assert_int_equal(build(b, r, &kind), -1);
	free(prune);
}

/* 64 runs are the most that one record names. */
static void the_largest_prune_and_redaction_fit_in_a_line(void **state)
{
	struct builder *b = *state;
	struct event_principal who = { .auth = "peercred" };
	struct event_prune *prune = calloc(1, sizeof(*prune));
	struct record_redact *redact = calloc(1, sizeof(*redact));
	struct record r = { .type = RECORD_PRUNE, .prune = prune };
	enum error_kind kind = ERROR_NONE;

	assert_true(prune != NULL && redact != NULL);
	(void)snprintf(prune->policy.name, sizeof(prune->policy.name), "p");
	prune->runs.n = EVENT_BATCH_MAX;
	redact->principal = &who;
	redact->n = EVENT_BATCH_MAX;
	for (size_t i = 0; i < EVENT_BATCH_MAX; i++) {
		prune->runs.items[i].run[3] = (uint8_t)i;
		redact->salts[i].seq = UINT64_C(1) << 52;
		redact->salts[i].epoch = UINT64_C(1) << 52;
	}
	assert_int_equal(build(b, r, &kind), 0);
	r = (struct record){ .type = RECORD_REDACT, .redact = redact };
	assert_int_equal(build(b, r, &kind), 0);
	assert_true(b->line.len < EVENT_LINE_MAX / 4);
	free(prune);
	free(redact);
}

static void what_is_omitted_has_no_commitment(void **state)
{
	struct builder *b = *state;
	struct record r = {
		.type = RECORD_INTENT, .intent = &b->intent, .salt = b->salt
	};
	enum error_kind kind = ERROR_NONE;
	char *end;

	(void)snprintf(b->intent.lang, EVENT_WORD_MAX, "python");
	(void)snprintf(b->intent.policy.name, EVENT_WORD_MAX, "p");
	(void)snprintf(b->intent.principal.auth, EVENT_WORD_MAX, "peercred");
	b->intent.omits = INTENT_OMITS_ARGS | INTENT_OMITS_STDIN;
	assert_int_equal(build(b, r, &kind), 0);
	end = b->line.data + b->line.len;
	*end = '\0';
	assert_non_null(strstr(b->line.data, "\"args\":{\"count\":0}"));
	assert_non_null(strstr(b->line.data, "\"stdin\":{\"size\":0}"));
	assert_non_null(strstr(b->line.data, "\"env\":{\"commit\":"));
}

#define WITH_BUILDER(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BUILDER(golden_log_is_rebuilt_byte_for_byte),
		WITH_BUILDER(texts_outside_the_profile_are_malformed),
		WITH_BUILDER(rules_limits_claims_and_numbers_are_checked),
		WITH_BUILDER(words_of_an_outcome_are_closed_lists),
		WITH_BUILDER(what_a_run_did_not_reach_is_absent),
		WITH_BUILDER(largest_outcome_fits_in_a_line),
		WITH_BUILDER(gaps_prunes_and_names_are_checked),
		WITH_BUILDER(the_largest_prune_and_redaction_fit_in_a_line),
		WITH_BUILDER(what_is_omitted_has_no_commitment),
		cmocka_unit_test(times_are_utc_with_six_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
