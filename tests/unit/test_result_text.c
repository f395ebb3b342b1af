/*
 * tests/unit/test_result_text.c - result.json is canonical and bounded,
 * MANIFEST is what sha256sum reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "audit/words.h"
#include "executor/collect.h"
#include "executor/result_text.h"

struct both {
	struct event_intent intent;
	struct event_outcome outcome;
	struct result_skipped skipped[RESULT_SKIPPED_MAX];
	size_t n_skipped;
	struct result_input inputs[PROTOCOL_INPUTS_MAX];
	size_t n_inputs;
	struct result_file *files; /* borrowed */
	size_t n_files;
};

static struct both *make(void)
{
	struct both *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	memset(b->outcome.run, 0xab, sizeof(b->outcome.run));
	b->outcome.status = STATUS_ERROR;
	b->outcome.phase = PHASE_RUN;
	b->outcome.exit_kind = EXIT_CODE;
	b->outcome.exit_value = 3;
	b->outcome.intent_seq = 7;
	(void)snprintf(b->outcome.start, sizeof(b->outcome.start), "cold");
	b->outcome.timing.n = 2;
	(void)snprintf(b->outcome.timing.items[0].name, 8, "run");
	(void)snprintf(b->outcome.timing.items[1].name, 8, "build");
	(void)snprintf(b->intent.lang, sizeof(b->intent.lang), "python");
	(void)snprintf(b->intent.principal.auth,
	    sizeof(b->intent.principal.auth), "peercred");
	b->intent.principal.uid = 1234;
	b->intent.principal.gid = 99;
	b->intent.limits.n = 2;
	(void)snprintf(b->intent.limits.items[0].name, 16, "wall_ms");
	b->intent.limits.items[0].value = 5;
	(void)snprintf(b->intent.limits.items[1].name, 16, "output");
	b->intent.limits.items[1].value = EVENT_UNLIMITED;
	return b;
}

/* The text, for the caller to free. */
static char *text_of(const struct both *b, const char *remedy)
{
	const struct result_facts facts = { &b->intent, &b->outcome, b->skipped,
		b->n_skipped, remedy, b->inputs, b->n_inputs, b->files,
		b->n_files };
	char *text = calloc(1, RESULT_JSON_MAX + 1);
	struct text_out out = { text, RESULT_JSON_MAX, 0 };
	struct error e;

	assert_non_null(text);
	if (result_json(&facts, &out, &e) < 0)
		fail_msg("%s", e.text);
	return text;
}

/* Canonical: what jansson writes, compact and sorted, is the same. */
static void check_canonical(const char *text)
{
	json_error_t why;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	char *again;

	if (root == NULL)
		fail_msg("%s at %d", why.text, why.position);
	again = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
	assert_non_null(again);
	assert_int_equal(strlen(again) + 1, strlen(text));
	assert_memory_equal(again, text, strlen(again));
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(again);
	json_decref(root);
}

static void result_json_is_canonical(void **state)
{
	struct both *b = make();
	char *text = text_of(b, "");

	(void)state;
	check_canonical(text);
	assert_non_null(strstr(text, "\"exit\":{\"code\":3}"));
	assert_non_null(strstr(text, "\"output\":\"unlimited\",\"wall_ms\":5"));
	assert_non_null(strstr(text, "\"timing\":{\"build\":0,\"run\":0}"));
	assert_null(strstr(text, "killed_by"));
	assert_null(strstr(text, "failed"));
	free(text);
	free(b);
}

static void a_failed_step_and_a_killer_are_named(void **state)
{
	struct both *b = make();
	char *text;

	(void)state;
	b->outcome.exit_kind = EXIT_ABSENT;
	b->outcome.killed_by = KILLER_OUTPUT;
	b->outcome.step_errno = 28;
	(void)snprintf(b->outcome.step, sizeof(b->outcome.step), "results");
	text = text_of(b, "make room, then \"again\"\n");
	check_canonical(text);
	assert_non_null(strstr(text, "\"failed\":{\"errno\":28,\"remedy\":"));
	assert_non_null(strstr(text, "\"killed_by\":\"output\""));
	assert_null(strstr(text, "\"exit\""));
	free(text);
	free(b);
}

/* More than are listed, each as long as it can be; free() them. */
static struct result_file *make_files(size_t n)
{
	struct result_file *files = calloc(n, sizeof(*files));

	assert_non_null(files);
	for (size_t i = 0; i < n; i++) {
		memset(files[i].name, 'n', EVENT_NAME_MAX - 1);
		memcpy(files[i].name, RESULT_FILES, strlen(RESULT_FILES));
		files[i].size = UINT64_MAX;
		files[i].is_plot = true;
		files[i].picture =
		    (struct picture){ PICTURE_PARQUET, UINT32_MAX, UINT32_MAX };
	}
	return files;
}

