/*
 * tests/unit/test_retention.c - which of the oldest results go, in which order
 * and for which reason.
 */
#include "executor/retention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW UINT64_C(1000000000)
#define DAY UINT64_C(86400)

/* 'n' folders of 100 bytes, the i-th (n - i) * step_s old: oldest first. */
static struct retention *folders(size_t n, uint64_t step_s)
{
	struct retention *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->n = n;
	r->bytes = 100 * n;
	for (size_t i = 0; i < n; i++) {
		r->oldest[i].run[0] = (uint8_t)i;
		r->oldest[i].run[1] = (uint8_t)(i >> 8);
		r->oldest[i].when_s = NOW - (n - i) * step_s;
		r->oldest[i].bytes = 100;
	}
	return r;
}

static size_t choose(struct retention *r, uint64_t keep_s, uint64_t max_bytes,
    struct event_prune *ret)
{
	const struct retention_rules rules = { "p", keep_s, max_bytes };

	return retention_choose(r, &rules, NOW, ret);
}

static void what_is_older_than_kept_goes_and_nothing_else(void **state)
{
	struct retention *r = folders(10, DAY);
	struct event_prune *p = calloc(1, sizeof(*p));

	(void)state;
	assert_non_null(p);
	assert_int_equal(choose(r, 7 * DAY, UINT64_MAX, p), 3);
	assert_int_equal(p->reason, PRUNE_AGE);
	assert_int_equal(p->bytes, 300);
	for (uint8_t i = 0; i < 3; i++)
		assert_int_equal(p->runs.items[i].run[0], i);
	assert_int_equal(choose(r, 7 * DAY, UINT64_MAX, p), 0);
	free(r);
	free(p);
}

static void beyond_the_sum_the_oldest_go_until_it_is_met(void **state)
{
	struct retention *r = folders(10, DAY);
	struct event_prune *p = calloc(1, sizeof(*p));

	(void)state;
	assert_non_null(p);
	/* First by age, each reason in records of its own. */
	assert_int_equal(choose(r, 8 * DAY, 450, p), 2);
	assert_int_equal(p->reason, PRUNE_AGE);
	assert_int_equal(choose(r, 8 * DAY, 450, p), 4);
	assert_int_equal(p->reason, PRUNE_BYTES);
	assert_int_equal(p->runs.items[0].run[0], 2);
	assert_int_equal(r->bytes, 400);
	assert_int_equal(choose(r, 8 * DAY, 450, p), 0);
	free(r);
	free(p);
}

static void nothing_below_the_floor_goes_whatever_the_sum(void **state)
{
	struct retention *r = folders(20, RETENTION_FLOOR_S / 10);
	struct event_prune *p = calloc(1, sizeof(*p));

	(void)state;
	assert_non_null(p);
	assert_int_equal(choose(r, UINT64_MAX, 0, p), 11);
	assert_int_equal(choose(r, 0, 0, p), 0);
	/* Nor what is of the future, as after a clock that was set back. */
	r->oldest[11].when_s = NOW + DAY;
	assert_int_equal(choose(r, 0, 0, p), 0);
	free(r);
	free(p);
}

static void batches_are_bounded_and_name_each_folder_once(void **state)
{
	struct retention *r = folders(150, DAY);
	struct event_prune *p = calloc(1, sizeof(*p));

	(void)state;
	assert_non_null(p);
	assert_int_equal(choose(r, DAY, UINT64_MAX, p), EVENT_BATCH_MAX);
	assert_int_equal(choose(r, DAY, UINT64_MAX, p), EVENT_BATCH_MAX);
	assert_int_equal(p->runs.items[0].run[0], EVENT_BATCH_MAX);
	assert_int_equal(choose(r, DAY, UINT64_MAX, p), 21);
	assert_int_equal(choose(r, DAY, UINT64_MAX, p), 0);
	free(r);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_older_than_kept_goes_and_nothing_else),
		cmocka_unit_test(beyond_the_sum_the_oldest_go_until_it_is_met),
		cmocka_unit_test(nothing_below_the_floor_goes_whatever_the_sum),
		cmocka_unit_test(batches_are_bounded_and_name_each_folder_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
