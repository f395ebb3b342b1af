/*
 * tests/unit/test_c1.c - profile c1: what is in it is read, what is not is
 * refused by name; records are found in their frame and nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/c1.h"
#include "audit/entry.h"
#include "audit/manifest.h"

#define LOG TEST_SOURCE_DIR "/tests/audit/vectors/log.jsonl"

static int accepts(const char *text, size_t len, struct error *e)
{
	/* Exactly as long as it is, so that a sanitizer sees one byte more. */
	char *copy = malloc(len + 1);
	struct c1_value v;
	int done;

	assert_non_null(copy);
	memcpy(copy, text, len);
	copy[len] = 'x';
	copy = realloc(copy, len > 0 ? len : 1);
	assert_non_null(copy);
	done = c1_check(copy, len, &v, e);
	free(copy);
	return done;
}

static void texts_of_the_profile_are_accepted(void **state)
{
	static const char *const good[] = {
		"{}",
		"{\"a\":0}",
		"{\"A\":1,\"_\":2,\"a\":9007199254740991,\"a0\":3,\"aa\":4}",
		"{\"a\":\" !#[]~\",\"b\":[],\"c\":{},\"d\":true,\"e\":false}",
		"{\"a\":[1,\"x\",[true],{\"b\":[0]}]}",
		("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":0}}}}"
		 "}"
		 "}}}"),
	};
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(accepts(good[i], strlen(good[i]), &e), 0);
}

static void texts_outside_it_are_refused_by_name(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "does not begin with '{'" },
		{ "[]", "does not begin with '{'" },
		{ "{", "an end in mid object" },
		{ "{}{}", "bytes after the closing brace" },
		{ "{} ", "bytes after the closing brace" },
		{ "{\"a\":1,\"a\":1}", "duplicate key" },
		{ "{\"b\":1,\"a\":1}", "keys not sorted" },
		{ "{\"ab\":1,\"a\":1}", "keys not sorted" },
		{ "{\"a\":1,\"B\":1}", "keys not sorted" },
		{ "{\"t\\u0079pe\":1}", "a byte that no key has" },
		{ "{\"a-b\":1}", "a byte that no key has" },
		{ "{\"\":1}", "a key that begins with no letter" },
		{ "{\"0a\":1}", "a key that begins with no letter" },
		{ "{\"a\": 1}", "not canonical: white space" },
		{ "{\"a\" :1}", "not canonical: white space" },
		{ "{ \"a\":1}", "not canonical: white space" },
		{ "{\"a\":1 }", "not canonical: white space" },
		{ "{\"a\":1,}", "not JSON" },
		{ "{\"a\":[1,]}", "not JSON" },
		{ "{\"a\":[,1]}", "not JSON" },
		{ "{\"a\":}", "not JSON" },
		{ "{\"a\"}", "not JSON" },
		{ "{\"a\":[1}", "not JSON" },
		{ "{\"a\":{\"b\":1]}", "not JSON" },
		{ "{\"a\":01}", "leading zero" },
		{ "{\"a\":00}", "leading zero" },
		{ "{\"a\":-0}", "a sign" },
		{ "{\"a\":+1}", "not JSON" },
		{ "{\"a\":1.0}", "a fraction" },
		{ "{\"a\":1e0}", "an exponent" },
		{ "{\"a\":9007199254740992}", "above 2^53-1" },
		{ "{\"a\":18446744073709551617}", "above 2^53-1" },
		{ "{\"a\":null}", "null does not exist" },
		{ "{\"a\":tru}", "not JSON" },
		{ "{\"a\":truee}", "not JSON" },
		{ "{\"a\":NaN}", "not JSON" },
		{ "{\"a\":\"x", "a string without end" },
		{ "{\"a\":\"\\\\\"}", "a backslash" },
		{ "{\"a\":\"\xc3\xa9\"}", "outside 0x20 to 0x7E" },
		{ "{\"a\":\"\x7f\"}", "outside 0x20 to 0x7E" },
		{ "{\"a\":\"\n\"}", "outside 0x20 to 0x7E" },
		{ "\xef\xbb\xbf{}", "does not begin with '{'" },
		{ "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
		  "\"a\":0}}}}}}}}}",
		    "deeper than 8" },
	};
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(
		    accepts(bad[i].text, strlen(bad[i].text), &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
		if (strstr(e.text, bad[i].why) == NULL)
			fail_msg("%s: said %s", bad[i].text, e.text);
	}
	assert_int_equal(accepts("{\"a\":1\0}", 8, &e), -1);
	assert_non_null(strstr(e.text, "NUL"));
}

