/* fuzz/fuzz_args.c - arguments of tools: the first byte chooses the tool, the
 * rest is a JSON text; what is taken keeps the bounds of its row. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "mcp/tools.h"

#define NODES 4096

static void check_text(const struct args_text *t)
{
	MUST(t->data == NULL ? t->len == 0 : t->data[t->len] == '\0');
}

static void check_args(const struct args *a)
{
	check_text(&a->code);
	check_text(&a->language);
	check_text(&a->input);
	check_text(&a->path);
	MUST(a->run_id.data == NULL ||
	     strlen(a->run_id.data) == PROTOCOL_RUN_ID_MAX - 1);
	MUST(a->language.data == NULL ||
	     strlen(a->language.data) == a->language.len);
	MUST(a->files.n <= PROTOCOL_INPUTS_MAX);
	for (size_t i = 0; i < a->files.n; i++) {
		MUST(strlen(a->files.items[i].path.data) < PROTOCOL_NAME_MAX);
		check_text(&a->files.items[i].content);
	}
	MUST(a->libraries.n <= ARGS_NAMES_MAX);
	MUST(a->timeout_s <= 86400 && a->wait_s <= 50);
	MUST(a->limit <= 1048576);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "execute_code",
		"get_language_details", "get_run", "read_file", "get_policy" };
	struct scan_node *nodes = calloc(NODES, sizeof(*nodes));
	struct scan s = { .nodes = nodes,
		.cap = NODES,
		.max_depth = 64,
		.lone_surrogates = true };
	struct args *a = calloc(1, sizeof(*a));
	struct error e;

	MUST(nodes != NULL && a != NULL);
	if (size > 0) {
		const struct tool *tool = tools_find(
		    names[data[0] % (sizeof(names) / sizeof(names[0]))]);

		s.text = (const char *)data + 1;
		s.len = size - 1;
		if (scan_parse(&s, &e) == 0 && nodes[0].kind == SCAN_OBJECT &&
		    args_read(&s, 0, &tool->arguments, a, &e) == 0)
			check_args(a);
	}
	args_done(a);
	free(a);
	free(nodes);
	return 0;
}
