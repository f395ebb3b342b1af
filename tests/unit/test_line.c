/* tests/unit/test_line.c - events of the kernel's to lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "executor/trace/line.h"

struct raw {
	struct trace_record head;
	unsigned char data[TRACE_ARGV_AT + 64];
};

static struct raw make(enum trace_type type, size_t body)
{
	struct raw r = { .head = { .type = (uint16_t)type,
		             .plane = TRACE_PROGRAM,
		             .nr = 257 } };

	r.head.len = (uint32_t)(sizeof(r.head) + body);
	return r;
}

static void says(const struct raw *r, const char *want)
{
	static struct calls calls = { .names = { [257] = "openat" } };
	static char text[LINE_MAX_BYTES];
	struct text_out out = { text, sizeof(text) - 1, 0 };
	struct trace_record head;
	struct line_event event = { &head, r->data, &calls };
	struct error e = { 0 };

	assert_int_equal(line_decode(r, r->head.len, &head, &e), 0);
	assert_int_equal(line_event(&event, &out, &e), 0);
	text[out.len] = '\0';
	assert_string_equal(text, want);
}

#define FRONT(type)                                                         \
	"{\"type\":\"" type "\",\"seq\":0,\"at_ns\":0,\"pid\":0,\"tid\":0," \
	"\"plane\":\"program\""
#define ARGS "\"args\":[\"0x0\",\"0x0\",\"0x0\",\"0x0\",\"0x0\",\"0x0\"]"

static void an_open_has_claim_and_truth_and_their_difference(void **state)
{
	struct raw r = make(TRACE_CALL, TRACE_TRUTH_AT + 16);

	(void)state;
	memcpy(r.data, "/tmp/x", 7);
	memcpy(r.data + TRACE_TRUTH_AT, "passwd\0etc", 11);
	r.head.given_len = 7;
	r.head.truth_len = 11;
	r.head.ret = 3;
	says(&r, FRONT("call") ",\"call\":\"openat\",\"nr\":257," ARGS
	                       ",\"ret\":3,\"given\":\"/tmp/x\",\"truth\":"
	                       "\"/etc/passwd\",\"differs\":true}\n");
	memcpy(r.data, "./passwd", 9);
	r.head.given_len = 9;
	says(&r, FRONT("call") ",\"call\":\"openat\",\"nr\":257," ARGS
	                       ",\"ret\":3,\"given\":\"./passwd\",\"truth\":"
	                       "\"/etc/passwd\"}\n");
}

static void bytes_that_are_no_text_are_told_in_hex(void **state)
{
	struct raw r = make(TRACE_CALL, 8);

	(void)state;
	memcpy(r.data, "a\n\xff", 4);
	r.head.given_len = 4;
	r.head.ret = -2;
	says(&r, FRONT("call") ",\"call\":\"openat\",\"nr\":257," ARGS
	                       ",\"error\":\"ENOENT\",\"ret\":-2,\"given_hex\":"
	                       "\"610aff\"}\n");
}

static void numbers_without_a_name_stay_numbers(void **state)
{
	struct raw r = make(TRACE_DENIED, 0);

	(void)state;
	r.head.nr = 9999;
	r.head.ret = -38;
	says(&r, FRONT("denied") ",\"nr\":9999," ARGS
	                         ",\"error\":\"ENOSYS\",\"ret\":-38}\n");
}

static void numbers_of_another_architecture_have_no_name(void **state)
{
	struct raw r = make(TRACE_DENIED, 0);

	(void)state;
	r.head.plane = TRACE_FOREIGN;
	says(&r,
	    "{\"type\":\"denied\",\"seq\":0,\"at_ns\":0,\"pid\":0,"
	    "\"tid\":0,\"plane\":\"foreign\",\"nr\":257," ARGS ",\"ret\":0}\n");
}

static void ends_say_code_or_signal(void **state)
{
	struct raw r = make(TRACE_EXIT, 0);

	(void)state;
	r.head.nr = -1;
	r.head.ret = 7 << 8;
	says(&r, FRONT("exit") ",\"code\":7}\n");
	r.head.ret = 9;
	says(&r, FRONT("exit") ",\"signal\":9}\n");
}

static void refuse(const struct raw *r, size_t len)
{
	struct trace_record head = { .seq = 77 };
	struct error e = { 0 };

	assert_int_equal(line_decode(r, len, &head, &e), -1);
	assert_int_equal(e.kind, ERROR_MALFORMED);
	assert_int_equal(head.seq, 77);
}

static void what_cannot_be_an_event_is_refused(void **state)
{
	struct raw good = make(TRACE_CALL, 0);
	struct raw r;

	(void)state;
	refuse(&good, sizeof(good.head) - 1);
	refuse(&good, good.head.len + 8);
	r = good;
	r.head.type = 0;
	refuse(&r, r.head.len);
	r.head.type = TRACE_TYPES;
	refuse(&r, r.head.len);
	r = good;
	r.head.plane = TRACE_PLANES;
	refuse(&r, r.head.len);
	r = good;
	r.head.given_len = 1;
	refuse(&r, r.head.len);
	r = make(TRACE_EXEC, TRACE_ARGV_AT);
	r.head.argv_len = 1;
	refuse(&r, r.head.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    an_open_has_claim_and_truth_and_their_difference),
		cmocka_unit_test(bytes_that_are_no_text_are_told_in_hex),
		cmocka_unit_test(numbers_without_a_name_stay_numbers),
		cmocka_unit_test(numbers_of_another_architecture_have_no_name),
		cmocka_unit_test(ends_say_code_or_signal),
		cmocka_unit_test(what_cannot_be_an_event_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
