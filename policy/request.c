/*
 * policy/request.c - a request written as JSON.  Linked by bailiff-policy;
 * pure.  The text is hostile; what it asks for is not judged here.
 */
#include "policy/request.h"

#include <string.h>

#include "policy/parse.h"

/* One object of "inputs" while it is read. */
struct input_reading {
	struct request *request; /* borrowed */
	struct policy_input input;
	uint64_t size; /* of an inline one */
	size_t n_kinds;
};

/* Any text without NUL, into the request's bytes. */
static bool take_text(
    struct reader *r, uint32_t node, struct request *to, const char **ret)
{
	char *at = to->bytes + to->used;
	size_t len;

	if (!reader_is(r, node, SCAN_STRING))
		return false;
	if (scan_string(
	        &r->scan, node, at, sizeof(to->bytes) - to->used, &len) < 0) {
		reader_fault(r, node, "too long");
		return false;
	}
	if (strlen(at) != len) {
		reader_fault(r, node, "a NUL character in it");
		return false;
	}
	to->used += len + 1;
	*ret = at;
	return true;
}

/* A text, or how many bytes it has: *ret_text is then untouched. */
static void take_sized(struct reader *r, uint32_t node, struct request *to,
    uint64_t *ret_size, const char **ret_text)
{
	const struct number_range range = { 0, INT64_MAX };

	if (r->scan.nodes[node].kind == SCAN_NUMBER)
		(void)reader_number(r, node, range, ret_size);
	else if (r->scan.nodes[node].kind != SCAN_STRING)
		reader_fault(r, node, "expected a text or its size in bytes");
	else if (take_text(r, node, to, ret_text))
		*ret_size = strlen(*ret_text);
}

static void take_language(struct reader *r, uint32_t node, void *to)
{
	struct request *request = to;

	(void)take_text(r, node, request, &request->asks.language);
}

static void take_code(struct reader *r, uint32_t node, void *to)
{
	struct request *request = to;

	take_sized(r, node, request, &request->asks.code_size, &request->code);
}

static void take_stdin(struct reader *r, uint32_t node, void *to)
{
	struct request *request = to;
	const char *text;

	take_sized(r, node, request, &request->asks.stdin_size, &text);
}

/* As the front counts them: each with a NUL. */
static void take_args(struct reader *r, uint32_t node, void *to)
{
	const struct number_range range = { 0, INT64_MAX };
	struct request *request = to;
	const char *text;

	if (r->scan.nodes[node].kind == SCAN_NUMBER) {
		(void)reader_number(r, node, range, &request->asks.args_size);
		return;
	}
	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		if (take_text(r, i, request, &text))
			request->asks.args_size += strlen(text) + 1;
}

static void take_limit(struct reader *r, uint32_t node, enum limit_id id,
    struct policy_request *asks)
{
	const struct number_range range = { 0, INT64_MAX };
	static const struct reader_names words = { 1, { "unlimited" } };
	size_t which;

	asks->asks[id] = true;
	if (r->scan.nodes[node].kind != SCAN_STRING)
		(void)reader_number(r, node, range, &asks->limits[id]);
	else if (!limit_table[id].may_be_unlimited)
		reader_fault(r, node,
		    "expected a number; %s is never unlimited",
		    limit_table[id].name);
	else if (reader_word(r, node, &words, &which))
		asks->limits[id] = LIMIT_UNLIMITED;
}

void request_read_limits(
    struct reader *r, uint32_t node, struct policy_request *asks)
{
	struct reader_names names = { .n = 0 };

	if (!reader_is(r, node, SCAN_OBJECT))
		return;
	for (size_t i = 0; i < LIMIT_N; i++)
		names.items[names.n++] = limit_table[i].name;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		char key[SCAN_KEY_MAX + 1] = "";
		enum limit_id id = LIMIT_N;

		if (scan_key(&r->scan, i, key, sizeof(key)) == 0)
			id = limit_find(key);
		if (id == LIMIT_N)
			reader_unknown_key(r, i, "limit", &names);
		else
			take_limit(r, i, id, asks);
	}
}

static void take_limits(struct reader *r, uint32_t node, void *to)
{
	struct request *request = to;

	request_read_limits(r, node, &request->asks);
}

static void take_path(struct reader *r, uint32_t node, struct input_reading *to,
    enum policy_input_kind kind)
{
	to->n_kinds++;
	to->input.kind = kind;
	(void)take_text(r, node, to->request, &to->input.host);
}

