/*
 * fuzz/fuzz_text.c - encodings of base/text: what decodes has one spelling;
 * what is escaped holds no control character.
 */
#include <string.h>

#include "base/text.h"
#include "fuzz/fuzz.h"

#define INPUT_MAX 1024

static void one_spelling(const char *text, size_t size)
{
	char decoded[INPUT_MAX + 1];
	char again[3 * INPUT_MAX + 1];
	struct text_out bytes = { decoded, sizeof(decoded), 0 };
	struct text_out base64 = { again, sizeof(again), 0 };
	struct error e = { 0 };
	size_t len;

	if (text_base64_decode(text, size, &bytes, &e) == 0) {
		MUST(text_base64(decoded, bytes.len, &base64, &e) == 0);
		MUST(base64.len == size && memcmp(again, text, size) == 0);
	}
	if (text_percent_decode(text, decoded, sizeof(decoded), &len, &e) < 0)
		return;
	MUST(text_percent_encode(decoded, len, again, sizeof(again), &e) == 0);
	MUST(strcmp(again, text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[INPUT_MAX + 1] = { 0 };
	char shown[4 * INPUT_MAX];
	struct text_out out = { shown, sizeof(shown), 0 };

	if (size > INPUT_MAX)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	one_spelling(text, size);
	MUST(text_escape(text, size, TEXT_KEEP_NONE, &out) == size);
	for (size_t i = 0; i < out.len; i++)
		MUST((uint8_t)shown[i] >= 0x20 && shown[i] != 0x7f);
	return 0;
}
