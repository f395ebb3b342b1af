/*
 * mcp/tools.c - the table of tools.  Linked by bailiff-mcp.  Descriptions say
 * what a tool does and nothing else; they never hold a foreign byte.
 */
#include "mcp/tools.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define PATH_BYTES_MAX 170 /* percent-encoded it fits in a result's name */
#define READ_BYTES_MAX 1048576
#define WAIT_S_MAX     50 /* most clients give up after 60 */
#define TIMEOUT_S_MAX  86400
#define OFFSET_MAX     UINT64_C(1000000000000)
#define LANGUAGE_MAX   79
#define N(rows)        (sizeof(rows) / sizeof((rows)[0]))
#define TABLE(rows)           \
	{                     \
		rows, N(rows) \
	}
#define AT(member) offsetof(struct args, member)

/* clang-format off */
static const struct argument execute_rows[] = {
	{ "code", ARGUMENT_TEXT, AT(code), true, 0, 0,
	  "\"type\":\"string\",\"description\":\"The program's source.\"" },
	{ "language", ARGUMENT_WORD, AT(language), false, 0, LANGUAGE_MAX,
	  "\"type\":\"string\",\"default\":\"python\",\"description\":\"The language of the code, in any case.\"" },
	{ "libraries", ARGUMENT_NAMES, AT(libraries), false, 0, 0,
	  "\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},{\"type\":\"null\"}],\"default\":null,\"description\":\"Libraries that the code imports. Nothing is installed for a run: what the host has can be imported.\"" },
	{ "timeout", ARGUMENT_NUMBER, AT(timeout_s), false, 1, TIMEOUT_S_MAX,
	  "\"type\":\"integer\",\"minimum\":1,\"description\":\"Seconds until the program is stopped. Output up to then is kept. Without it, the policy's default.\"" },
	{ "stdin", ARGUMENT_TEXT, AT(input), false, 0, 0,
	  "\"type\":\"string\",\"description\":\"Standard input of the program.\"" },
	{ "files", ARGUMENT_FILES, AT(files), false, 0, 0,
	  "\"type\":\"array\",\"maxItems\":8,\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"Name of the file in the working directory, without a slash.\"},\"content\":{\"type\":\"string\"},\"encoding\":{\"type\":\"string\",\"enum\":[\"utf-8\",\"base64\"],\"default\":\"utf-8\"}},\"required\":[\"path\",\"content\"],\"additionalProperties\":false},\"description\":\"Files that the program finds in its working directory.\"" },
	{ "background", ARGUMENT_FLAG, AT(background), false, 0, 0,
	  "\"type\":\"boolean\",\"default\":false,\"description\":\"Answer when the run is accepted; get_run then tells how it goes. The run ends with this connection.\"" },
};
static const struct argument language_rows[] = {
	{ "language", ARGUMENT_WORD, AT(language), true, 0, LANGUAGE_MAX,
	  "\"type\":\"string\",\"description\":\"Name of a language.\"" },
};
#define RUN_ID_ROW \
	{ "run_id", ARGUMENT_RUN_ID, AT(run_id), true, 0, 0, \
	  "\"type\":\"string\",\"pattern\":\"^r_[0-9a-f]{32}$\",\"description\":\"The run_id of an earlier result.\"" }
static const struct argument get_run_rows[] = {
	RUN_ID_ROW,
	{ "wait_s", ARGUMENT_NUMBER, AT(wait_s), false, 0, WAIT_S_MAX,
	  "\"type\":\"integer\",\"minimum\":0,\"maximum\":50,\"default\":0,\"description\":\"Seconds to wait for the run to end.\"" },
	{ "stdout_offset", ARGUMENT_NUMBER, AT(offset), false, 0, OFFSET_MAX,
	  "\"type\":\"integer\",\"minimum\":0,\"default\":0,\"description\":\"Show standard output from this byte.\"" },
};
static const struct argument run_rows[] = { RUN_ID_ROW };
static const struct argument read_rows[] = {
	RUN_ID_ROW,
	{ "path", ARGUMENT_TEXT, AT(path), true, 0, PATH_BYTES_MAX,
	  "\"type\":\"string\",\"description\":\"Path as list_files gave it.\"" },
	{ "offset", ARGUMENT_NUMBER, AT(offset), false, 0, OFFSET_MAX,
	  "\"type\":\"integer\",\"minimum\":0,\"default\":0,\"description\":\"First byte to read.\"" },
	{ "limit", ARGUMENT_NUMBER, AT(limit), false, 1, READ_BYTES_MAX,
	  "\"type\":\"integer\",\"minimum\":1,\"maximum\":1048576,\"default\":40000,\"description\":\"Bytes to read at most.\"" },
};

static void call_languages(struct server *s, struct tool_call *c);
static void call_details(struct server *s, struct tool_call *c);
static void call_policy(struct server *s, struct tool_call *c);

#define READS "\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true"

