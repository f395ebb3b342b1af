/*
 * tests/unit/test_scan.c - the strict JSON scanner: what it takes, what it
 * refuses and where, and that it agrees with jansson on what is JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"

#define NODES 128
#define DEPTH 8
#define N(a)  (sizeof(a) / sizeof((a)[0]))

struct fixture {
	struct scan s;
	struct scan_node nodes[NODES];
};

static int scan_bytes(struct fixture *f, const char *text, size_t len)
{
	struct error e = { 0 };
	int result;

	f->s = (struct scan){ .text = text,
		.len = len,
		.nodes = f->nodes,
		.cap = NODES,
		.max_depth = DEPTH };
	result = scan_parse(&f->s, &e);
	if (result < 0)
		assert_true(e.kind == ERROR_MALFORMED || e.kind == ERROR_LIMIT);
	else
		assert_int_equal(e.kind, ERROR_NONE);
	return result;
}

static int scan_text(struct fixture *f, const char *text)
{
	return scan_bytes(f, text, strlen(text));
}

static void well_formed_texts_are_taken(void **state)
{
	static const char *const good[] = {
		"{}",
		"[]",
		"0",
		"-0",
		"1.5e+10",
		"\"\"",
		"true",
		"false",
		"null",
		" \t\r\n{ } \n",
		"{\"a\":1,\"b\":[1,2,{\"c\":null}]}",
		"\"\\ud83d\\ude00\"",
		"\"\\u0000\"",
		"\"\xc3\xa9\xf0\x9f\x98\x80\"",
		"[[[[[[[[]]]]]]]]",
		"{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}",
		"[1,1,1]",
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < N(good); i++)
		if (scan_text(&f, good[i]) < 0)
			fail_msg("refused %s", good[i]);
}

/* The text, and the offset of what is wrong in it. */
static void malformed_texts_are_refused_at_their_place(void **state)
{
	static const struct {
		const char *text;
		uint32_t at;
	} bad[] = {
		{ "", 0 },
		{ "   ", 3 },
		{ "{", 1 },
		{ "[", 1 },
		{ "[1", 2 },
		{ "[1,]", 3 },
		{ "[,1]", 1 },
		{ "{\"a\"}", 4 },
		{ "{\"a\":}", 5 },
		{ "{\"a\":1,}", 7 },
		{ "{a:1}", 1 },
		{ "{1:1}", 1 },
		{ "{'a':1}", 1 },
		{ "[1 2]", 3 },
		{ "[1}", 2 },
		{ "{\"a\":1]", 6 },
		{ "{} {}", 3 },
		{ "1 1", 2 },
		{ "01", 0 },
		{ "-", 0 },
		{ "+1", 0 },
		{ ".5", 0 },
		{ "1.", 0 },
		{ "1e", 0 },
		{ "0x10", 1 },
		{ "NaN", 0 },
		{ "Infinity", 0 },
		{ "tru", 0 },
		{ "True", 0 },
		{ "\"abc", 0 },
		{ "\"a\tb\"", 2 },
		{ "\"a\nb\"", 2 },
		{ "\"\\x\"", 1 },
		{ "\"\\u12\"", 1 },
		{ "\"\\ud800\"", 1 },
		{ "\"\\udc00\"", 1 },
		{ "\"\\ud800\\u0041\"", 1 },
		{ "\"\xff\"", 1 },
		{ "\"\xc0\x80\"", 1 },
		{ "\"\xed\xa0\x80\"", 1 },
		{ "\xef\xbb\xbf{}", 0 },
		{ "[1,//c\n2]", 3 },
		{ "{\"a\\u0000b\":1}", 1 },
		/* Duplicates, whatever their spelling and depth. */
		{ "{\"a\":1,\"a\":2}", 7 },
		{ "{\"network\":1,\"n\\u0065twork\":2}", 13 },
		{ "{\"x\":{\"a\":1,\"b\":2,\"a\":3}}", 18 },
		{ "{\"\\/\":1,\"/\":2}", 8 },
		{ "{\"\xc3\xa9\":1,\"\\u00e9\":2}", 8 },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		if (scan_text(&f, bad[i].text) == 0)
			fail_msg("took %s", bad[i].text);
		if (f.s.fault_at != bad[i].at)
			fail_msg("%s: at %u, not %u", bad[i].text, f.s.fault_at,
			    bad[i].at);
	}
}

