/*
 * tests/mcp/fixture.c - the server that the official conformance suite asks
 * for: its tools, prompts and resources on the protocol library of bailiff-mcp
 * (mcp/session.c, messages.c, reply.c, loop.c), no service behind.  It never
 * leaves the build tree.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/channel.h"
#include "mcp/calls.h"
#include "mcp/loop.h"
#include "mcp/methods.h"

#define PNG                                                                 \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwH" \
	"wAFBQIAX8jx0gAAAABJRU5ErkJggg=="
#define WAV     "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define IMAGE \
	"{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define SCHEMA(p) "{\"type\":\"object\",\"properties\":{" p "}}"
#define ASK_NAME(key, text, member)                                            \
	"\"" key "\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":" \
	"\"form\",\"message\":\"" text "\",\"requestedSchema\":{\"type\":"     \
	"\"object\",\"properties\":{\"" member "\":{\"type\":\"string\"}},"    \
	"\"required\":[\"" member "\"]}}}"
#define ASK_MODEL(key, text, n)                                           \
	"\"" key "\":{\"method\":\"sampling/createMessage\",\"params\":{" \
	"\"messages\":[{\"role\":\"user\",\"content\":" TEXT(             \
	    text) "}],"                                                   \
	          "\"maxTokens\":" n "}}"
#define ASK_ROOTS "\"client_roots\":{\"method\":\"roots/list\",\"params\":{}}"

static uint32_t member(
    const struct asking *a, uint32_t object, const char *name)
{
	return object != SCAN_NONE && a->scan->nodes[object].kind == SCAN_OBJECT
	           ? scan_member(a->scan, object, name)
	           : SCAN_NONE;
}

/* The string of a node, "" if it is none. */
static void text_of(const struct asking *a, uint32_t node, char ret[256])
{
	size_t len;

	if (node == SCAN_NONE || scan_string(a->scan, node, ret, 256, &len) < 0)
		ret[0] = '\0';
}

static void content(struct server *s, const struct asking *a, const char *json)
{
	page_format(&s->body, "\"content\":[%s]", json);
	reply_result(s, a->to, REPLY_PLAIN);
}

static void say(struct server *s, const struct asking *a, const char *text)
{
	page_text(&s->body, "\"content\":[{\"type\":\"text\",\"text\":");
	page_word(&s->body, text);
	page_text(&s->body, "}]");
	reply_result(s, a->to, REPLY_PLAIN);
}

static void ask(struct server *s, const struct asking *a, const char *requests,
    const char *state)
{
	page_format(&s->body,
	    "\"resultType\":\"input_required\",\"inputRequests\":{%s}",
	    requests);
	if (state != NULL)
		page_format(&s->body, ",\"requestState\":\"%s\"", state);
	reply_result(s, a->to, REPLY_PLAIN);
}

/* One that a client answered; SCAN_NONE: it must be asked. */
static uint32_t answer(const struct asking *a, const char *key)
{
	return member(a, method_param(a, "inputResponses"), key);
}

static bool state_is(const struct asking *a, const char *wanted)
{
	char state[256];

	text_of(a, method_param(a, "requestState"), state);
	return strcmp(state, wanted) == 0;
}

static bool can(const struct asking *a, const char *capability)
{
	return member(a, rpc_meta(a->scan, a->message, "clientCapabilities"),
	           capability) != SCAN_NONE;
}

/* ---- tools of one answer ---- */

static const struct {
	const char *name, *content;
} plain[] = {
	{ "test_simple_text",
	    TEXT("This is a simple text response for testing.") },
	{ "test_image_content", IMAGE },
	{ "test_audio_content", "{\"type\":\"audio\",\"data\":\"" WAV
	                        "\",\"mimeType\":\"audio/wav\"}" },
	{ "test_embedded_resource",
	    "{\"type\":\"resource\",\"resource\":{\"uri\":"
	    "\"test://embedded-resource\",\"mimeType\":\"text/plain\","
	    "\"text\":\"This is an embedded resource content.\"}}" },
	{ "test_multiple_content_types",
	    TEXT(
	        "Multiple content types test:") "," IMAGE
	                                        ",{\"type\":\"resource\","
	                                        "\"resource\":{\"uri\":"
	                                        "\"test://"
	                                        "mixed-content-resource\","
	                                        "\"mimeType\":"
	                                        "\"application/json\",\"text\":"
	                                        "\"{\\\"test\\\":\\\"data\\\","
	                                        "\\\"value\\\":123}\"}}" },
};