static void depth_and_length_have_an_end(void **state)
{
	size_t len = 200000;
	char *text = malloc(len);
	struct error e;

	(void)state;
	assert_non_null(text);
	memset(text, '[', len);
	memcpy(text, "{\"a\":", 5);
	assert_int_equal(accepts(text, 60000, &e), -1);
	assert_non_null(strstr(e.text, "deeper than 8"));
	assert_int_equal(accepts(text, len, &e), -1);
	assert_non_null(strstr(e.text, "longer than 65535"));
	memset(text, 'x', len);
	memcpy(text, "{\"a\":\"", 6);
	memcpy(text + C1_LINE_MAX - 2, "\"}", 2);
	assert_int_equal(accepts(text, C1_LINE_MAX, &e), 0);
	free(text);
}

static void members_are_found_without_a_copy(void **state)
{
	static const char text[] =
	    "{\"a\":[],\"b\":{\"x\":\"{[,\",\"y\":[1,{\"z\":2}]},\"c\":7,\"d\":"
	    "true,\"hex\":\"00ff\",\"s\":\"\"}";
	struct c1_value v, b, y, m;
	struct c1_member member;
	struct c1_walk w;
	uint8_t bytes[2];
	uint64_t n = 0;
	struct error e;

	(void)state;
	assert_int_equal(c1_check(text, sizeof(text) - 1, &v, &e), 0);
	b = c1_member(&v, "b");
	assert_int_equal(b.kind, C1_OBJECT);
	m = c1_member(&b, "x");
	assert_true(c1_is(&m, "{[,"));
	assert_false(c1_is(&m, "{["));
	y = c1_member(&b, "y");
	c1_walk(&y, &w);
	assert_true(c1_next(&w, &member));
	assert_true(c1_number(&member.value, &n) && n == 1);
	assert_true(c1_next(&w, &member));
	m = c1_member(&member.value, "z");
	assert_true(c1_number(&m, &n) && n == 2);
	assert_false(c1_next(&w, &member));
	m = c1_member(&v, "c");
	assert_true(c1_number(&m, &n) && n == 7);
	assert_false(c1_hex(&m, bytes, 1));
	m = c1_member(&v, "hex");
	assert_true(c1_hex(&m, bytes, 2) && bytes[1] == 0xff);
	assert_false(c1_hex(&m, bytes, 1));
	assert_false(c1_number(&m, &n));
	m = c1_member(&v, "s");
	assert_int_equal(m.kind, C1_STRING);
	assert_int_equal(m.len, 0);
	m = c1_member(&v, "nothing");
	assert_int_equal(m.kind, C1_ABSENT);
	m = c1_member(&m, "below");
	assert_int_equal(m.kind, C1_ABSENT);
	m = c1_member(&v, "a");
	c1_walk(&m, &w);
	assert_false(c1_next(&w, &member));
}

static void read_golden(char *ret, size_t cap, size_t line)
{
	FILE *f = fopen(LOG, "r");

	assert_non_null(f);
	for (size_t i = 0; i <= line; i++)
		assert_non_null(fgets(ret, (int)cap, f));
	assert_int_equal(fclose(f), 0);
	ret[strlen(ret) - 1] = '\0';
}