static void bounds_are_kept(void **state)
{
	size_t len = 1000000;
	char *text = malloc(len);
	struct fixture f;

	(void)state;
	assert_non_null(text);
	memset(text, '[', len);
	assert_int_equal(scan_bytes(&f, text, len), -1);
	assert_int_equal(f.s.fault_at, DEPTH);
	for (size_t i = 0; i + 5 <= len; i += 5)
		memcpy(text + i, "{\"a\":", 5);
	assert_int_equal(scan_bytes(&f, text, len), -1);
	/* More values than nodes. */
	memset(text, '1', len);
	for (size_t i = 1; i < len; i += 2)
		text[i] = ',';
	text[0] = '[';
	assert_int_equal(scan_bytes(&f, text, len), -1);
	/* A number and a key that are too long. */
	memset(text, '1', len);
	assert_int_equal(scan_bytes(&f, text, 10000), -1);
	assert_int_equal(scan_bytes(&f, text, SCAN_NUMBER_MAX), 0);
	memset(text, 'k', len);
	memcpy(text, "{\"", 2);
	memcpy(text + SCAN_KEY_MAX + 2, "\":1}", 4);
	assert_int_equal(scan_bytes(&f, text, SCAN_KEY_MAX + 6), 0);
	text[SCAN_KEY_MAX + 2] = 'k';
	memcpy(text + SCAN_KEY_MAX + 3, "\":1}", 4);
	assert_int_equal(scan_bytes(&f, text, SCAN_KEY_MAX + 7), -1);
	free(text);
}

static void nodes_say_where_everything_is(void **state)
{
	static const char text[] = "{\"a\": [10, \"x\"],\n \"b\\u0063\": -1.0}";
	char word[8];
	size_t len;
	uint64_t value;
	uint32_t line;
	uint32_t column;
	uint32_t a;
	uint32_t b;
	struct fixture f;

	(void)state;
	assert_int_equal(scan_text(&f, text), 0);
	assert_int_equal(f.s.n, 5);
	a = scan_member(&f.s, 0, "a");
	b = scan_member(&f.s, 0, "bc");
	assert_int_equal(scan_member(&f.s, 0, "c"), SCAN_NONE);
	assert_int_equal(f.nodes[a].n, 2);
	assert_memory_equal(
	    text + f.nodes[a].at, "[10, \"x\"]", f.nodes[a].len);
	assert_memory_equal(text + f.nodes[b].at, "-1.0", f.nodes[b].len);
	assert_int_equal(f.nodes[a].next, b);
	assert_int_equal(f.nodes[b].next, SCAN_NONE);
	assert_true(scan_u64(&f.s, scan_first(&f.s, a), &value));
	assert_int_equal(value, 10);
	assert_false(scan_u64(&f.s, b, &value));
	assert_int_equal(
	    scan_string(&f.s, scan_first(&f.s, a) + 1, word, 8, &len), 0);
	assert_string_equal(word, "x");
	assert_int_equal(scan_key(&f.s, b, word, sizeof(word)), 0);
	assert_string_equal(word, "bc");
	assert_int_equal(scan_key(&f.s, b, word, 2), -1);
	scan_place(&f.s, f.nodes[b].at, &line, &column);
	assert_int_equal(line, 2);
	assert_int_equal(column, 13);
}

static void only_plain_numbers_become_integers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} numbers[] = {
		{ "0", true, 0 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "-1", false, 0 },
		{ "-0", false, 0 },
		{ "1.0", false, 0 },
		{ "1e3", false, 0 },
		{ "\"5\"", false, 0 },
		{ "null", false, 0 },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < N(numbers); i++) {
		uint64_t value = 0;

		assert_int_equal(scan_text(&f, numbers[i].text), 0);
		assert_int_equal(scan_u64(&f.s, 0, &value), numbers[i].ok);
		assert_int_equal(value, numbers[i].value);
	}
}

/* xorshift64: the same texts on every machine. */
static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* jansson cannot hold numbers that are too big; then it alone refuses. */
static bool jansson_takes(const char *text, size_t len, bool *ret_overflow)
{
	json_error_t why;
	json_t *value = json_loadb(text, len,
	    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);

	*ret_overflow = value == NULL &&
	                json_error_code(&why) == json_error_numeric_overflow;
	json_decref(value);
	return value != NULL;
}

static void it_agrees_with_jansson(void **state)
{
	static const char *const pieces[] = { "{", "}", "[", "]", ",", ":",
		"\"a\"", "\"b\"", "\"\\u0061\"", "\"\\ud83d\\ude00\"", "1",
		"-2", "3.5", "1e5", "01", "true", "null", "fals", " ", "\n",
		"\"", "\\", "\xc3\xa9", "\xff", "\"\xc3\xa9\"", "\"\\u0000\"" };
	uint64_t seed = 88172645463325252u;
	size_t n_good = 0;
	struct fixture f;

	(void)state;
	for (int round = 0; round < 300000; round++) {
		char text[128] = "";
		bool overflow;
		bool theirs;
		bool ours;
		size_t n = 1 + random_next(&seed) % 9;

		for (size_t i = 0; i < n; i++)
			strcat(text, pieces[random_next(&seed) % N(pieces)]);
		ours = scan_text(&f, text) == 0;
		theirs = jansson_takes(text, strlen(text), &overflow);
		n_good += ours;
		if (ours != theirs && !overflow)
			fail_msg("%s: ours %d, theirs %d", text, ours, theirs);
	}
	assert_true(n_good > 1000);
}