static void the_largest_result_json_fits(void **state)
{
	struct both *b = make();
	char *text;

	(void)state;
	b->n_files = RESULT_LISTED_MAX + 100;
	b->files = make_files(b->n_files);
	b->intent.rules.n = EVENT_WORDS_MAX;
	b->outcome.viol.n = EVENT_WORDS_MAX;
	b->outcome.degraded.n = EVENT_WORDS_MAX;
	for (size_t i = 0; i < EVENT_WORDS_MAX; i++) {
		memset(b->intent.rules.items[i].text, 'r', EVENT_WORD_MAX - 1);
		memset(b->outcome.viol.items[i].text, 'v', EVENT_WORD_MAX - 1);
		memset(
		    b->outcome.degraded.items[i].text, 'd', EVENT_WORD_MAX - 1);
	}
	b->outcome.timing.n = EVENT_STEPS_MAX;
	for (size_t i = 0; i < EVENT_STEPS_MAX; i++) {
		(void)snprintf(b->outcome.timing.items[i].name, EVENT_WORD_MAX,
		    "%075zu", i);
		b->outcome.timing.items[i].us = UINT64_MAX;
	}
	b->intent.limits.n = EVENT_LIMITS_MAX;
	for (size_t i = 0; i < EVENT_LIMITS_MAX; i++) {
		(void)snprintf(b->intent.limits.items[i].name, EVENT_WORD_MAX,
		    "%075zu", i);
		b->intent.limits.items[i].value = UINT64_MAX - 1;
	}
	b->n_skipped = RESULT_SKIPPED_MAX;
	for (size_t i = 0; i < RESULT_SKIPPED_MAX; i++) {
		memset(b->skipped[i].name, 'n', EVENT_NAME_MAX - 1);
		b->skipped[i].cut = true;
		b->skipped[i].why = COLLECT_BYTES;
	}
	b->n_inputs = PROTOCOL_INPUTS_MAX;
	for (size_t i = 0; i < b->n_inputs; i++) {
		struct result_input *input = &b->inputs[i];

		input->kind = PROTOCOL_INPUT_FILE;
		memset(input->name, ' ', sizeof(input->name) - 1);
		input->dev = UINT64_MAX;
		input->ino = UINT64_MAX;
		input->size = UINT64_MAX;
	}
	text = text_of(b, "");
	assert_true(strlen(text) < RESULT_JSON_MAX);
	free(b->files);
	free(text);
	free(b);
}

static void skipped_files_are_named_with_their_reason(void **state)
{
	struct both *b = make();
	uint8_t odd[] = { 'a', '\n', '"', 0xff };
	uint8_t long_name[1000];
	char *text;

	(void)state;
	memset(long_name, 0x80, sizeof(long_name));
	b->outcome.files_skipped = 7000;
	b->n_skipped = 2;
	b->skipped[0].why = COLLECT_LINK;
	result_skipped_name(odd, sizeof(odd), &b->skipped[0]);
	b->skipped[1].why = COLLECT_NAME;
	result_skipped_name(long_name, sizeof(long_name), &b->skipped[1]);
	text = text_of(b, "");
	check_canonical(text);
	assert_non_null(strstr(text, "\"skipped\":7000,\"skipped_names\":["
	                             "{\"name\":\"a%0A%22%FF\",\"why\":"
	                             "\"link\"},{\"cut\":true,\"name\":"
	                             "\"%80%80"));
	/* As many whole bytes as fit. */
	assert_int_equal(strlen(b->skipped[1].name), 510);
	free(text);
	free(b);
}

static void the_uid_is_read_back(void **state)
{
	struct both *b = make();
	char *text = text_of(
	    b, ",\"principal\":{\"auth\":\"peercred\",\"gid\":0,\"uid\":0}");
	uint32_t uid = 0;
	struct error e;

	(void)state;
	assert_int_equal(result_json_uid(text, &uid, &e), 0);
	assert_int_equal(uid, 1234);
	free(text);
	free(b);
}

static void a_text_without_a_plain_uid_is_refused(void **state)
{
#define HEAD ",\"principal\":{\"auth\":\"peercred\",\"gid\":"
	static const char *const bad[] = { "", "{}", HEAD, HEAD "1", HEAD "1,",
		HEAD "1,\"uid\":", HEAD "1,\"uid\":}", HEAD "1,\"uid\":-1}",
		HEAD "1,\"uid\":007}", HEAD "1,\"uid\":4294967296}",
		HEAD "1,\"uid\":99999999999999999999}", HEAD "1,\"uid\":5",
		HEAD "1,\"uid\":5,\"x\":1}" };
	uint32_t uid;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(result_json_uid(bad[i], &uid, &e), -1);
}

static void bytes_of_files_and_the_policy_are_read_back(void **state)
{
	static const char text[] =
	    "{\"audit\":{},\"files\":{\"bytes\":4711,\"count\":2},"
	    "\"limits\":{},\"policy\":{\"file\":\"00ff\",\"name\":"
	    "\"default\",\"sha256\":\"00\"},";
	static const char *const bad[] = { "", "\"files\":{\"bytes\":}",
		"\"files\":{\"bytes\":1}", "\"files\":{\"bytes\":x,",
		"\"files\":{\"bytes\":99999999999999999999," };
	uint64_t bytes = 0;
	struct error e;

	(void)state;
	assert_int_equal(result_json_files(text, &bytes, &e), 0);
	assert_int_equal(bytes, 4711);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(result_json_files(bad[i], &bytes, &e), -1);
	assert_true(result_json_is_of(text, "default"));
	assert_false(result_json_is_of(text, "defaul"));
	assert_false(result_json_is_of(text, "default2"));
	assert_false(result_json_is_of("{}", "default"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(result_json_is_canonical),
		cmocka_unit_test(a_failed_step_and_a_killer_are_named),
		cmocka_unit_test(the_largest_result_json_fits),
		cmocka_unit_test(skipped_files_are_named_with_their_reason),
		cmocka_unit_test(the_uid_is_read_back),
		cmocka_unit_test(a_text_without_a_plain_uid_is_refused),
		cmocka_unit_test(bytes_of_files_and_the_policy_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
