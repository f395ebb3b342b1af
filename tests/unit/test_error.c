/*
 * tests/unit/test_error.c - kinds, texts that are cut but never unterminated,
 * and context that collects in front.
 */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int fail_late(struct error *e)
{
	return FAIL(e, ERROR_LIMIT, "more than %d", 5);
}

static int fail_system(struct error *e)
{
	errno = ENOENT;
	return FAIL_SYS(e, "open %s", "x");
}

static void an_error_has_kind_and_text(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(fail_late(&e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_int_equal(e.saved_errno, 0);
	assert_string_equal(e.text, "more than 5");
}

static void a_failed_call_says_why(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(fail_system(&e), -1);
	assert_int_equal(e.kind, ERROR_SYSTEM);
	assert_int_equal(e.saved_errno, ENOENT);
	assert_string_equal(e.text, "open x: No such file or directory");
}

static void context_goes_in_front(void **state)
{
	struct error e;

	(void)state;
	(void)fail_late(&e);
	assert_int_equal(FAIL_IN(&e, "run %d", 7), -1);
	assert_string_equal(e.text, "run 7: more than 5");
	assert_int_equal(e.kind, ERROR_LIMIT);
}

static void long_texts_are_cut_and_terminated(void **state)
{
	char text[2 * ERROR_TEXT_MAX];
	struct error e;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)FAIL(&e, ERROR_STATE, "%s", text);
	assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
	(void)FAIL_IN(&e, "%s", "front");
	assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
	assert_memory_equal(e.text, "front: xxx", 10);
	errno = EIO;
	(void)FAIL_SYS(&e, "%s", text);
	assert_int_equal(strlen(e.text), ERROR_TEXT_MAX - 1);
}

static void an_unknown_errno_has_a_word(void **state)
{
	struct error e;

	(void)state;
	errno = 9999;
	(void)FAIL_SYS(&e, "x");
	assert_string_equal(e.text, "x: unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_has_kind_and_text),
		cmocka_unit_test(a_failed_call_says_why),
		cmocka_unit_test(context_goes_in_front),
		cmocka_unit_test(long_texts_are_cut_and_terminated),
		cmocka_unit_test(an_unknown_errno_has_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
