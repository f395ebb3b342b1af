/*
 * tests/unit/test_stream.c - program output on its way to a terminal: whatever
 * way it is cut into messages, it looks the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/stream.h"

static void take(struct stream *s, char *to, size_t *len)
{
	memcpy(to + *len, s->bytes + s->at, s->len - s->at);
	*len += s->len - s->at;
	s->at = s->len;
}

/* The text of 'from' when it comes in pieces of 'step' bytes. */
static void pass(const char *from, size_t len, size_t step, char *ret)
{
	static struct stream s;
	size_t n = 0;

	stream_init(&s, -1, STREAM_ESCAPED);
	s.mode = STREAM_ESCAPED; /* as if it were a terminal */
	for (size_t i = 0; i < len; i += step) {
		stream_put(&s, (const uint8_t *)from + i,
		    len - i < step ? len - i : step);
		take(&s, ret, &n);
	}
	stream_end(&s);
	take(&s, ret, &n);
	ret[n] = '\0';
}

static void check(const char *from, size_t len, const char *want)
{
	char got[256];

	for (size_t step = 1; step <= len; step++) {
		pass(from, len, step, got);
		assert_string_equal(got, want);
	}
}

static void text_passes_unchanged(void **state)
{
	static const char text[] = "a\tb\n\xc3\xa9 \xe2\x82\xac "
	                           "\xf0\x9f\x98\x80.";

	(void)state;
	check(text, sizeof(text) - 1, text);
}

static void controls_are_escaped(void **state)
{
	static const char text[] = "\x1b[2J\r\x7f\xc2\x9b.";

	(void)state;
	check(text, sizeof(text) - 1, "\\x1b[2J\\x0d\\x7f\\xc2\\x9b.");
}

static void broken_sequences_are_escaped(void **state)
{
	static const char cut[] = "a\xf0\x9f\x98";
	static const char lone[] = "\x80\xbf.";
	static const char wrong[] = "\xc3"
	                            "A";

	(void)state;
	check(cut, sizeof(cut) - 1, "a\\xf0\\x9f\\x98");
	check(lone, sizeof(lone) - 1, "\\x80\\xbf.");
	check(wrong, sizeof(wrong) - 1,
	    "\\xc3"
	    "A");
}

static void a_pipe_gets_every_byte(void **state)
{
	static struct stream s;
	static const uint8_t raw[] = { 0, 27, 255, '\n' };

	(void)state;
	stream_init(&s, -1, STREAM_ESCAPED);
	stream_put(&s, raw, sizeof(raw));
	assert_int_equal(s.len, sizeof(raw));
	assert_memory_equal(s.bytes, raw, sizeof(raw));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_passes_unchanged),
		cmocka_unit_test(controls_are_escaped),
		cmocka_unit_test(broken_sequences_are_escaped),
		cmocka_unit_test(a_pipe_gets_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
