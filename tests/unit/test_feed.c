/*
 * tests/unit/test_feed.c - lines as they come, in any pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "mcp/feed.h"

static void give(struct feed *f, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = len < FEED_CHUNK ? len : FEED_CHUNK;
		struct error e;
		char *to;

		assert_int_equal(feed_room(f, &to, &e), 0);
		memcpy(to, data, n);
		feed_added(f, n);
		data += n;
		len -= n;
	}
}

static void expect(struct feed *f, const char *text)
{
	const char *line;
	size_t len;

	assert_int_equal(feed_next(f, &line, &len), FEED_ONE);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(line, text, len);
}

static void expect_event(struct feed *f, enum feed_event event)
{
	const char *line;
	size_t len;

	assert_int_equal(feed_next(f, &line, &len), event);
}

static void lines_end_at_a_newline_with_or_without_a_return(void **state)
{
	struct feed f = { 0 };

	(void)state;
	give(&f, "one\ntwo\r\n\n\r\nthr", 15);
	expect(&f, "one");
	expect(&f, "two");
	expect(&f, "");
	expect(&f, "");
	expect_event(&f, FEED_NONE);
	give(&f, "ee\n", 3);
	expect(&f, "three");
	expect_event(&f, FEED_NONE);
	feed_free(&f);
}

static void bytes_may_come_one_by_one(void **state)
{
	static const char text[] = "abc\nd\n";
	struct feed f = { 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		give(&f, text + i, 1);
		expect_event(&f, FEED_NONE);
	}
	give(&f, text + 3, 1);
	expect(&f, "abc");
	give(&f, text + 4, 2);
	expect(&f, "d");
	feed_free(&f);
}

/* 'extra' bytes more than the longest line, then a newline and "x". */
static void give_long(struct feed *f, size_t extra)
{
	char *long_line = malloc(FEED_MAX + extra);

	assert_non_null(long_line);
	memset(long_line, 'a', FEED_MAX + extra);
	give(f, long_line, FEED_MAX + extra);
	free(long_line);
}

static void the_longest_line_is_taken_and_one_byte_more_is_not(void **state)
{
	struct feed f = { 0 };
	const char *line;
	size_t len;

	(void)state;
	give_long(&f, 0);
	expect_event(&f, FEED_NONE);
	give(&f, "\nx\n", 3);
	assert_int_equal(feed_next(&f, &line, &len), FEED_ONE);
	assert_int_equal(len, FEED_MAX);
	expect(&f, "x");
	give_long(&f, 1);
	expect_event(&f, FEED_TOO_LONG);
	expect_event(&f, FEED_NONE);
	give(&f, "rest\ny\n", 7);
	expect(&f, "y");
	expect_event(&f, FEED_NONE);
	feed_free(&f);
}

static void a_line_that_is_too_long_is_not_kept(void **state)
{
	struct feed f = { 0 };

	(void)state;
	give_long(&f, 1);
	expect_event(&f, FEED_TOO_LONG);
	for (int i = 0; i < 8; i++) {
		give_long(&f, 0);
		expect_event(&f, FEED_NONE);
	}
	assert_true(f.cap < 3 * (size_t)FEED_MAX + FEED_CHUNK * 2);
	give(&f, "\n", 1);
	expect_event(&f, FEED_NONE);
	give(&f, "z\n", 2);
	expect(&f, "z");
	/* The block that grew for it goes with the next read. */
	give(&f, "y\n", 2);
	assert_true(f.cap <= 2 * 1048576);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    lines_end_at_a_newline_with_or_without_a_return),
		cmocka_unit_test(bytes_may_come_one_by_one),
		cmocka_unit_test(
		    the_longest_line_is_taken_and_one_byte_more_is_not),
		cmocka_unit_test(a_line_that_is_too_long_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
