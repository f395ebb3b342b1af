/*
 * tests/unit/test_rpc.c - messages, ids and eras.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "mcp/rpc.h"

#define NODES 64

struct fixture {
	struct scan_node nodes[NODES];
	struct scan s;
	struct rpc_message m;
};

static void read_text(struct fixture *f, const char *text)
{
	f->s = (struct scan){ .text = text,
		.len = strlen(text),
		.nodes = f->nodes,
		.cap = NODES,
		.max_depth = 16 };
	assert_int_equal(scan_parse(&f->s, &(struct error){ 0 }), 0);
	rpc_read(&f->s, 0, &f->m);
}

#define M(more) "{\"_meta\":{" more "}}"
#define V       "\"io.modelcontextprotocol/protocolVersion\":"
#define C       "\"io.modelcontextprotocol/clientCapabilities\":"

static void messages_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		enum rpc_kind kind;
		int code;
	} rows[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}",
		    RPC_REQUEST, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", RPC_NOTIFICATION,
		    0 },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}",
		    RPC_NOTIFICATION, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", RPC_RESPONSE,
		    0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", RPC_RESPONSE,
		    0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_BAD, RPC_INVALID },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"x\"}", RPC_BAD,
		    RPC_INVALID },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", RPC_BAD,
		    RPC_INVALID },
		{ "{\"jsonrpc\":\"2.1\",\"id\":1,\"method\":\"x\"}", RPC_BAD,
		    RPC_INVALID },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]"
		  "}",
		    RPC_BAD, RPC_PARAMS },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{"
		  "\"_meta\":1}}",
		    RPC_BAD, RPC_PARAMS },
		{ "[1]", RPC_BAD, RPC_INVALID },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_text(&f, rows[i].text);
		if (f.m.kind != rows[i].kind ||
		    (f.m.kind == RPC_BAD && (int)f.m.code != rows[i].code))
			fail_msg("%s", rows[i].text);
	}
}

static bool is_good(struct fixture *f, const char *params)
{
	char text[512] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":";
	uint32_t version = 0;

	(void)strncat(text, params, sizeof(text) - strlen(text) - 2);
	(void)strncat(text, "}", 2);
	read_text(f, text);
	assert_true(f->m.modern);
	return rpc_modern_ok(&f->s, &f->m, &version);
}

static void a_modern_request_says_version_and_capabilities(void **state)
{
	struct fixture f;

	(void)state;
	assert_true(is_good(&f, M(V "\"2026-07-28\"," C "{}")));
	assert_false(is_good(&f, M(V "\"2026-07-28\"")));
	assert_int_equal(f.m.code, RPC_PARAMS);
	assert_false(is_good(&f, M(C "{}")));
	assert_int_equal(f.m.code, RPC_PARAMS);
	assert_false(is_good(&f, M(V "1," C "{}")));
	assert_int_equal(f.m.code, RPC_PARAMS);
	assert_false(is_good(&f, M(V "\"2026-07-29\"," C "{}")));
	assert_int_equal(f.m.code, RPC_VERSION);
	assert_false(is_good(&f, M(V "\"2026-07-28 \"," C "{}")));
	assert_int_equal(f.m.code, RPC_VERSION);
}

static struct rpc_span span(const char *text)
{
	return (struct rpc_span){ text, strlen(text) };
}

static void ids_are_compared_by_value_and_type(void **state)
{
	(void)state;
	assert_true(rpc_same_id(span("1"), span("1")));
	assert_false(rpc_same_id(span("1"), span("\"1\"")));
	assert_false(rpc_same_id(span("1"), span("11")));
	assert_true(rpc_same_id(span("\"a\""), span("\"\\u0061\"")));
	assert_false(rpc_same_id(span("\"a\""), span("\"\\u0062\"")));
	assert_false(rpc_same_id(span("\"a\\u0000b\""), span("\"a\"")));
	assert_false(rpc_same_id(span(""), span("1")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_told_apart),
		cmocka_unit_test(
		    a_modern_request_says_version_and_capabilities),
		cmocka_unit_test(ids_are_compared_by_value_and_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
