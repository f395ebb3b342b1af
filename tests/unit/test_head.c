/*
 * tests/unit/test_head.c - state/head keeps what a start needs, and a damaged
 * one is noticed; the run ids that a signer remembers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "audit/head.h"

struct fixture {
	struct chain_state in, out;
	struct runs runs;
	char text[HEAD_MAX];
	size_t len;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct text_out out = { NULL, HEAD_MAX, 0 };
	struct error e = { 0 };

	assert_non_null(f);
	out.data = f->text;
	for (uint8_t i = 0; i < 11; i++) {
		uint8_t leaf[TREE_HASH] = { i };

		tree_add(&f->in.tree, leaf);
	}
	f->in.epoch = 3;
	f->in.epoch_first = 7;
	f->in.bytes = 12345;
	f->in.ended = true;
	f->in.n_open = CHAIN_OPEN_MAX;
	for (size_t i = 0; i < CHAIN_OPEN_MAX; i++) {
		memset(f->in.open[i].run, (int)i, EVENT_RUN_BYTES);
		memset(f->in.open[i].leaf, (int)i, TREE_HASH);
		f->in.open[i].seq = i % 11;
	}
	memset(f->in.prev, 1, TREE_HASH);
	memset(f->in.next, 2, TREE_HASH);
	memset(f->in.record_key, 3, TREE_HASH);
	assert_int_equal(head_format(&f->in, &out, &e), 0);
	f->len = out.len;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void head_comes_back_as_it_was(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };

	assert_int_equal(head_parse(f->text, f->len, &f->out, &e), 0);
	assert_memory_equal(&f->in, &f->out, sizeof(f->in));
}

static void damaged_head_is_malformed(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	char *root = strstr(f->text, "\"root\":\"");
	char *frontier = strstr(f->text, "\"frontier\":[\"");

	assert_non_null(root);
	assert_non_null(frontier);
	root += 8;
	frontier += 13;
	for (size_t len = 0; len < f->len; len += 97)
		assert_int_equal(head_parse(f->text, len, &f->out, &e), -1);
	*root = *root == '0' ? '1' : '0';
	assert_int_equal(head_parse(f->text, f->len, &f->out, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
	*root = *root == '0' ? '1' : '0';
	*frontier = *frontier == '0' ? '1' : '0';
	assert_int_equal(head_parse(f->text, f->len, &f->out, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
}

static void runs_of_the_last_ten_thousand_are_remembered(void **state)
{
	struct fixture *f = *state;
	uint8_t id[EVENT_RUN_BYTES] = { 0 };
	const uint32_t total = 3 * RUNS_KEPT;

	for (uint32_t i = 0; i < total; i++) {
		/* All in one place of the table, the worst a peer can do. */
		memcpy(id + 8, &i, sizeof(i));
		if (i % 8 == 0)
			memcpy(id, &i, sizeof(i));
		else
			memset(id, 0, 8);
		assert_false(runs_has(&f->runs, id));
		runs_add(&f->runs, id);
		assert_true(runs_has(&f->runs, id));
		if (i == 2000)
			break;
	}
	for (uint32_t i = 0; i < total; i++) {
		memcpy(id, &i, sizeof(i));
		memset(id + 8, 0xff, 8);
		runs_add(&f->runs, id);
	}
	for (uint32_t i = total - RUNS_KEPT; i < total; i++) {
		memcpy(id, &i, sizeof(i));
		assert_true(runs_has(&f->runs, id));
	}
}

#define WITH_HEAD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_HEAD(head_comes_back_as_it_was),
		WITH_HEAD(damaged_head_is_malformed),
		WITH_HEAD(runs_of_the_last_ten_thousand_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