static void on_error(struct server *s, const struct asking *a)
{
	page_text(&s->body,
	    "\"isError\":true,\"content\":[" TEXT(
	        "This tool intentionally returns an error for testing") "]");
	reply_result(s, a->to, REPLY_PLAIN);
}

static void on_progress(struct server *s, const struct asking *a)
{
	uint32_t token =
	    a->message->meta != SCAN_NONE
	        ? scan_member(a->scan, a->message->meta, "progressToken")
	        : SCAN_NONE;
	struct rpc_span text = rpc_span(a->scan, token);

	for (int i = 0; i <= 100 && token != SCAN_NONE; i += 50) {
		page_text(&s->body, "\"progressToken\":");
		page_bytes(&s->body, text.at, text.len);
		page_format(&s->body, ",\"progress\":%d,\"total\":100", i);
		reply_notify(s, "notifications/progress");
	}
	content(s, a, TEXT("done"));
}

static void log_line(struct server *s, const char *text)
{
	page_format(&s->body, "\"level\":\"info\",\"data\":\"%s\"", text);
	reply_notify(s, "notifications/message");
}

static void on_logging(struct server *s, const struct asking *a)
{
	if (!a->message->modern ||
	    rpc_meta(a->scan, a->message, "logLevel") != SCAN_NONE) {
		log_line(s, "Tool execution started");
		log_line(s, "Tool processing data");
		log_line(s, "Tool execution completed");
	}
	content(s, a, TEXT("done"));
}

static void on_missing(struct server *s, const struct asking *a)
{
	static const struct reply_fault missing = { RPC_CAPABILITY,
		"Missing required client capability",
		"{\"requiredCapabilities\":{\"sampling\":{}}}" };

	if (can(a, "sampling"))
		content(s, a, TEXT("sampling is there"));
	else
		reply_fault(s, a->to, &missing);
}

/* ---- legacy: requests to the client ---- */

/* The answer of the client is kept where a call has its resource's name. */
static void render_answer(struct server *s, struct call *c, struct fetch *f)
{
	(void)f;
	page_clear(&s->text);
	page_format(&s->text, "%s%s", c->plan.name,
	    c->plan.uri != NULL ? c->plan.uri : "none");
	reply_text(s, &c->to, &s->text, REPLY_GOOD);
}

static const struct plan_kind answered = { false, NULL, render_answer };

static void request_client(struct server *s, const struct asking *a,
    const char *before, const char *method)
{
	const struct call_of of = { a->scan, a->message, a->to, &answered,
		NULL };
	struct call *c = calls_add(s, &of);

	if (c == NULL)
		abort();
	c->ready = false;
	(void)snprintf(c->plan.name, sizeof(c->plan.name), "%s", before);
	page_format(&s->queue,
	    "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64
	    ",\"method\":\"%s\",\"params\":{",
	    c->number, method);
	page_bytes(&s->queue, s->body.data, s->body.len);
	page_text(&s->queue, "}}\n");
	page_clear(&s->body);
}

static void hear(struct server *s, const struct scan *scan, uint32_t message)
{
	uint32_t id = scan_member(scan, message, "id");
	struct rpc_span result =
	    rpc_span(scan, scan_member(scan, message, "result"));
	uint64_t number;

	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		struct call *c = s->calls[i];

		if (c == NULL || c->plan.kind != &answered || id == SCAN_NONE ||
		    !scan_u64(scan, id, &number) || number != c->number)
			continue;
		c->plan.uri = strndup(result.at, result.len);
		c->ready = true;
	}
}

static uint32_t argument(const struct asking *a, const char *name)
{
	return member(a, method_param(a, "arguments"), name);
}

static void on_sampling(struct server *s, const struct asking *a)
{
	struct rpc_span prompt = rpc_span(a->scan, argument(a, "prompt"));

	page_text(&s->body, "\"messages\":[{\"role\":\"user\",\"content\":{"
	                    "\"type\":\"text\",\"text\":");
	page_bytes(&s->body, prompt.at, prompt.len);
	page_text(&s->body, "}}],\"maxTokens\":100");
	request_client(s, a, "LLM response: ", "sampling/createMessage");
}

