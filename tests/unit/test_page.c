/*
 * tests/unit/test_page.c - JSON texts that are written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "mcp/page.h"

static void is(const struct page *p, const char *text)
{
	assert_false(p->failed);
	assert_int_equal(p->len, strlen(text));
	assert_memory_equal(p->data, text, p->len);
}

static void strings_are_escaped_and_foreign_bytes_counted(void **state)
{
	static const char odd[] = "a\"\\\n\t\x01\x7f\0\xc3\xa9\xff\xc3";
	struct page p;

	(void)state;
	page_init(&p, 1000);
	assert_int_equal(page_string(&p, odd, sizeof(odd) - 1), 2);
	is(&p, "\"a\\\"\\\\\\n\\t\\u0001\\u007f\\u0000\xc3\xa9"
	       "\xef\xbf\xbd\xef\xbf\xbd\"");
	page_free(&p);
}

static void any_bytes_make_a_valid_string(void **state)
{
	struct scan_node node;
	uint8_t bytes[256];
	char back[1024];
	struct page p;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	page_init(&p, 4096);
	assert_int_equal(page_string(&p, bytes, sizeof(bytes)), 128);
	struct scan s = {
		.text = p.data, .len = p.len, .nodes = &node, .cap = 1
	};
	assert_int_equal(scan_parse(&s, &(struct error){ 0 }), 0);
	assert_int_equal(scan_string(&s, 0, back, sizeof(back), &len), 0);
	assert_int_equal(len, 128 + 3 * 128);
	assert_memory_equal(back, bytes, 128);
	page_free(&p);
}

static void what_does_not_fit_is_remembered(void **state)
{
	struct page p;

	(void)state;
	page_init(&p, 10);
	page_text(&p, "0123456789");
	assert_false(p.failed);
	page_text(&p, "x");
	assert_true(p.failed);
	page_clear(&p);
	page_format(&p, "%d", 42);
	is(&p, "42");
	page_base64(&p, "abcdefg", 7);
	assert_true(p.failed);
	page_free(&p);
}

static void base64_and_hex_are_whole(void **state)
{
	struct page p;

	(void)state;
	page_init(&p, 100);
	page_base64(&p, "\xff\0a", 3);
	page_text(&p, " ");
	page_hex(&p, (const uint8_t *)"\x0a\xff", 2);
	is(&p, "/wBh 0aff");
	page_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_escaped_and_foreign_bytes_counted),
		cmocka_unit_test(any_bytes_make_a_valid_string),
		cmocka_unit_test(what_does_not_fit_is_remembered),
		cmocka_unit_test(base64_and_hex_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