/* Two names whose 32 bits of FNV-1a are the same. */
#define ONE   "kwipbyv"
#define OTHER "uagxfyd"

static void names_of_one_hash_are_two_names(void **state)
{
	struct fixture f;
	uint32_t first;
	uint32_t second;

	(void)state;
	assert_int_equal(
	    scan_text(&f, "{\"" ONE "\":1,\"x\":2,\"" OTHER "\":3}"), 0);
	first = scan_member(&f.s, 0, ONE);
	second = scan_member(&f.s, 0, OTHER);
	assert_int_equal(f.nodes[first].key_hash, f.nodes[second].key_hash);
	assert_int_not_equal(first, second);
	assert_int_equal(f.s.text[f.nodes[second].at], '3');
	assert_int_equal(
	    scan_text(&f, "{\"" ONE "\":1,\"" OTHER "\":2,\"" OTHER "\":3}"),
	    -1);
	assert_int_equal(
	    scan_text(&f, "{\"" ONE "\":1,\"" OTHER "\":2,\"" ONE "\":3}"), -1);
}

#define MANY 16000

/* A key among thousands is found, and a second of it; none that is not there. */
static void keys_among_thousands_are_found_and_told_apart(void **state)
{
	struct scan s = { .cap = MANY + 2, .max_depth = 1 };
	char *text = malloc(MANY * 16);
	struct error e = { 0 };
	size_t len = 1;

	(void)state;
	s.nodes = calloc(s.cap, sizeof(s.nodes[0]));
	assert_true(text != NULL && s.nodes != NULL);
	text[0] = '{';
	for (int i = 0; i < MANY; i++)
		len += (size_t)snprintf(text + len, 16, "%s\"k%d\":%d",
		    i > 0 ? "," : "", i, i % 10);
	s.text = text;
	for (int i = 0; i < MANY; i += 1599) {
		s.len =
		    len + (size_t)snprintf(text + len, 16, ",\"k%d\":0}", i);
		assert_int_equal(scan_parse(&s, &e), -1);
		assert_string_equal(e.text, "duplicate key");
		assert_int_equal(s.fault_at, len + 1);
	}
	text[len] = '}';
	s.len = len + 1;
	assert_int_equal(scan_parse(&s, &e), 0);
	for (int i = 0; i < MANY; i++) {
		char name[16];
		uint64_t value;

		(void)snprintf(name, sizeof(name), "k%d", i);
		assert_true(scan_u64(&s, scan_member(&s, 0, name), &value));
		assert_int_equal(value, i % 10);
	}
	assert_int_equal(scan_member(&s, 0, "k16000"), SCAN_NONE);
	assert_int_equal(scan_member(&s, 0, "k"), SCAN_NONE);
	free(s.nodes);
	free(text);
}

static void half_a_surrogate_pair_can_be_let_through(void **state)
{
	static const char text[] = "{\"a\":\"x\\ud800y\",\"b\":"
	                           "\"\\uDfFf\\ud83d\\ude00\",\"c\":\"ok\"}";
	struct fixture f;
	char value[32] = "";
	size_t len = 0;

	(void)state;
	assert_int_equal(scan_text(&f, text), -1);
	f.s = (struct scan){ .text = text,
		.len = strlen(text),
		.nodes = f.nodes,
		.cap = NODES,
		.max_depth = DEPTH,
		.lone_surrogates = true };
	assert_int_equal(scan_parse(&f.s, &(struct error){ 0 }), 0);
	assert_int_equal(scan_string(&f.s, scan_member(&f.s, 0, "a"), value,
	                     sizeof(value), &len),
	    -1);
	assert_int_equal(scan_string(&f.s, scan_member(&f.s, 0, "b"), value,
	                     sizeof(value), &len),
	    -1);
	assert_int_equal(scan_string(&f.s, scan_member(&f.s, 0, "c"), value,
	                     sizeof(value), &len),
	    0);
	assert_string_equal(value, "ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_formed_texts_are_taken),
		cmocka_unit_test(malformed_texts_are_refused_at_their_place),
		cmocka_unit_test(bounds_are_kept),
		cmocka_unit_test(nodes_say_where_everything_is),
		cmocka_unit_test(only_plain_numbers_become_integers),
		cmocka_unit_test(names_of_one_hash_are_two_names),
		cmocka_unit_test(keys_among_thousands_are_found_and_told_apart),
		cmocka_unit_test(half_a_surrogate_pair_can_be_let_through),
		cmocka_unit_test(it_agrees_with_jansson),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
