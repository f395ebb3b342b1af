/*
 * mcp/tools.h - the tools: one table, from which the list, the schemas and the
 * reading of arguments follow.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include "mcp/args.h"
#include "mcp/server.h"

/* A tools/call whose arguments have been read. */
struct tool_call {
	const struct scan *scan;
	const struct rpc_message *message;
	const struct reply_to *to;
	struct args args;
};

struct tool {
	const char *name, *title, *description;
	const char *annotations; /* JSON members, but openWorldHint */
	bool lists_languages;    /* behind the description */
	bool is_run;             /* a call that cannot be decoded is recorded */
	struct args_table arguments;
	void (*call)(struct server *s, struct tool_call *c);
};

const struct tool *tools_find(const char *name);

/* The JSON list of them, in a fixed order. */
void tools_list(const struct server *s, struct page *to);

/* tools/call: decode, then answer or begin. */
void tools_call(struct server *s, const struct tool *tool, struct tool_call *c,
    uint32_t arguments);

/* ---- execute.c ---- */
void tool_execute(struct server *s, struct tool_call *c);
void tool_get_run(struct server *s, struct tool_call *c);
void tool_cancel_run(struct server *s, struct tool_call *c);
/* Arguments of a run that are wrong: recorded, when there is room. */
void execute_refused(
    struct server *s, struct tool_call *c, const struct error *why);

/* ---- files.c ---- */
void tool_list_files(struct server *s, struct tool_call *c);
void tool_read_file(struct server *s, struct tool_call *c);

/* A file or stream of a run by "sandbox://..."; false: no such resource. */
bool resource_read(
    struct server *s, const struct tool_call *c, const char *uri);
/* That there is none: what each era calls it. */
void resource_missing(
    struct server *s, const struct reply_to *to, const char *uri);

#endif
