/*
 * mcp/lore.h - what a model likes to know of a language and no policy says:
 * what it is used for, and examples that run as they are.
 */
#ifndef MCP_LORE_H
#define MCP_LORE_H

#include <stdbool.h>
#include <stddef.h>

struct lore_example {
	const char *title, *description, *code;
};

struct lore {
	const char *name;
	const char *package_manager;
	const char *use_cases[6];
	bool plots; /* image files that a run leaves are shown */
	struct lore_example examples[3];
};

/* NULL for a language that nobody wrote about. */
const struct lore *lore_of(const char *language);

#endif
