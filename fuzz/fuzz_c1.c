/*
 * fuzz/fuzz_c1.c - the readers of a log line and of MANIFEST: what passes is
 * printable and found whole by the walk; nothing is read beyond the text.
 */
#include "audit/c1.h"
#include "audit/entry.h"
#include "audit/manifest.h"
#include "fuzz/fuzz.h"

static size_t walk(const struct c1_value *from, const char *end)
{
	struct c1_member m;
	struct c1_walk w;
	size_t n = 0;

	c1_walk(from, &w);
	for (; c1_next(&w, &m); n++) {
		MUST(m.key + m.key_len <= end);
		MUST(m.value.at + m.value.len <= end);
		n += walk(&m.value, end);
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct c1_value whole;
	struct entry entry;
	struct manifest m;
	struct error e;

	if (c1_check(text, size, &whole, &e) == 0) {
		for (size_t i = 0; i < size; i++)
			MUST(text[i] >= 0x20 && text[i] <= 0x7e);
		(void)walk(&whole, text + size);
	}
	if (entry_read(text, size, &entry, &e) == 0)
		MUST(entry.statement.at + entry.statement.len < text + size);
	if (manifest_read(text, size, &m, &e) == 0) {
		for (size_t i = 0; i < m.n_lines; i++)
			MUST(manifest_find(&m, m.lines[i].name,
			         m.lines[i].name_len) == &m.lines[i]);
		manifest_done(&m);
	}
	return 0;
}