static void take_file(struct reader *r, uint32_t node, void *to)
{
	take_path(r, node, to, POLICY_INPUT_FILE);
}

static void take_directory(struct reader *r, uint32_t node, void *to)
{
	take_path(r, node, to, POLICY_INPUT_DIRECTORY);
}

static void take_inline(struct reader *r, uint32_t node, void *to)
{
	struct input_reading *reading = to;
	const char *text;

	reading->n_kinds++;
	reading->input.kind = POLICY_INPUT_INLINE;
	take_sized(r, node, reading->request, &reading->size, &text);
}

static void take_input_name(struct reader *r, uint32_t node, void *to)
{
	struct input_reading *reading = to;

	(void)take_text(r, node, reading->request, &reading->input.name);
}

static const struct reader_key input_keys[] = {
	{ "file", take_file, 0, false, NULL },
	{ "directory", take_directory, 0, false, NULL },
	{ "inline", take_inline, 0, false, NULL },
	{ "name", take_input_name, 0, false, NULL },
};
const struct reader_keys request_input_keys = { "an input",
	sizeof(input_keys) / sizeof(input_keys[0]), input_keys };

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The sum stops at the top, as the supervisor's does. */
static void add_inline(struct policy_request *asks, uint64_t size)
{
	asks->inline_size = size > UINT64_MAX - asks->inline_size
	                        ? UINT64_MAX
	                        : asks->inline_size + size;
}

static void take_input(struct reader *r, uint32_t node, struct request *to)
{
	struct input_reading reading = { .request = to,
		.input = { .host = "" } };
	struct policy_request *asks = &to->asks;

	reader_object(r, node, &request_input_keys, &reading);
	if (r->scan.nodes[node].kind != SCAN_OBJECT)
		return;
	if (reading.n_kinds != 1)
		reader_fault(r, node,
		    "an input needs one of \"file\", \"directory\", "
		    "\"inline\"");
	else if (reading.input.kind == POLICY_INPUT_INLINE &&
	         reading.input.name == NULL)
		reader_fault(r, node, "an inline input needs a \"name\"");
	if (reading.input.name == NULL)
		reading.input.name = last_component(reading.input.host);
	add_inline(asks, reading.size);
	/* Those that find no room are counted, and the decision denies. */
	if (asks->n_inputs < POLICY_INPUTS_MAX)
		asks->inputs[asks->n_inputs++] = reading.input;
	asks->n_inputs_asked++;
}

static void take_inputs(struct reader *r, uint32_t node, void *to)
{
	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next)
		take_input(r, i, to);
}

static void take_libraries(struct reader *r, uint32_t node, void *to)
{
	struct request *request = to;
	struct policy_request *asks = &request->asks;

	if (!reader_is(r, node, SCAN_ARRAY))
		return;
	for (uint32_t i = scan_first(&r->scan, node); i != SCAN_NONE;
	     i = r->scan.nodes[i].next) {
		const char *text = "";

		(void)take_text(r, i, request, &text);
		/* Those that find no room are counted, as with inputs. */
		if (asks->n_libraries < POLICY_ASKED_MAX)
			asks->libraries[asks->n_libraries++] = text;
		asks->n_libraries_asked++;
	}
}

static const struct reader_key keys[] = {
	{ "language", take_language, 0, true, NULL },
	{ "code", take_code, 0, true, NULL },
	{ "stdin", take_stdin, 0, false, NULL },
	{ "args", take_args, 0, false, NULL },
	{ "limits", take_limits, 0, false, NULL },
	{ "inputs", take_inputs, 0, false, NULL },
	{ "libraries", take_libraries, 0, false, NULL },
};
const struct reader_keys request_keys = { "a request",
	sizeof(keys) / sizeof(keys[0]), keys };

int request_read(struct reader *r, uint32_t node, struct request *ret)
{
	size_t before = r->faults->n + r->faults->more;

	memset(&ret->asks, 0, sizeof(ret->asks));
	ret->asks.language = "";
	ret->code = NULL;
	ret->used = 0;
	reader_object(r, node, &request_keys, ret);
	return r->faults->n + r->faults->more == before ? 0 : -1;
}

int request_decode(struct reader *r, const struct policy_text *text,
    struct request *ret, struct error *e)
{
	if (reader_open(r, text) < 0 || request_read(r, 0, ret) < 0)
		return parse_fail(r->faults, e);
	return 0;
}
