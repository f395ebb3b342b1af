/*
 * tests/unit/test_picture.c - files told by their first bytes.  Every row is
 * looked at again in every shorter form, on memory of exactly that size.
 */
#include "executor/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SVG "<svg xmlns=\"http://www.w3.org/2000/svg\" "

/* clang-format off */
static const struct {
	const char *what, *data;
	size_t len; /* 0: of the text */
	enum picture_kind kind;
	uint32_t width, height;
} rows[] = {
	{ "png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xe0\10\6", 26, PICTURE_PNG, 640, 480 },
	{ "png, cut", "\x89PNG\r\n\x1a\nfake", 12, PICTURE_PNG, 0, 0 },
	{ "png of no height", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\0\0", 24, PICTURE_PNG, 0, 0 },
	{ "gif", "GIF89a\x40\1\xc8\0", 10, PICTURE_GIF, 320, 200 },
	{ "jpeg", "\xff\xd8\xff\xe0\0\4ab\xff\xff\xc2\0\x0b\10\1\x2c\1\x90\3", 20, PICTURE_JPEG, 400, 300 },
	{ "jpeg, data first", "\xff\xd8\xff\xda\0\4ab\xff\xc0\0\x0b\10\1\x2c\1\x90\3", 19, PICTURE_JPEG, 0, 0 },
	{ "jpeg, a segment of nothing", "\xff\xd8\xff\xe0\0\0\xff\xe0\0\0\xff\xe0\0\0", 14, PICTURE_JPEG, 0, 0 },
	{ "webp, lossy", "RIFF....WEBPVP8 ....\0\0\0\x9d\1\x2a\x40\1\xc8\0", 30, PICTURE_WEBP, 320, 200 },
	{ "webp, lossless", "RIFF....WEBPVP8L....\x2f\x3f\xc1\x31\0....." , 30, PICTURE_WEBP, 320, 200 },
	{ "webp, extended", "RIFF....WEBPVP8X....\0\0\0\0\x3f\1\0\xc7\0\0", 30, PICTURE_WEBP, 320, 200 },
	{ "pdf", "%PDF-1.4\n1 0 obj <</MediaBox [ 0 0 460.8 345.6 ]>>", 0, PICTURE_PDF, 461, 346 },
	{ "pdf, elsewhere", "%PDF-1.4\n/MediaBox 12 0 R", 0, PICTURE_PDF, 0, 0 },
	{ "pdf, upside down", "%PDF-1.4\n/MediaBox [9 9 0 0]", 0, PICTURE_PDF, 0, 0 },
	{ "svg", SVG "width='640' height=\"480px\">", 0, PICTURE_SVG, 640, 480 },
	{ "svg in points", "<?xml version='1.0'?>\n<!DOCTYPE svg PUBLIC \"a\"\n \"b\">\n<!-- > -->" SVG "width=\"460.8pt\" height=\"345.6pt\"/>", 0, PICTURE_SVG, 615, 461 },
	{ "svg by its box", "\xef\xbb\xbf" SVG "width=\"100%\" height=\"100%\" viewBox=\"0 0, 30.5 20\">", 0, PICTURE_SVG, 31, 20 },
	{ "svg of no size", "<svg>", 0, PICTURE_SVG, 0, 0 },
	{ "svg, absurd", SVG "width=\"1e9\" height=\"99999999999999\">", 0, PICTURE_SVG, 0, 0 },
	{ "no svg", "<svgx >", 0, PICTURE_TEXT, 0, 0 },
	{ "svg spoken of", "see <svg width='1' height='1'>", 0, PICTURE_TEXT, 0, 0 },
	{ "html", "<!-- x --><!doctype HTML>\n<p>", 0, PICTURE_HTML, 0, 0 },
	{ "html without a type", "<html>\n<head>", 0, PICTURE_HTML, 0, 0 },
	{ "text", "a,b\n1,2\n", 0, PICTURE_TEXT, 0, 0 },
	{ "text of others", "\xc3\xa9\xe2\x82\xac", 0, PICTURE_TEXT, 0, 0 },
	{ "latin-1", "caf\xe9", 0, PICTURE_BYTES, 0, 0 },
	{ "a NUL", "a\0b", 3, PICTURE_BYTES, 0, 0 },
	{ "nothing", "", 0, PICTURE_BYTES, 0, 0 },
	{ "zip", "PK\3\4..", 0, PICTURE_ZIP, 0, 0 },
	{ "gzip", "\x1f\x8b\x08..", 0, PICTURE_GZIP, 0, 0 },
	{ "sqlite", "SQLite format 3\0", 16, PICTURE_SQLITE, 0, 0 },
	{ "parquet", "PAR1....", 0, PICTURE_PARQUET, 0, 0 },
};
/* clang-format on */

static size_t len_of(size_t row)
{
	return rows[row].len > 0 ? rows[row].len : strlen(rows[row].data);
}

static void each_kind_and_size_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct picture is;

		picture_look((const uint8_t *)rows[i].data, len_of(i), &is);
		if (is.kind != rows[i].kind || is.width != rows[i].width ||
		    is.height != rows[i].height)
			fail_msg("%s: kind %d, %u by %u", rows[i].what,
			    (int)is.kind, is.width, is.height);
	}
}

static void whatever_is_cut_off_is_never_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 1; n < len_of(i); n++) {
			uint8_t *part = malloc(n);
			struct picture is;

			assert_non_null(part);
			memcpy(part, rows[i].data, n);
			picture_look(part, n, &is);
			assert_true(is.kind < PICTURE_KIND_N);
			assert_int_equal(is.width == 0, is.height == 0);
			free(part);
		}
}

/* The prefix may end within a character; a file may not. */
static void a_character_at_the_end_of_the_prefix_is_no_fault(void **state)
{
	uint8_t *text = malloc(PICTURE_PREFIX + 1);
	struct picture is;

	(void)state;
	assert_non_null(text);
	memset(text, 'a', PICTURE_PREFIX + 1);
	text[PICTURE_PREFIX - 1] = 0xc3;
	picture_look(text, PICTURE_PREFIX, &is);
	assert_int_equal(is.kind, PICTURE_TEXT);
	picture_look(text + 1, PICTURE_PREFIX - 1, &is);
	assert_int_equal(is.kind, PICTURE_BYTES);
	free(text);
}

static void names_refine_texts_alone(void **state)
{
	(void)state;
	assert_string_equal(picture_type(PICTURE_TEXT, "d/a.CSV"), "text/csv");
	assert_string_equal(picture_type(PICTURE_TEXT, "a.png"), "text/plain");
	assert_string_equal(picture_type(PICTURE_TEXT, "a"), "text/plain");
	assert_string_equal(picture_type(PICTURE_PNG, "a.csv"), "image/png");
	for (int i = 0; i < PICTURE_KIND_N; i++)
		assert_true(strlen(picture_type((enum picture_kind)i, "")) <
		            PICTURE_TYPE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_and_size_is_told),
		cmocka_unit_test(whatever_is_cut_off_is_never_read),
		cmocka_unit_test(
		    a_character_at_the_end_of_the_prefix_is_no_fault),
		cmocka_unit_test(names_refine_texts_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