static const struct tool tools[] = {
	{ .name = "execute_code", .title = "Execute code",
	  .description = "Run a program in a confined sandbox and return its output, exit code and files. "
	      "Each run starts empty: nothing is left of earlier ones. Files that the program leaves in its working directory are kept; images are shown.",
	  .annotations = "\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":false",
	  .lists_languages = true, .is_run = true,
	  .arguments = TABLE(execute_rows), .call = tool_execute },
	{ .name = "get_supported_languages", .title = "List languages",
	  .description = "List the languages that the policy allows.",
	  .annotations = READS, .call = call_languages },
	{ .name = "get_language_details", .title = "Describe a language",
	  .description = "Describe one language: version, package manager, what its programs may do, and examples.",
	  .annotations = READS, .arguments = TABLE(language_rows), .call = call_details },
	{ .name = "get_run", .title = "Get a run",
	  .description = "Tell how a run goes or how it ended, with its output.",
	  .annotations = READS, .arguments = TABLE(get_run_rows), .call = tool_get_run },
	{ .name = "cancel_run", .title = "Cancel a run",
	  .description = "Stop a run of this connection. One that has ended stays as it is.",
	  .annotations = "\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":true",
	  .arguments = TABLE(run_rows), .call = tool_cancel_run },
	{ .name = "list_files", .title = "List files",
	  .description = "List the files that a run left in its working directory.",
	  .annotations = READS, .arguments = TABLE(run_rows), .call = tool_list_files },
	{ .name = "read_file", .title = "Read a file",
	  .description = "Read a file that a run left, as text or base64.",
	  .annotations = READS, .arguments = TABLE(read_rows), .call = tool_read_file },
	{ .name = "get_policy", .title = "Get the policy",
	  .description = "Show what is allowed: languages, capabilities, limits, and the hash of the policy.",
	  .annotations = READS, .call = call_policy },
};
/* clang-format on */

const struct tool *tools_find(const char *name)
{
	for (size_t i = 0; i < N(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

static void put_schema(const struct args_table *table, struct page *to)
{
	bool first = true;

	page_text(to, "{\"type\":\"object\",\"properties\":{");
	for (size_t i = 0; i < table->n; i++)
		page_format(to, "%s\"%s\":{%s}", i > 0 ? "," : "",
		    table->rows[i].name, table->rows[i].schema);
	page_text(to, "}");
	for (size_t i = 0; i < table->n; i++) {
		if (!table->rows[i].required)
			continue;
		page_format(to, "%s\"%s\"", first ? ",\"required\":[" : ",",
		    table->rows[i].name);
		first = false;
	}
	page_text(to, first ? "" : "]");
	page_text(to, ",\"additionalProperties\":false}");
}

static void put_description(
    const struct server *s, const struct tool *tool, struct page *to)
{
	const struct protocol_bound *wall =
	    about_limit(&s->about, NULL, "wall_ms");

	page_format(to, ",\"description\":\"%s", tool->description);
	if (tool->lists_languages) {
		page_text(to, " Languages: ");
		about_names(&s->about, to);
		page_format(to, ". Network: %s. ",
		    about_grants(&s->about, "network") ? "as the policy allows"
		                                       : "none");
		if (wall != NULL)
			page_format(to,
			    "Timeout: %" PRIu64 " s, at most %" PRIu64 " s.",
			    wall->value / 1000, wall->max / 1000);
	}
	page_text(to, "\"");
}

void tools_list(const struct server *s, struct page *to)
{
	page_text(to, "[");
	for (size_t i = 0; i < N(tools); i++) {
		const struct tool *t = &tools[i];
		bool open = t->is_run && about_grants(&s->about, "network");

		page_format(to, "%s{\"name\":\"%s\",\"title\":\"%s\"",
		    i > 0 ? "," : "", t->name, t->title);
		put_description(s, t, to);
		page_text(to, ",\"inputSchema\":");
		put_schema(&t->arguments, to);
		page_format(to,
		    ",\"annotations\":{\"title\":\"%s\",%s,\"openWorldHint\":"
		    "%s}}",
		    t->title, t->annotations, open ? "true" : "false");
	}
	page_text(to, "]");
}

static void reply_refusal(
    struct server *s, const struct reply_to *to, const struct error *why)
{
	page_clear(&s->text);
	page_format(&s->text,
	    "the arguments are wrong: %s. Trying again unchanged will not "
	    "help.",
	    why->text);
	reply_text(s, to, &s->text, REPLY_ERROR);
}

void tools_call(struct server *s, const struct tool *tool, struct tool_call *c,
    uint32_t arguments)
{
	struct error e;

	if (args_read(c->scan, arguments, &tool->arguments, &c->args, &e) == 0)
		tool->call(s, c);
	else if (tool->is_run)
		execute_refused(s, c, &e);
	else
		reply_refusal(s, c->to, &e);
	args_done(&c->args);
}

static void call_languages(struct server *s, struct tool_call *c)
{
	page_clear(&s->text);
	about_list(&s->about, &s->text);
	reply_text(s, c->to, &s->text, REPLY_GOOD);
}

static void call_details(struct server *s, struct tool_call *c)
{
	const struct protocol_language *l =
	    about_find(&s->about, c->args.language.data);

	page_clear(&s->text);
	page_clear(&s->list);
	if (l != NULL) {
		about_details(l, &s->text, "\n  ");
		page_text(&s->text, "\n}");
	} else {
		/* As the peer says it, and no error there either. */
		page_text(&s->list, "Unsupported language: ");
		page_bytes(
		    &s->list, c->args.language.data, c->args.language.len);
		page_text(&s->text, "{\n  \"error\": ");
		(void)page_string(&s->text, s->list.data, s->list.len);
		page_text(&s->text, "\n}");
	}
	reply_text(s, c->to, &s->text, REPLY_GOOD);
}

static void call_policy(struct server *s, struct tool_call *c)
{
	page_clear(&s->text);
	about_policy(&s->about, &s->text);
	reply_text(s, c->to, &s->text, REPLY_GOOD);
}
