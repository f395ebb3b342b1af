/*
 * tests/unit/test_advice.c - what a policy says in vain is told, each once, and
 * what makes sense is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/advice.h"
#include "tests/unit/policy_texts.h"

#define GIB ((uint64_t)1 << 30)

struct told {
	size_t n;
	char lines[8][512];
};

static void take(void *context, const char *what, const char *why)
{
	struct told *told = context;

	assert_true(told->n < 8);
	(void)snprintf(told->lines[told->n++], sizeof(told->lines[0]),
	    "%.200s: %.300s", what, why);
}

static void tell(const char *text, uint64_t memory, struct told *ret)
{
	const struct advice_host host = { .memory = memory, .processors = 2 };
	const struct advice_sink sink = { take, ret };
	struct texts_result *r = texts_parse(text, strlen(text));

	ret->n = 0;
	if (r->policy == NULL)
		fail_msg("%s", r->e.text);
	advice_find(r->policy, &host, &sink);
	texts_free(r);
}

/* The members of a policy, and the one line that they must cause. */
static const struct {
	const char *members, *line;
} rows[] = {
	{ ",\"limits\":{\"memory\":{\"max\":17179869184}}",
	    "python: limits.memory.max: 17179869184 is above the memory of "
	    "this host, 8589934592" },
	{ ",\"limits\":{\"memory\":{\"default\":8589934593,"
	  "\"max\":17179869184}}",
	    "python: limits.memory.default: 8589934593 is above the memory of "
	    "this host, 8589934592" },
	{ ",\"limits\":{\"memory\":{\"default\":2147483649,"
	  "\"max\":2147483649}}",
	    "concurrency.runs: 4 at once with 2147483649 bytes each are more "
	    "than this host has, 8589934592" },
	{ ",\"limits\":{\"cpu_ms\":{\"max\":600001}}",
	    "python: limits.cpu_ms.max: 600001 is never reached: wall_ms.max "
	    "is 300000, and 2 processors are there" },
	{ ",\"limits\":{\"file_size\":{\"max\":1073741825}}",
	    "python: limits.file_size.max: 1073741825 is never reached: "
	    "scratch_bytes.max is 1073741824" },
	{ ",\"limits\":{\"scratch_bytes\":{\"max\":2147483649}}",
	    "python: limits.scratch_bytes.max: 2147483649 is never reached: "
	    "memory.max is 2147483648" },
	{ ",\"limits\":{\"artifacts\":{\"max\":66}"
	  ",\"scratch_inodes\":{\"max\":65}}",
	    "python: limits.artifacts.max: 66 is never reached: "
	    "scratch_inodes.max is 65" },
	{ ",\"limits\":{\"code\":{\"max\":0}}",
	    "python: limits.code.max: 0 lets no code in, so nothing can run" },
	{ ",\"limits\":{\"inputs\":{\"max\":0}},\"paths\":{\"read\":[\"/a\"]}",
	    "python: limits.inputs.max: 0 lets no request name a file: "
	    "paths.read never matches" },
	{ ",\"limits\":{\"input_bytes\":{\"max\":0}}",
	    "python: limits.input_bytes.max: 0 lets in empty files alone" },
	{ ",\"limits\":{\"artifact_bytes\":{\"max\":0}}",
	    "python: limits.artifact_bytes.max: 0 keeps empty files alone" },
	{ ",\"paths\":{\"read\":[\"/a\",\"/a/b\",\"/ab\"]}",
	    "/a/b: gives nothing that /a does not give" },
	{ ",\"concurrency\":{\"runs\":2,\"queue\":3,\"per_principal\":6}",
	    "concurrency.per_principal: 6 is never reached: 5 may run and "
	    "wait in all" },
};

static void each_thing_said_in_vain_is_told_once(void **state)
{
	struct told told;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text),
		    "{\"version\":1,\"name\":\"t\",\"languages\":"
		    "{\"python\":{}}%s}",
		    rows[i].members);
		tell(text, 8 * GIB, &told);
		if (told.n != 1 || strcmp(told.lines[0], rows[i].line) != 0)
			fail_msg("%s: %zu, %s", rows[i].members, told.n,
			    told.n > 0 ? told.lines[0] : "");
	}
}

