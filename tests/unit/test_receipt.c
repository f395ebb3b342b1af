/*
 * tests/unit/test_receipt.c - the outcome's place in the log, from the record
 * beside a run's results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "mcp/receipt.h"

#define RUN  "r_00112233445566778899aabbccddeeff"
#define NODE 64

static const struct facts before = { .run_id = RUN,
	.audit = { 7, "intent", true } };

static void envelope(
    const char *statement, const char *signature, struct page *to)
{
	page_init(to, PAGE_LINE_MAX);
	page_text(to, "{\"payload\": \"");
	page_base64(to, statement, strlen(statement));
	page_format(to, "\", \"signatures\": [{\"sig\": \"%s\"}]}", signature);
}

static struct facts recall(const char *statement, const char *signature)
{
	struct scan_node nodes[NODE];
	struct scan room = { .nodes = nodes, .cap = NODE, .max_depth = 8 };
	struct facts f = before;
	struct page text;

	envelope(statement, signature, &text);
	receipt_recall(&text, &room, &f);
	page_free(&text);
	return f;
}

static void the_leaf_is_that_of_the_line(void **state)
{
	static const char line[] =
	    "\0{\"sig\":\"c2ln\",\"stmt\":{\"predicate\":"
	    "{\"req\":\"" RUN "\",\"seq\":12,\"type\":"
	    "\"outcome\"}}}";
	struct facts f =
	    recall("{\"predicate\":{\"req\":\"" RUN "\",\"seq\":12,"
	           "\"type\":\"outcome\"}}",
	        "c2ln");
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX];

	(void)state;
	sha256_of(line, sizeof(line) - 1, digest);
	sha256_hex(digest, hex);
	assert_int_equal(f.audit.seq, 12);
	assert_string_equal(f.audit.leaf, hex);
	assert_false(f.audit.of_intent);
}

static void what_is_no_outcome_of_this_run_changes_nothing(void **state)
{
	static const char *const wrong[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"predicate\":5}",
		"{\"predicate\":{\"req\":\"" RUN
		"\",\"seq\":1,\"type\":\"intent\"}}",
		"{\"predicate\":{\"req\":\"r_0\",\"seq\":1,\"type\":"
		"\"outcome\"}}",
		"{\"predicate\":{\"req\":\"" RUN "\",\"type\":\"outcome\"}}",
		"{\"predicate\":{\"req\":\"" RUN
		"\",\"seq\":-1,\"type\":\"outcome\"}}",
		"{\"predicate\":{\"req\":\"" RUN
		"\",\"seq\":\"1\",\"type\":\"outcome\"}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct facts f = recall(wrong[i], "c2ln");

		assert_memory_equal(&f, &before, sizeof(f));
	}
}

static void an_envelope_that_is_none_changes_nothing(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"5",
		"[]",
		"{\"payload\":\"!\",\"signatures\":[{\"sig\":\"\"}]}",
		"{\"payload\":5,\"signatures\":[{\"sig\":\"\"}]}",
		"{\"payload\":\"e30=\",\"signatures\":[]}",
		"{\"payload\":\"e30=\",\"signatures\":{\"a\":1}}",
		"{\"payload\":\"e30=\",\"signatures\":[{\"sig\":5}]}",
		"{\"payload\":\"e30=\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct scan_node nodes[NODE];
		struct scan room = {
			.nodes = nodes, .cap = NODE, .max_depth = 8
		};
		struct facts f = before;
		struct page text;

		page_init(&text, PAGE_LINE_MAX);
		page_text(&text, wrong[i]);
		receipt_recall(&text, &room, &f);
		page_free(&text);
		assert_memory_equal(&f, &before, sizeof(f));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_leaf_is_that_of_the_line),
		cmocka_unit_test(
		    what_is_no_outcome_of_this_run_changes_nothing),
		cmocka_unit_test(an_envelope_that_is_none_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