static void on_elicitation(struct server *s, const struct asking *a)
{
	struct rpc_span message = rpc_span(a->scan, argument(a, "message"));

	page_text(&s->body, "\"message\":");
	page_bytes(&s->body, message.at, message.len);
	page_text(&s->body,
	    ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
	    "\"username\":{\"type\":\"string\",\"description\":\"User's "
	    "response\"},\"email\":{\"type\":\"string\",\"description\":"
	    "\"User's email address\"}},\"required\":[\"username\","
	    "\"email\"]}");
	request_client(s, a, "User response: ", "elicitation/create");
}

static void on_defaults(struct server *s, const struct asking *a)
{
	page_text(&s->body,
	    "\"message\":\"Defaults\",\"requestedSchema\":" SCHEMA(
	        "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
	        "\"age\":{\"type\":\"integer\",\"default\":30},"
	        "\"score\":{\"type\":\"number\",\"default\":95.5},"
	        "\"status\":{\"type\":\"string\",\"enum\":[\"active\","
	        "\"inactive\",\"pending\"],\"default\":\"active\"},"
	        "\"verified\":{\"type\":\"boolean\",\"default\":true}"));
	request_client(s, a, "Elicitation completed: ", "elicitation/create");
}

#define CHOICE(v, t) "{\"const\":\"" v "\",\"title\":\"" t "\"}"

static void on_enums(struct server *s, const struct asking *a)
{
	page_text(&s->body,
	    "\"message\":\"Enums\",\"requestedSchema\":" SCHEMA(
	        "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\","
	        "\"option2\",\"option3\"]},"
	        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[" CHOICE(
	            "value1", "First Option") "," CHOICE("value2",
	            "Second Option") "," CHOICE("value3",
	            "Third Option") "]},"
	                            "\"legacyEnum\":{\"type\":\"string\","
	                            "\"enum\":[\"opt1\","
	                            "\"opt2\",\"opt3\"],\"enumNames\":["
	                            "\"Option One\","
	                            "\"Option Two\",\"Option Three\"]},"
	                            "\"untitledMulti\":{\"type\":\"array\","
	                            "\"items\":{\"type\":"
	                            "\"string\",\"enum\":[\"option1\","
	                            "\"option2\",\"option3\"]}},"
	                            "\"titledMulti\":{\"type\":\"array\","
	                            "\"items\":{\"anyOf\":[" CHOICE("value1",
	                                "First Choice") "," CHOICE("value2",
	                                "Second Choice") "," CHOICE("value3",
	                                "Third Choice") "]}}"));
	request_client(s, a, "Elicitation completed: ", "elicitation/create");
}

/* ---- modern: results that ask ---- */

static void on_ask_name(struct server *s, const struct asking *a)
{
	uint32_t name =
	    member(a, member(a, answer(a, "user_name"), "content"), "name");
	char text[256];
	char hello[300];

	text_of(a, name, text);
	if (text[0] == '\0') {
		ask(s, a, ASK_NAME("user_name", "What is your name?", "name"),
		    NULL);
		return;
	}
	(void)snprintf(hello, sizeof(hello), "Hello, %s!", text);
	say(s, a, hello);
}

static void on_ask_model(struct server *s, const struct asking *a)
{
	uint32_t got = answer(a, "capital_question");
	char text[256];

	text_of(a, member(a, member(a, got, "content"), "text"), text);
	if (got == SCAN_NONE)
		ask(s, a,
		    ASK_MODEL("capital_question",
		        "What is the capital of France?", "100"),
		    NULL);
	else
		say(s, a, text);
}

static void on_ask_roots(struct server *s, const struct asking *a)
{
	uint32_t roots = member(a, answer(a, "client_roots"), "roots");
	struct rpc_span text = rpc_span(a->scan, roots);

	if (roots == SCAN_NONE) {
		ask(s, a, ASK_ROOTS, NULL);
		return;
	}
	page_clear(&s->text);
	page_bytes(&s->text, text.at, text.len);
	reply_text(s, a->to, &s->text, REPLY_GOOD);
}