static void at_the_bound_nothing_is_told(void **state)
{
	struct told told;

	(void)state;
	tell(TEXTS_POLICY(",\"limits\":{\"memory\":{\"default\":2147483648,"
	                  "\"max\":8589934592},\"cpu_ms\":{\"max\":600000},"
	                  "\"file_size\":{\"max\":\"unlimited\"},"
	                  "\"output\":{\"max\":\"unlimited\"}},"
	                  "\"paths\":{\"read\":[\"/a\",\"/ab\"]},"
	                  "\"concurrency\":{\"runs\":4,\"queue\":3,"
	                  "\"per_principal\":7}"),
	    8 * GIB, &told);
	assert_int_equal(told.n, 0);
}

static void a_host_whose_memory_is_not_known_says_nothing_of_it(void **state)
{
	struct told told;

	(void)state;
	tell(TEXTS_POLICY(",\"limits\":{\"memory\":{\"max\":1099511627776}}"),
	    0, &told);
	assert_int_equal(told.n, 0);
}

static void languages_alike_are_told_about_together(void **state)
{
	struct told told;

	(void)state;
	tell("{\"version\":1,\"name\":\"t\",\"limits\":{\"code\":{\"max\":0}},"
	     "\"languages\":{\"bash\":{},\"python\":{}}}",
	    8 * GIB, &told);
	assert_int_equal(told.n, 1);
	assert_non_null(strstr(told.lines[0], "bash and 1 more: limits.code"));
	tell("{\"version\":1,\"name\":\"t\",\"limits\":{\"code\":{\"max\":0}},"
	     "\"languages\":{\"bash\":{\"limits\":{\"pids\":{\"max\":3}}},"
	     "\"python\":{}}}",
	    8 * GIB, &told);
	assert_int_equal(told.n, 2);
}

static void without_threads_one_processor_is_all(void **state)
{
	struct told told;

	(void)state;
	tell("{\"version\":1,\"name\":\"t\",\"languages\":{\"bash\":"
	     "{\"capabilities\":{\"threads\":false}}},"
	     "\"limits\":{\"cpu_ms\":{\"max\":300001}}}",
	    8 * GIB, &told);
	assert_int_equal(told.n, 1);
	assert_non_null(strstr(told.lines[0], "1 processor is used"));
}

static void a_module_within_a_denied_one_is_told(void **state)
{
	struct told told;

	(void)state;
	tell("{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":"
	     "{\"modules\":{\"deny\":[\"xml\",\"xml.etree\",\"xmlrpc\","
	     "\"ctypes\",\"_ctypes\",\"_socket\"]}}}}",
	    8 * GIB, &told);
	assert_int_equal(told.n, 2);
	assert_string_equal(told.lines[0],
	    "python: modules.deny: _ctypes: is denied with ctypes already");
	assert_string_equal(told.lines[1],
	    "python: modules.deny: xml.etree: is denied with xml already");
}

static void of_two_rules_for_the_same_the_second_is_told(void **state)
{
	struct told told;

	(void)state;
	tell("{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":"
	     "{\"rules\":[{\"id\":\"a\",\"pattern\":\"x\","
	     "\"in\":\"any\"},{\"id\":\"b\",\"pattern\":\"x\"},"
	     "{\"id\":\"c\",\"module\":\"x\"}]}}}",
	    8 * GIB, &told);
	assert_int_equal(told.n, 1);
	assert_string_equal(told.lines[0],
	    "python: rules: b: looks for nothing that a does not");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thing_said_in_vain_is_told_once),
		cmocka_unit_test(at_the_bound_nothing_is_told),
		cmocka_unit_test(
		    a_host_whose_memory_is_not_known_says_nothing_of_it),
		cmocka_unit_test(languages_alike_are_told_about_together),
		cmocka_unit_test(without_threads_one_processor_is_all),
		cmocka_unit_test(a_module_within_a_denied_one_is_told),
		cmocka_unit_test(of_two_rules_for_the_same_the_second_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
