/* fuzz/fuzz_scan.c - the JSON scanner: it and jansson agree on what is JSON,
 * but for numbers that jansson finds too big and bounds that only we keep. */
#include <jansson.h>
#include <string.h>

#include "base/scan.h"
#include "fuzz/fuzz.h"

#define NODES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan_node *nodes = calloc(NODES, sizeof(*nodes));
	struct scan s = { .text = (const char *)data,
		.len = size,
		.nodes = nodes,
		.cap = NODES,
		.max_depth = 32 };
	struct error e = { 0 };
	json_error_t why;
	json_t *value;

	MUST(nodes != NULL);
	value = json_loadb((const char *)data, size,
	    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
	if (scan_parse(&s, &e) == 0) {
		MUST(value != NULL ||
		     json_error_code(&why) == json_error_numeric_overflow);
		MUST(s.n > 0 && s.nodes[0].at + s.nodes[0].len <= size);
	} else {
		MUST(s.fault_at <= size);
		/* jansson 2.14 loses a NUL byte behind a number. */
		MUST(value == NULL || e.kind == ERROR_LIMIT ||
		     memchr(data, 0, size) != NULL);
	}
	json_decref(value);
	free(nodes);
	return 0;
}