#define CONFIRM                                                                \
	"\"confirm\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":" \
	"\"form\",\"message\":\"Please confirm\",\"requestedSchema\":{"        \
	"\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"}},"  \
	"\"required\":[\"ok\"]}}}"
#define STATE "c2lnbmVkOjdhZjM5MWQ0"

static void on_state(struct server *s, const struct asking *a)
{
	if (method_param(a, "requestState") == SCAN_NONE)
		ask(s, a, CONFIRM, STATE);
	else if (!state_is(a, STATE))
		method_fault(s, a, RPC_PARAMS, "requestState was changed");
	else
		content(s, a, TEXT("state-ok"));
}

static void on_multiple(struct server *s, const struct asking *a)
{
	if (answer(a, "user_name") == SCAN_NONE ||
	    answer(a, "greeting") == SCAN_NONE ||
	    answer(a, "client_roots") == SCAN_NONE)
		ask(s, a,
		    ASK_NAME("user_name", "What is your name?",
		        "name") "," ASK_MODEL("greeting", "Generate a greeting",
		        "50") "," ASK_ROOTS,
		    STATE);
	else if (!state_is(a, STATE))
		method_fault(s, a, RPC_PARAMS, "requestState was changed");
	else
		content(s, a, TEXT("all inputs are there"));
}

static void on_rounds(struct server *s, const struct asking *a)
{
	if (state_is(a, "round-1") && answer(a, "step1") != SCAN_NONE)
		ask(s, a,
		    ASK_NAME("step2", "Step 2: What is your favorite color?",
		        "color"),
		    "round-2");
	else if (state_is(a, "round-2") && answer(a, "step2") != SCAN_NONE)
		content(s, a, TEXT("both rounds are done"));
	else
		ask(s, a,
		    ASK_NAME("step1", "Step 1: What is your name?", "name"),
		    "round-1");
}

static void on_capabilities(struct server *s, const struct asking *a)
{
	struct page list;
	bool done = method_param(a, "inputResponses") != SCAN_NONE;

	page_init(&list, 4096);
	if (can(a, "elicitation"))
		page_text(
		    &list, ASK_NAME("user_name", "What is your name?", "name"));
	if (can(a, "sampling"))
		page_format(&list, "%s%s", list.len > 0 ? "," : "",
		    ASK_MODEL("greeting", "Generate a greeting", "50"));
	page_bytes(&list, "", 1);
	if (done || list.len <= 1)
		content(s, a, TEXT("done"));
	else
		ask(s, a, list.data, NULL);
	page_free(&list);
}

/* ---- lists that change, and who listens ---- */

static void render_never(struct server *s, struct call *c, struct fetch *f)
{
	(void)f;
	reply_result(s, &c->to, REPLY_PLAIN);
}

static const struct plan_kind listening = { false, NULL, render_never };
static const char *const lists[] = { "toolsListChanged", "promptsListChanged" };

static void on_listen(struct server *s, const struct asking *a)
{
	const struct call_of of = { a->scan, a->message, a->to, &listening,
		NULL };
	uint32_t wanted = method_param(a, "notifications");
	struct call *c = calls_add(s, &of);
	bool first = true;

	if (c == NULL)
		abort();
	c->ready = false;
	page_format(&s->body,
	    "\"_meta\":{\"" RPC_META "subscriptionId\":%s},\"notifications\":{",
	    c->id);
	for (uint64_t i = 0; i < 2; i++) {
		uint32_t node = member(a, wanted, lists[i]);

		if (node == SCAN_NONE || a->scan->nodes[node].kind != SCAN_TRUE)
			continue;
		c->plan.offset |= 1ull << i;
		page_format(
		    &s->body, "%s\"%s\":true", first ? "" : ",", lists[i]);
		first = false;
	}
	page_text(&s->body, "}");
	reply_notify(s, "notifications/subscriptions/acknowledged");
}

static void change(struct server *s, const struct asking *a, unsigned int which)
{
	for (size_t i = 0; i < SERVER_CALLS_MAX; i++) {
		const struct call *c = s->calls[i];

		if (c == NULL || c->plan.kind != &listening ||
		    !(c->plan.offset & 1ull << which))
			continue;
		page_format(&s->body,
		    "\"_meta\":{\"" RPC_META "subscriptionId\":%s}", c->id);
		reply_notify(s, which == 0
		                    ? "notifications/tools/list_changed"
		                    : "notifications/prompts/list_changed");
	}
	content(s, a, TEXT("changed"));
}

