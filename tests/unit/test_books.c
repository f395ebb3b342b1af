/* tests/unit/test_books.c - when a trace is complete, and when it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "executor/trace/books.h"

#define CALL 39 /* any number */

static struct {
	struct trace_books kernel;
	struct trace_counts counts;
	struct books_received received;
	uint32_t todo[TRACE_CALLS];
	struct kernel_errors errors;
	struct calls calls;
	struct books b;
	char note[BOOKS_NOTE_MAX];
} x;

/* Five calls of one number, always told; one program was started. */
static int balanced(void **state)
{
	(void)state;
	memset(&x, 0, sizeof(x));
	x.b = (struct books){ &x.kernel, &x.counts, &x.received, x.todo, 0,
		&x.errors, &x.calls };
	x.todo[CALL] = TRACE_DO_EVENT;
	x.counts.call[TRACE_PROGRAM][CALL] =
	    (struct trace_count){ .enter = 6, .ok = 4, .error = 1 };
	x.kernel.unfinished = 1;
	x.kernel.emitted[TRACE_CALL] = 5;
	x.kernel.emitted[TRACE_EXEC] = 1;
	x.kernel.seq = 6;
	x.received.events = 6;
	x.received.calls[CALL] = 5;
	return 0;
}

static void fails(const char *why)
{
	assert_false(books_balance(&x.b, x.note));
	assert_non_null(strstr(x.note, why));
}

static void books_that_balance_are_complete(void **state)
{
	(void)state;
	assert_true(books_balance(&x.b, x.note));
	assert_string_equal(x.note, "");
}

static void a_call_that_never_came_back_is_missed(void **state)
{
	(void)state;
	x.counts.call[TRACE_SETUP][CALL].enter++;
	fails("7 calls began, 5 came back, 1 were cut off");
}

static void a_lost_event_is_missed(void **state)
{
	(void)state;
	x.kernel.lost[TRACE_FORK] = 2;
	fails("2 events did not fit");
}

static void an_event_that_did_not_arrive_is_missed(void **state)
{
	(void)state;
	x.received.events--;
	fails("6 sent, 5 received");
}

static void a_number_that_was_skipped_is_missed(void **state)
{
	(void)state;
	x.kernel.seq++;
	fails("7 events were numbered");
}

static void a_call_that_was_not_told_is_missed(void **state)
{
	(void)state;
	x.received.calls[CALL]--;
	fails("call 39 was not told");
}

static void a_run_without_a_program_is_not_complete(void **state)
{
	(void)state;
	x.kernel.emitted[TRACE_EXEC] = 0;
	x.kernel.emitted[TRACE_FORK] = 1;
	fails("no program was seen to start");
}

static void each_counter_of_loss_is_looked_at(void **state)
{
	__u64 *const counters[] = { &x.kernel.capped, &x.kernel.stateless,
		&x.kernel.unkept, &x.kernel.strange };

	(void)state;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		*counters[i] = 3;
		fails("3 ");
		*counters[i] = 0;
	}
	x.b.misses = 3;
	fails("3 times");
	x.b.misses = 0;
	x.received.malformed = 3;
	fails("3 events could not be read");
	x.received.malformed = 0;
	assert_true(books_balance(&x.b, x.note));
}

static void the_last_line_has_it_all(void **state)
{
	static char text[65536];
	struct text_out out = { text, sizeof(text) - 1, 0 };
	struct error e = { 0 };

	(void)state;
	x.errors.n = 1;
	x.errors.items[0] =
	    (struct kernel_error){ { 0, TRACE_PROGRAM, CALL, 2 }, 1 };
	assert_int_equal(books_line(&x.b, "", &out, &e), 0);
	text[out.len] = '\0';
	assert_non_null(strstr(text, "{\"type\":\"books\",\"complete\":true,"));
	assert_non_null(strstr(text,
	    "\"calls\":[{\"plane\":\"program\",\"nr\":39,\"enter\":6,\"ok\":4,"
	    "\"error\":1,\"denied\":0}]"));
	assert_non_null(strstr(text,
	    "\"errors\":[{\"plane\":\"program\",\"nr\":39,\"error\":\"ENOENT\","
	    "\"errno\":2,\"n\":1}]}\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
		    books_that_balance_are_complete, balanced),
		cmocka_unit_test_setup(
		    a_call_that_never_came_back_is_missed, balanced),
		cmocka_unit_test_setup(a_lost_event_is_missed, balanced),
		cmocka_unit_test_setup(
		    an_event_that_did_not_arrive_is_missed, balanced),
		cmocka_unit_test_setup(
		    a_number_that_was_skipped_is_missed, balanced),
		cmocka_unit_test_setup(
		    a_call_that_was_not_told_is_missed, balanced),
		cmocka_unit_test_setup(
		    a_run_without_a_program_is_not_complete, balanced),
		cmocka_unit_test_setup(
		    each_counter_of_loss_is_looked_at, balanced),
		cmocka_unit_test_setup(the_last_line_has_it_all, balanced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