static void golden_records_are_read(void **state)
{
	static char line[4096];
	struct entry entry;
	struct error e;

	(void)state;
	for (size_t i = 0; i < 10; i++) {
		read_golden(line, sizeof(line), i);
		assert_int_equal(entry_read(line, strlen(line), &entry, &e), 0);
		assert_int_equal(entry.seq, i);
		assert_int_equal(entry.v, 1);
		assert_int_equal(entry.epoch, i > 7);
	}
	read_golden(line, sizeof(line), 2);
	assert_int_equal(entry_read(line, strlen(line), &entry, &e), 0);
	assert_true(c1_is(&entry.fields[ENTRY_STATUS], "ok"));
	assert_true(c1_is(&entry.fields[ENTRY_TYPE], "outcome"));
	assert_int_equal(entry.fields[ENTRY_STDOUT].kind, C1_OBJECT);
	assert_int_equal(entry.fields[ENTRY_KILLED_BY].kind, C1_ABSENT);
	assert_int_equal(entry.fields[ENTRY_REASONS].kind, C1_ABSENT);
}

/* No bit of a record can change without a word about it or another content. */
static void altered_records_never_read_the_same(void **state)
{
	static char line[4096], was[4096];
	struct entry entry;
	struct error e;
	size_t len;

	(void)state;
	read_golden(line, sizeof(line), 1);
	len = strlen(line);
	memcpy(was, line, sizeof(was));
	for (size_t i = 0; i < len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			line[i] = (char)(was[i] ^ (char)(1u << bit));
			if (entry_read(line, len, &entry, &e) == 0)
				assert_memory_not_equal(line, was, len);
			line[i] = was[i];
		}
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(entry_read(line, cut, &entry, &e), -1);
}

static void common_fields_must_be_there(void **state)
{
	static const char *const names[] = { "\"boot\":", "\"epoch\":",
		"\"log\":", "\"mono\":", "\"prev\":", "\"seq\":", "\"time\":",
		"\"type\":", "\"v\":", "\"_type\":", "\"predicateType\":" };
	static char line[4096];
	struct entry entry;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *at;

		read_golden(line, sizeof(line), 7);
		at = strstr(line, names[i]);
		assert_non_null(at);
		/* The name's last byte: sorted still, but another name. */
		at[strlen(names[i]) - 3]++;
		assert_int_equal(
		    entry_read(line, strlen(line), &entry, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
	}
}

static void manifests_are_read_and_searched(void **state)
{
#define HEX "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	static const char good[] =
	    HEX "  a\n" HEX "  b/c.txt\n" HEX "  b/d%20\n";
	static const char *const bad[] = { HEX "  a", HEX " a\n", HEX "  \n",
		HEX "  a\n" HEX "  a\n", HEX "  b\n" HEX "  a\n", HEX "  /a\n",
		HEX "  a/\n", HEX "  a//b\n", HEX "  ../a\n", HEX "  a/..\n",
		HEX "  a/./b\n", HEX "  .\n", HEX "  a\\b\n", HEX "  a b\n",
		"\n", HEX "\n", "X" HEX "  a\n",
		("E3B0C44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b"
		 "855  a\n") };
	struct manifest m;
	struct error e;

	(void)state;
	assert_int_equal(manifest_read(good, sizeof(good) - 1, &m, &e), 0);
	assert_int_equal(m.n_lines, 3);
	assert_non_null(manifest_find(&m, "b/c.txt", 7));
	assert_null(manifest_find(&m, "b/c", 3));
	assert_null(manifest_find(&m, "c", 1));
	assert_null(manifest_find(&m, "", 0));
	manifest_done(&m);
	assert_int_equal(manifest_read("", 0, &m, &e), 0);
	assert_null(manifest_find(&m, "a", 1));
	manifest_done(&m);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(
		    manifest_read(bad[i], strlen(bad[i]), &m, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
	}
#undef HEX
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_the_profile_are_accepted),
		cmocka_unit_test(texts_outside_it_are_refused_by_name),
		cmocka_unit_test(depth_and_length_have_an_end),
		cmocka_unit_test(members_are_found_without_a_copy),
		cmocka_unit_test(golden_records_are_read),
		cmocka_unit_test(altered_records_never_read_the_same),
		cmocka_unit_test(common_fields_must_be_there),
		cmocka_unit_test(manifests_are_read_and_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