static void on_tool_change(struct server *s, const struct asking *a)
{
	change(s, a, 0);
}

static void on_prompt_change(struct server *s, const struct asking *a)
{
	change(s, a, 1);
}

/* ---- tables ---- */

static const struct {
	const char *name;
	void (*call)(struct server *s, const struct asking *a);
	const char *properties, *required;
} tools[] = {
	{ "test_error_handling", on_error, "", "" },
	{ "test_tool_with_progress", on_progress, "", "" },
	{ "test_tool_with_logging", on_logging, "", "" },
	{ "test_logging_tool", on_logging, "", "" },
	{ "test_missing_capability", on_missing, "", "" },
	{ "test_sampling", on_sampling, "\"prompt\":{\"type\":\"string\"}",
	    "\"prompt\"" },
	{ "test_elicitation", on_elicitation,
	    "\"message\":{\"type\":\"string\"}", "\"message\"" },
	{ "test_elicitation_sep1034_defaults", on_defaults, "", "" },
	{ "test_elicitation_sep1330_enums", on_enums, "", "" },
	{ "test_streaming_elicitation", on_ask_name, "", "" },
	{ "test_input_required_result_elicitation", on_ask_name, "", "" },
	{ "test_input_required_result_sampling", on_ask_model, "", "" },
	{ "test_input_required_result_list_roots", on_ask_roots, "", "" },
	{ "test_input_required_result_request_state", on_state, "", "" },
	{ "test_input_required_result_tampered_state", on_state, "", "" },
	{ "test_input_required_result_multiple_inputs", on_multiple, "", "" },
	{ "test_input_required_result_multi_round", on_rounds, "", "" },
	{ "test_input_required_result_capabilities", on_capabilities, "", "" },
	{ "test_trigger_tool_change", on_tool_change, "", "" },
	{ "test_trigger_prompt_change", on_prompt_change, "", "" },
};
#define N(rows) (sizeof(rows) / sizeof((rows)[0]))

static void on_tools_list(struct server *s, const struct asking *a)
{
	page_text(&s->body, "\"tools\":[");
	for (size_t i = 0; i < N(plain); i++)
		page_format(&s->body,
		    "{\"name\":\"%s\",\"description\":\"Fixture.\","
		    "\"inputSchema\":{\"type\":\"object\"}},",
		    plain[i].name);
	for (size_t i = 0; i < N(tools); i++)
		page_format(&s->body,
		    "%s{\"name\":\"%s\",\"description\":\"Fixture.\","
		    "\"inputSchema\":{\"type\":\"object\",\"properties\":{%s},"
		    "\"required\":[%s]}}",
		    i > 0 ? "," : "", tools[i].name, tools[i].properties,
		    tools[i].required);
	page_text(&s->body, "]");
	reply_result(s, a->to, REPLY_CACHED);
}

static void on_tools_call(struct server *s, const struct asking *a)
{
	char name[256];

	text_of(a, method_param(a, "name"), name);
	for (size_t i = 0; i < N(plain); i++)
		if (strcmp(plain[i].name, name) == 0) {
			content(s, a, plain[i].content);
			return;
		}
	for (size_t i = 0; i < N(tools); i++)
		if (strcmp(tools[i].name, name) == 0) {
			tools[i].call(s, a);
			return;
		}
	method_fault(s, a, RPC_PARAMS, "Unknown tool");
}

static void on_resources_list(struct server *s, const struct asking *a)
{
	page_text(&s->body,
	    "\"resources\":[{\"uri\":\"test://static-text\",\"name\":\"text\","
	    "\"description\":\"Text.\",\"mimeType\":\"text/plain\"},"
	    "{\"uri\":\"test://static-binary\",\"name\":\"binary\","
	    "\"description\":\"An image.\",\"mimeType\":\"image/png\"},"
	    "{\"uri\":\"test://watched-resource\",\"name\":\"watched\","
	    "\"description\":\"Watched.\",\"mimeType\":\"text/plain\"}]");
	reply_result(s, a->to, REPLY_CACHED);
}

