/* fuzz/fuzz_trace.c - what comes out of a ring: whatever the bytes, what is
 * accepted becomes one line of strict JSON, the rest is refused. */
#include <string.h>

#include "base/scan.h"
#include "executor/trace/line.h"
#include "fuzz/fuzz.h"

#define NODES 4096

static void check_line(const struct text_out *line)
{
	struct scan_node *nodes = calloc(NODES, sizeof(*nodes));
	struct scan s = { .text = line->data,
		.len = line->len - 1,
		.nodes = nodes,
		.cap = NODES,
		.max_depth = 3 };
	struct error e = { 0 };

	MUST(nodes != NULL && line->len > 1);
	MUST(line->data[line->len - 1] == '\n');
	for (size_t i = 0; i < s.len; i++)
		MUST((unsigned char)line->data[i] >= 0x20 &&
		     line->data[i] != 0x7f);
	/* More arguments than there are nodes is no fault of the line's. */
	MUST(scan_parse(&s, &e) == 0 || e.kind == ERROR_LIMIT);
	free(nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_out out = { malloc(LINE_MAX_BYTES), LINE_MAX_BYTES, 0 };
	struct calls *calls = calloc(1, sizeof(*calls));
	struct trace_record r;
	struct line_event event = { &r, data + sizeof(r), calls };
	struct error e = { 0 };

	MUST(out.data != NULL && calls != NULL);
	memcpy(calls->names[257], "openat", sizeof("openat"));
	if (line_decode(data, size, &r, &e) == 0) {
		if (line_event(&event, &out, &e) == 0)
			check_line(&out);
		else
			MUST(out.len == 0);
	} else {
		MUST(e.kind == ERROR_MALFORMED);
	}
	free(calls);
	free(out.data);
	return 0;
}
