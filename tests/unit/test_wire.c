/*
 * tests/unit/test_wire.c - the one codec: what it accepts and what it refuses.
 */
#include "base/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct point {
	uint32_t x;
	char label[4];
};

struct sample {
	uint64_t number;
	uint8_t digest[4];
	char text[8];
	WIRE_BLOB_OF(8) blob;
	WIRE_LIST_OF(struct point, 2) points;
};

static const struct wire_field point_rows[] = {
	WIRE_ROW_U32(point, x),
	WIRE_ROW_TEXT(point, label),
};
static const struct wire_layout point = WIRE_LAYOUT(point, point_rows);

static const struct wire_field sample_rows[] = {
	WIRE_ROW_U64(sample, number),
	WIRE_ROW_FIXED(sample, digest),
	WIRE_ROW_TEXT(sample, text),
	WIRE_ROW_BLOB(sample, blob),
	WIRE_ROW_LIST(sample, points, &point),
};
static const struct wire_layout sample = WIRE_LAYOUT(sample, sample_rows);

static const struct wire_message messages[] = {
	{ 7, "sample", &sample },
	{ 8, "bare", NULL },
};
static const struct wire_protocol test_protocol = { "test", 2, messages };

static const struct sample full = {
	.number = 0x1122334455667788,
	.digest = { 1, 2, 3, 4 },
	.text = "seven77",
	.blob = { 8, { 1, 0, 2, 0, 3, 0, 4, 0 } },
	.points = { 2, { { 5, "abc" }, { 6, "" } } },
};

static size_t encode(uint8_t *data, size_t cap, const struct sample *s)
{
	struct bytes_writer w = { data, cap, 0, false };
	struct error e = { 0 };

	assert_int_equal(wire_encode(&test_protocol, 7, s, &w, &e), 0);
	return w.len;
}

static int decode(const uint8_t *data, size_t len, struct sample *ret)
{
	struct bytes_reader r = { data, len, 0, false };
	struct error e = { 0 };
	uint16_t verb = 99;
	int result = wire_decode(&test_protocol, &r, &verb,
	    (struct wire_target){ ret, sizeof(*ret) }, &e);

	if (result < 0) {
		assert_int_equal(verb, 99);
		assert_int_equal(e.kind, ERROR_MALFORMED);
	}
	return result;
}

static void what_is_encoded_is_decoded(void **state)
{
	uint8_t data[256];
	struct sample back;
	size_t len = encode(data, sizeof(data), &full);

	(void)state;
	assert_int_equal(decode(data, len, &back), 0);
	assert_memory_equal(&back, &full, sizeof(full));
}

static void every_shorter_message_is_malformed(void **state)
{
	uint8_t data[256];
	struct sample back;
	size_t len = encode(data, sizeof(data), &full);

	(void)state;
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(decode(data, cut, &back), -1);
}

static void a_byte_left_over_is_malformed(void **state)
{
	uint8_t data[256] = { 0 };
	struct sample back;
	size_t len = encode(data, sizeof(data), &full);

	(void)state;
	assert_int_equal(decode(data, len + 1, &back), -1);
}

static void counts_above_the_member_are_malformed(void **state)
{
	uint8_t data[256];
	struct sample back;
	size_t len = encode(data, sizeof(data), &full);
	/* verb 2, number 8, digest 4: the text's length stands at 14, the
	 * blob's at 14 + 2 + 7, the list's at 23 + 4 + 8. */
	static const size_t at[] = { 14, 23, 35 };

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint8_t bad[256];

		memcpy(bad, data, sizeof(bad));
		bad[at[i]] = (uint8_t)(bad[at[i]] + 1);
		assert_int_equal(decode(bad, len, &back), -1);
		bad[at[i] + 1] = 0xff;
		assert_int_equal(decode(bad, len, &back), -1);
	}
}

static void a_nul_in_a_text_is_malformed(void **state)
{
	uint8_t data[256];
	struct sample back;
	size_t len = encode(data, sizeof(data), &full);

	(void)state;
	data[17] = 0;
	assert_int_equal(decode(data, len, &back), -1);
}

static void an_unknown_verb_is_malformed(void **state)
{
	static const uint8_t data[] = { 9, 0 };
	struct sample back;

	(void)state;
	assert_int_equal(decode(data, sizeof(data), &back), -1);
	assert_int_equal(decode(data, 0, &back), -1);
}

static void a_full_buffer_is_an_error_of_the_writer(void **state)
{
	uint8_t data[256];
	size_t len = encode(data, sizeof(data), &full);
	struct error e;

	(void)state;
	for (size_t cap = 0; cap < len; cap++) {
		struct bytes_writer w = { data, cap, 0, false };

		assert_int_equal(
		    wire_encode(&test_protocol, 7, &full, &w, &e), -1);
		assert_int_equal(e.kind, ERROR_LIMIT);
	}
}

static void a_count_of_ours_above_the_member_is_refused(void **state)
{
	uint8_t data[256];
	struct bytes_writer w = { data, sizeof(data), 0, false };
	struct sample bad = full;
	struct error e;

	(void)state;
	bad.points.n = 3;
	assert_int_equal(wire_encode(&test_protocol, 7, &bad, &w, &e), -1);
	bad = full;
	bad.blob.len = 9;
	assert_int_equal(wire_encode(&test_protocol, 7, &bad, &w, &e), -1);
	bad = full;
	memset(bad.text, 'x', sizeof(bad.text));
	assert_int_equal(wire_encode(&test_protocol, 7, &bad, &w, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_encoded_is_decoded),
		cmocka_unit_test(every_shorter_message_is_malformed),
		cmocka_unit_test(a_byte_left_over_is_malformed),
		cmocka_unit_test(counts_above_the_member_are_malformed),
		cmocka_unit_test(a_nul_in_a_text_is_malformed),
		cmocka_unit_test(an_unknown_verb_is_malformed),
		cmocka_unit_test(a_full_buffer_is_an_error_of_the_writer),
		cmocka_unit_test(a_count_of_ours_above_the_member_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