static void on_templates(struct server *s, const struct asking *a)
{
	page_text(&s->body,
	    "\"resourceTemplates\":[{\"uriTemplate\":\"test://template/{id}/"
	    "data\",\"name\":\"data\",\"description\":\"Data.\","
	    "\"mimeType\":\"application/json\"}]");
	reply_result(s, a->to, REPLY_CACHED);
}

static void no_resource(struct server *s, const struct asking *a)
{
	struct rpc_span uri = rpc_span(a->scan, method_param(a, "uri"));
	struct reply_fault fault = { a->message->modern ? RPC_PARAMS
		                                        : RPC_NO_RESOURCE,
		"Resource not found", NULL };

	page_clear(&s->text);
	page_format(&s->text, "{\"uri\":%.*s}", (int)uri.len, uri.at);
	page_bytes(&s->text, "", 1);
	fault.data = s->text.data;
	reply_fault(s, a->to, &fault);
}

static void on_read(struct server *s, const struct asking *a)
{
	char uri[256];
	char id[64];

	text_of(a, method_param(a, "uri"), uri);
	page_format(&s->body, "\"contents\":[{\"uri\":\"%s\",", uri);
	if (strcmp(uri, "test://static-text") == 0 ||
	    strcmp(uri, "test://watched-resource") == 0) {
		page_text(&s->body,
		    "\"mimeType\":\"text/plain\",\"text\":\"This is the "
		    "content of the static text resource.\"}]");
	} else if (strcmp(uri, "test://static-binary") == 0) {
		page_text(&s->body,
		    "\"mimeType\":\"image/png\",\"blob\":\"" PNG "\"}]");
	} else if (strncmp(uri, "test://template/", 16) == 0 &&
	           strlen(uri) < 60 &&
	           strcmp(uri + 16 + strcspn(uri + 16, "/"), "/data") == 0) {
		(void)snprintf(id, sizeof(id), "%.*s",
		    (int)strcspn(uri + 16, "/"), uri + 16);
		page_format(&s->body,
		    "\"mimeType\":\"application/json\",\"text\":\"{"
		    "\\\"id\\\":\\\"%s\\\",\\\"templateTest\\\":true,"
		    "\\\"data\\\":\\\"Data for ID: %s\\\"}\"}]",
		    id, id);
	} else {
		page_clear(&s->body);
		no_resource(s, a);
		return;
	}
	reply_result(s, a->to, REPLY_CACHED);
}

static void on_prompts_list(struct server *s, const struct asking *a)
{
	page_text(&s->body,
	    "\"prompts\":[{\"name\":\"test_simple_prompt\",\"description\":"
	    "\"Fixture.\"},{\"name\":\"test_prompt_with_arguments\","
	    "\"description\":\"Fixture.\",\"arguments\":[{\"name\":\"arg1\","
	    "\"description\":\"First.\",\"required\":true},{\"name\":\"arg2\","
	    "\"description\":\"Second.\",\"required\":true}]},{\"name\":"
	    "\"test_prompt_with_embedded_resource\",\"description\":"
	    "\"Fixture.\",\"arguments\":[{\"name\":\"resourceUri\","
	    "\"description\":\"Which.\",\"required\":true}]},{\"name\":"
	    "\"test_prompt_with_image\",\"description\":\"Fixture.\"},"
	    "{\"name\":\"test_input_required_result_prompt\","
	    "\"description\":\"Fixture.\"}]");
	reply_result(s, a->to, REPLY_CACHED);
}

#define SAYS(json) "{\"role\":\"user\",\"content\":" json "}"

