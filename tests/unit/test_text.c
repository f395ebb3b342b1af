/*
 * tests/unit/test_text.c - escapes and encodings of foreign bytes.
 */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void utf8_is_exactly_table_3_7(void **state)
{
	/* clang-format off */
	static const struct { const char *bytes; size_t len, wanted; } rows[] = {
		{ "", 0, 0 },              { "a", 1, 1 },
		{ "\0", 1, 1 },            { "\x7f", 1, 1 },
		{ "\x80", 1, 0 },          { "\xbf", 1, 0 },
		{ "\xc0\xaf", 2, 0 },      { "\xc1\xbf", 2, 0 },     /* overlong */
		{ "\xc2\x80", 2, 2 },      { "\xdf\xbf", 2, 2 },
		{ "\xc2", 1, 0 },          { "\xc2\x7f", 2, 0 },
		{ "\xe0\x9f\xbf", 3, 0 },  { "\xe0\xa0\x80", 3, 3 },
		{ "\xed\x9f\xbf", 3, 3 },  { "\xed\xa0\x80", 3, 0 }, /* surrogate */
		{ "\xed\xbf\xbf", 3, 0 },  { "\xee\x80\x80", 3, 3 },
		{ "\xef\xbf\xbf", 3, 3 },  { "\xe2\x82", 2, 0 },
		{ "\xe2\x82\x2c", 3, 0 },
		{ "\xf0\x8f\xbf\xbf", 4, 0 }, { "\xf0\x90\x80\x80", 4, 4 },
		{ "\xf4\x8f\xbf\xbf", 4, 4 }, { "\xf4\x90\x80\x80", 4, 0 },
		{ "\xf5\x80\x80\x80", 4, 0 }, { "\xff", 1, 0 },
		{ "\xf0\x9f\x98", 3, 0 },     { "\xf0\x9f\x98\x41", 4, 0 },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(text_utf8_length(rows[i].bytes, rows[i].len),
		    rows[i].wanted);
}

static void utf8_never_reads_past_its_length(void **state)
{
	/* The rest of the character lies behind the end that we give. */
	static const char smile[] = "\xf0\x9f\x98\x80";

	(void)state;
	for (size_t len = 0; len < 4; len++)
		assert_int_equal(text_utf8_length(smile, len), 0);
	assert_int_equal(text_utf8_length(smile, 4), 4);
}

static void any_bytes_survive_percent_encoding(void **state)
{
	char raw[256];
	char encoded[3 * sizeof(raw) + 1];
	char back[sizeof(raw) + 1];
	struct error e = { 0 };
	size_t len = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (char)i;
	assert_int_equal(
	    text_percent_encode(raw, sizeof(raw), encoded, sizeof(encoded), &e),
	    0);
	assert_int_equal(
	    text_percent_decode(encoded, back, sizeof(back), &len, &e), 0);
	assert_int_equal(len, sizeof(raw));
	assert_memory_equal(back, raw, sizeof(raw));
}

static void percent_encoding_keeps_only_the_unreserved(void **state)
{
	char encoded[64];
	struct error e = { 0 };

	(void)state;
	assert_int_equal(text_percent_encode("aZ09-._~/ %\n\xff", 13, encoded,
	                     sizeof(encoded), &e),
	    0);
	assert_string_equal(encoded, "aZ09-._~/%20%25%0A%FF");
}

static void percent_encoding_fits_or_fails(void **state)
{
	char encoded[8] = "before";
	struct error e;

	(void)state;
	assert_int_equal(text_percent_encode("\n\n", 2, encoded, 6, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_string_equal(encoded, "before");
	assert_int_equal(text_percent_encode("\n\n", 2, encoded, 7, &e), 0);
}

static void another_percent_spelling_is_malformed(void **state)
{
	static const char *const rows[] = { "%", "%4", "%4g", "%0a", "%41",
		"%2F", "a b", "\n", "\xc3\xa9", "%%41", "%-1" };
	char back[64];
	size_t len = 99;
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(
		    text_percent_decode(rows[i], back, sizeof(back), &len, &e),
		    -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
		assert_int_equal(len, 99);
	}
	assert_int_equal(text_percent_decode("abcd", back, 4, &len, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_int_equal(text_percent_decode("abcd", back, 5, &len, &e), 0);
}

static void expect_escape(
    const char *from, size_t len, enum text_keep keep, const char *wanted)
{
	char shown[256];
	struct text_out out = { shown, sizeof(shown), 0 };

	assert_int_equal(text_escape(from, len, keep, &out), len);
	assert_int_equal(out.len, strlen(wanted));
	assert_memory_equal(shown, wanted, out.len);
}

static void escapes_leave_nothing_that_a_terminal_obeys(void **state)
{
	/* clang-format off */
	static const struct { const char *from; size_t len; const char *shown; }
	rows[] = {
		{ "plain ~", 7, "plain ~" },
		{ "\0\n\r\t\x1b\x7f", 6, "\\x00\\x0a\\x0d\\x09\\x1b\\x7f" },
		{ "a\\b", 3, "a\\x5cb" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc2\x9b", 2, "\\xc2\\x9b" },           /* C1: CSI */
		{ "\x9b", 1, "\\x9b" },
		{ "\xe2\x80\xae", 3, "\\xe2\\x80\\xae" },  /* U+202E */
		{ "\xe2\x81\xa6", 3, "\\xe2\\x81\\xa6" },  /* U+2066 */
		{ "\xd8\x9c", 2, "\\xd8\\x9c" },           /* U+061C */
		{ "\xe2\x80\x8b", 3, "\\xe2\\x80\\x8b" },  /* U+200B */
		{ "\xef\xbb\xbf", 3, "\\xef\\xbb\\xbf" },  /* U+FEFF */
		{ "\xf3\xa0\x81\x81", 4, "\\xf3\\xa0\\x81\\x81" }, /* a tag */
		{ "\xff" "a", 2, "\\xffa" },
		{ "\xe2\x82", 2, "\\xe2\\x82" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect_escape(
		    rows[i].from, rows[i].len, TEXT_KEEP_NONE, rows[i].shown);
}

static void lines_may_be_kept(void **state)
{
	(void)state;
	expect_escape("a\tb\\\n", 5, TEXT_KEEP_LINES, "a\tb\\\n");
	expect_escape("\r\x1b[31m", 6, TEXT_KEEP_LINES, "\\x0d\\x1b[31m");
}

static void an_escape_is_never_cut(void **state)
{
	char shown[8];

	(void)state;
	for (size_t cap = 0; cap < 8; cap++) {
		struct text_out out = { shown, cap, 0 };

		assert_int_equal(
		    text_escape("\n\n", 2, TEXT_KEEP_NONE, &out), cap / 4);
		assert_int_equal(out.len, cap / 4 * 4);
	}
	for (size_t cap = 0; cap < 3; cap++) {
		struct text_out out = { shown, cap, 0 };

		assert_int_equal(
		    text_escape("\xe2\x82\xac", 3, TEXT_KEEP_NONE, &out), 0);
	}
}

static void json_strings_are_escaped(void **state)
{
	static const char from[] = "\"\\/\b\f\n\r\t\x01\x1f\x7f\0\xc3\xa9";
	static const char wanted[] =
	    "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u0000\xc3\xa9\"";
	char text[128];
	struct text_out out = { text, sizeof(text), 0 };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(text_json_string(from, sizeof(from) - 1, &out, &e), 0);
	assert_int_equal(out.len, sizeof(wanted) - 1);
	assert_memory_equal(text, wanted, out.len);
}

static void json_strings_fit_or_leave_the_output(void **state)
{
	char text[8] = "ab";
	struct error e;

	(void)state;
	for (size_t cap = 2; cap < 7; cap++) {
		struct text_out out = { text, cap, 2 };

		assert_int_equal(text_json_string("x\n", 2, &out, &e), -1);
		assert_int_equal(e.kind, ERROR_LIMIT);
		assert_int_equal(out.len, 2);
	}
	for (size_t i = 0; i < 2; i++) {
		struct text_out out = { text, sizeof(text), 2 };

		assert_int_equal(
		    text_json_string(i == 0 ? "a\xff" : "\xed\xa0\x80",
		        i == 0 ? 2 : 3, &out, &e),
		    -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
		assert_int_equal(out.len, 2);
	}
}

static void base64_is_that_of_rfc_4648(void **state)
{
	/* clang-format off */
	static const struct { const char *bytes, *text; } rows[] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" }, { "\xfb\xff\xbf", "+/+/" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[16];
		char bytes[16];
		struct text_out encoded = { text, sizeof(text), 0 };
		struct text_out decoded = { bytes, sizeof(bytes), 0 };
		struct error e = { 0 };
		size_t len = strlen(rows[i].bytes);

		assert_int_equal(
		    text_base64(rows[i].bytes, len, &encoded, &e), 0);
		assert_int_equal(encoded.len, strlen(rows[i].text));
		assert_memory_equal(text, rows[i].text, encoded.len);
		assert_int_equal(
		    text_base64_decode(text, encoded.len, &decoded, &e), 0);
		assert_int_equal(decoded.len, len);
		assert_memory_equal(bytes, rows[i].bytes, len);
	}
}

static void another_base64_spelling_is_malformed(void **state)
{
	static const char *const rows[] = { "Z", "Zg", "Zg=", "Zh==", "Zm9=",
		"Z===", "====", "Zg==Zg==", "Zm9v=", " Zm9v", "Zm9v\n", "Zm-_",
		"Zm9\xff", "Zg=v", "=m9v" };
	char bytes[64];
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text_out out = { bytes, sizeof(bytes), 3 };

		assert_int_equal(
		    text_base64_decode(rows[i], strlen(rows[i]), &out, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
		assert_int_equal(out.len, 3);
	}
}

static void base64_fits_or_fails(void **state)
{
	char room[4];
	struct text_out out = { room, 3, 0 };
	struct error e;

	(void)state;
	assert_int_equal(text_base64("a", 1, &out, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	out.cap = 2;
	assert_int_equal(text_base64_decode("Zm9v", 4, &out, &e), -1);
	assert_int_equal(out.len, 0);
}

static void printed_text_fits_or_leaves_the_output(void **state)
{
	char room[8] = "ab";
	struct text_out out = { room, 6, 2 };
	struct error e;

	(void)state;
	assert_int_equal(text_printf(&out, &e, "%d", 1234), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_int_equal(out.len, 2);
	assert_int_equal(text_printf(&out, &e, "%d", 123), 0);
	assert_int_equal(out.len, 5);
	assert_memory_equal(room, "ab123", 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_is_exactly_table_3_7),
		cmocka_unit_test(utf8_never_reads_past_its_length),
		cmocka_unit_test(any_bytes_survive_percent_encoding),
		cmocka_unit_test(percent_encoding_keeps_only_the_unreserved),
		cmocka_unit_test(percent_encoding_fits_or_fails),
		cmocka_unit_test(another_percent_spelling_is_malformed),
		cmocka_unit_test(escapes_leave_nothing_that_a_terminal_obeys),
		cmocka_unit_test(lines_may_be_kept),
		cmocka_unit_test(an_escape_is_never_cut),
		cmocka_unit_test(json_strings_are_escaped),
		cmocka_unit_test(json_strings_fit_or_leave_the_output),
		cmocka_unit_test(base64_is_that_of_rfc_4648),
		cmocka_unit_test(another_base64_spelling_is_malformed),
		cmocka_unit_test(base64_fits_or_fails),
		cmocka_unit_test(printed_text_fits_or_leaves_the_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