static void on_prompts_get(struct server *s, const struct asking *a)
{
	char name[256];
	char one[256];
	char two[256];

	text_of(a, method_param(a, "name"), name);
	page_text(&s->body, "\"messages\":[");
	if (strcmp(name, "test_simple_prompt") == 0) {
		page_text(&s->body,
		    SAYS(TEXT("This is a simple prompt for testing.")));
	} else if (strcmp(name, "test_prompt_with_arguments") == 0) {
		text_of(a, argument(a, "arg1"), one);
		text_of(a, argument(a, "arg2"), two);
		page_format(&s->body,
		    SAYS(TEXT("Prompt with arguments: arg1='%s', arg2='%s'")),
		    one, two);
	} else if (strcmp(name, "test_prompt_with_embedded_resource") == 0) {
		text_of(a, argument(a, "resourceUri"), one);
		page_format(&s->body,
		    SAYS(
		        "{\"type\":\"resource\",\"resource\":{\"uri\":\"%s\","
		        "\"mimeType\":\"text/plain\",\"text\":\"Embedded "
		        "resource content for testing.\"}}") "," SAYS(TEXT("Ple"
		                                                           "ase"
		                                                           " pr"
		                                                           "oce"
		                                                           "ss "
		                                                           "the"
		                                                           " em"
		                                                           "bed"
		                                                           "ded"
		                                                           " re"
		                                                           "sou"
		                                                           "rce"
		                                                           " ab"
		                                                           "ove"
		                                                           ".")),
		    one);
	} else if (strcmp(name, "test_prompt_with_image") == 0) {
		page_text(&s->body, SAYS(IMAGE) "," SAYS(TEXT(
		                        "Please analyze the image above.")));
	} else if (answer(a, "user_context") != SCAN_NONE) {
		page_text(&s->body, SAYS(TEXT("With the context given.")));
	} else {
		page_clear(&s->body);
		ask(s, a,
		    ASK_NAME("user_context",
		        "What context should the prompt use?", "context"),
		    NULL);
		return;
	}
	page_text(&s->body, "]");
	reply_result(s, a->to, REPLY_PLAIN);
}

static void on_complete(struct server *s, const struct asking *a)
{
	page_text(&s->body, "\"completion\":{\"values\":[\"paris\",\"park\"],"
	                    "\"total\":2,\"hasMore\":false}");
	reply_result(s, a->to, REPLY_PLAIN);
}

static const struct method methods[] = {
	{ "initialize", METHOD_LEGACY | METHOD_EARLY, session_initialize },
	{ "ping", METHOD_LEGACY | METHOD_EARLY, session_ping },
	{ "server/discover", METHOD_MODERN, session_discover },
	{ "tools/list", METHOD_LEGACY | METHOD_MODERN, on_tools_list },
	{ "tools/call", METHOD_LEGACY | METHOD_MODERN, on_tools_call },
	{ "resources/list", METHOD_LEGACY | METHOD_MODERN, on_resources_list },
	{ "resources/templates/list", METHOD_LEGACY | METHOD_MODERN,
	    on_templates },
	{ "resources/read", METHOD_LEGACY | METHOD_MODERN, on_read },
	{ "resources/subscribe", METHOD_LEGACY, session_ping },
	{ "resources/unsubscribe", METHOD_LEGACY, session_ping },
	{ "logging/setLevel", METHOD_LEGACY, session_ping },
	{ "prompts/list", METHOD_LEGACY | METHOD_MODERN, on_prompts_list },
	{ "prompts/get", METHOD_LEGACY | METHOD_MODERN, on_prompts_get },
	{ "completion/complete", METHOD_LEGACY | METHOD_MODERN, on_complete },
	{ "subscriptions/listen", METHOD_MODERN, on_listen },
};

static const struct face fixture = {
	.methods = methods,
	.n = N(methods),
	.capabilities = "{\"tools\":{\"listChanged\":true},\"prompts\":{"
	                "\"listChanged\":true},\"resources\":{\"subscribe\":"
	                "true},\"completions\":{},\"logging\":{}}",
	.instructions = "A fixture for the conformance suite.",
	.hear = hear,
};

int main(void)
{
	struct loop loop = { STDIN_FILENO, STDOUT_FILENO, -1, false };
	struct server *s = calloc(1, sizeof(*s));
	struct error e;
	sigset_t none;
	int ends[2];
	int result;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&none);
	loop.signal_fd = signalfd(-1, &none, SFD_CLOEXEC);
	if (s == NULL || loop.signal_fd < 0 ||
	    server_init(s, &fixture, &e) < 0 || channel_pair(ends, &e) < 0)
		return 1;
	/* A service that never says a word. */
	s->channel.fd = ends[0];
	result = loop_run(s, &loop, &e);
	server_done(s);
	free(s);
	return result < 0;
}
