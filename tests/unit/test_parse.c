/*
 * tests/unit/test_parse.c - policy texts: what they mean, and that every fault
 * is found, placed and explained.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>

#include "tests/unit/policy_texts.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static struct texts_result *parse(const char *text)
{
	return texts_parse(text, strlen(text));
}

static struct texts_result *parse_good(const char *text)
{
	struct texts_result *r = parse(text);

	if (r->policy == NULL)
		fail_msg("%s", r->e.text);
	return r;
}

static void silence_means_the_table(void **state)
{
	struct texts_result *r = parse_good(TEXTS_POLICY(""));
	const struct policy *p = r->policy;

	(void)state;
	assert_string_equal(p->name, "t");
	assert_int_equal(p->n_languages, 1);
	for (size_t i = 0; i < LIMIT_N; i++) {
		assert_int_equal(p->languages[0].limits[i].value,
		    limit_table[i].fallback_default);
		assert_int_equal(
		    p->languages[0].limits[i].max, limit_table[i].fallback_max);
	}
	assert_false(p->languages[0].capabilities.subprocess);
	assert_true(p->languages[0].capabilities.threads);
	assert_true(p->languages[0].capabilities.loopback);
	assert_false(p->languages[0].capabilities.network);
	assert_false(p->languages[0].capabilities.exec_memory);
	assert_false(p->languages[0].capabilities.ipc);
	assert_int_equal(p->n_read_roots, 0);
	assert_int_equal(p->trace, TRACE_OFF);
	assert_int_equal(p->durability, DURABILITY_FULL);
	assert_int_equal(p->landlock_min_abi, 2);
	assert_int_equal(p->runs_at_once, 0);
	assert_int_equal(p->per_principal, 0);
	assert_int_equal(p->linger_s, 60);
	assert_false(p->accept_degraded);
	texts_free(r);
}

static void language_files_are_read(void **state)
{
	struct texts_result *r = parse_good(TEXTS_POLICY(""));
	const struct language *l = &r->policy->languages[0].language;

	(void)state;
	assert_string_equal(l->name, "python");
	assert_string_equal(l->source, "main.py");
	assert_string_equal(l->program, "/usr/bin/python3");
	assert_int_equal(l->n_argv, 2);
	assert_string_equal(l->argv[1], "/sandbox/main.py");
	assert_int_equal(l->n_env, 2);
	assert_string_equal(l->env[0], "HOME=/sandbox"); /* sorted */
	assert_string_equal(l->env[1], "PATH=/usr/bin");
	assert_string_equal(l->etc[0], "ld.so.cache");
	assert_true(l->needs.threads);
	assert_ptr_equal(
	    policy_language_find(r->policy, "py"), &r->policy->languages[0]);
	assert_null(policy_language_find(r->policy, "bash"));
	texts_free(r);
}

static void languages_inherit_and_override(void **state)
{
	struct texts_result *r = parse_good(
	    "{\"languages\":{"
	    "\"python\":{\"limits\":{\"wall_ms\":{\"max\":2000}},"
	    "\"capabilities\":{\"subprocess\":false}},"
	    "\"bash\":{}},"
	    "\"limits\":{\"wall_ms\":{\"default\":5000,\"max\":6000},"
	    "\"stdin\":{\"default\":0,\"max\":0},"
	    "\"file_size\":{\"default\":1,\"max\":\"unlimited\"}},"
	    "\"capabilities\":{\"subprocess\":true},"
	    "\"name\":\"n\",\"version\":1}");
	const struct policy_language *bash =
	    policy_language_find(r->policy, "bash");
	const struct policy_language *python =
	    policy_language_find(r->policy, "python");

	(void)state;
	assert_int_equal(bash->limits[LIMIT_WALL_MS].value, 5000);
	assert_int_equal(bash->limits[LIMIT_WALL_MS].max, 6000);
	assert_int_equal(python->limits[LIMIT_WALL_MS].value, 2000);
	assert_int_equal(python->limits[LIMIT_WALL_MS].max, 2000);
	assert_int_equal(bash->limits[LIMIT_STDIN].max, 0);
	assert_true(bash->limits[LIMIT_FILE_SIZE].max == LIMIT_UNLIMITED);
	assert_true(bash->capabilities.subprocess);
	assert_false(python->capabilities.subprocess);
	texts_free(r);
}

static void denied_modules_are_kept_in_order(void **state)
{
	struct texts_result *r = parse_good(
	    "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":"
	    "{\"modules\":{\"deny\":[\"xml.etree\",\"_ctypes\"]}}}}");
	const struct policy_language *l = &r->policy->languages[0];

	(void)state;
	assert_int_equal(l->n_denied, 2);
	assert_string_equal(l->denied[0], "_ctypes");
	assert_string_equal(l->denied[1], "xml.etree");
	assert_string_equal(l->language.modules.files[0], "{name}.py");
	assert_non_null(strstr(
	    r->policy->effective, "{\"deny\":[\"_ctypes\",\"xml.etree\"]}"));
	texts_free(r);
}

/* A policy, what stands where its one fault is, and what is said about it. */
struct bad {
	const char *text;
	const char *at;
	const char *pointer;
	const char *says;
};

/* clang-format off */
static const struct bad bad[] = {
	{ "", "", "", "ends too early" },
	{ "{", "", "", "key" },
	{ "[]", "[]", "", "expected an object" },
	{ "{\"version\":1,\n\"version\":1}", "\"version\":1}", "", "duplicate key" },
	{ "{\"version\":2,\"name\":\"t\",\"languages\":{}}", "2,\"nam", "/version", "version 1" },
	{ "{\"version\":\"1\",\"name\":\"t\",\"languages\":{}}", "\"1\",\"n", "/version", "expected a number" },
	{ "{\"name\":\"t\",\"languages\":{}}", "{\"name", "", "needs the key \"version\"" },
	{ "{\"version\":1,\"languages\":{}}", "{\"vers", "", "needs the key \"name\"" },
	{ "{\"version\":1,\"name\":\"t\"}", "{\"vers", "", "needs the key \"languages\"" },
	{ "{\"version\":1,\"name\":\"T x\",\"languages\":{}}", "\"T x\",", "/name", "not a name" },
	{ "{\"version\":1,\"name\":\"\",\"languages\":{}}", "\"\",\"la", "/name", "empty" },
	{ "{\"version\":1,\"name\":\"a\\u0000b\",\"languages\":{}}", "\"a\\u00", "/name", "control" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"pyhton\":{}}}", "\"pyhton\"", "/languages/pyhton", "did you mean \"python\"" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"cobol\":{}}}", "\"cobol\"", "/languages/cobol", "bash, c, python" },
	{ TEXTS_POLICY(",\n\"seccmop\":1"), "\"seccmop\"", "/seccmop", "unknown key" },
	{ TEXTS_POLICY(",\"limts\":{}"), "\"limts\"", "/limts", "did you mean \"limits\"" },
	{ TEXTS_POLICY(",\"Limits\":{}"), "\"Limits\"", "/Limits", "did you mean \"limits\"" },
	{ TEXTS_POLICY(",\"a/b~c\":{}"), "\"a/b~c\"", "/a~1b~0c", "unknown key" },
	{ TEXTS_POLICY(",\"limits\":[]"), "[]}", "/limits", "expected an object" },
	{ TEXTS_POLICY(",\"limits\":{\"timeout\":{}}"), "\"timeout\"", "/limits/timeout", "unknown limit" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_sm\":{}}"), "\"wall_sm\"", "/limits/wall_sm", "did you mean \"wall_ms\"" },
	{ TEXTS_POLICY(",\"limits\":{\"pids\":{\"defualt\":3}}"), "\"defualt\"", "/limits/pids/defualt", "did you mean \"default\"" },
	{ TEXTS_POLICY(",\"limits\":{\"pids\":5}"), "5}}", "/limits/pids", "expected an object" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":0}}"), "0}}}", "/limits/wall_ms/max", "out of range" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":-1}}"), "-1}}}", "/limits/wall_ms/max", "not a whole number" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":null}}"), "null}}", "/limits/wall_ms/max", "this is null" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":1.5}}"), "1.5}}}", "/limits/wall_ms/max", "not a whole number" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":1e400}}"), "1e400}", "/limits/wall_ms/max", "not a whole number" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":\"5\"}}"), "\"5\"}}}", "/limits/wall_ms/max", "expected a number" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":18446744073709551616}}"), "184467", "/limits/wall_ms/max", "not a whole number" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"max\":\"unlimited\"}}"), "\"unlim", "/limits/wall_ms/max", "cannot be unlimited" },
	{ TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"default\":400000}}"), "400000", "/limits/wall_ms/default", "above max" },
	{ TEXTS_POLICY(",\"limits\":{\"pids\":{\"default\":9,\"max\":8}}"), "9,\"max", "/limits/pids/default", "above max" },
	{ TEXTS_POLICY(",\"limits\":{\"open_files\":{\"max\":4096}}"), "4096}}", "/limits/open_files/max", "16 to 4032" },
	{ TEXTS_POLICY(",\"capabilities\":{\"network\":true}"), "true}}", "/capabilities/network", "not built yet" },
	{ TEXTS_POLICY(",\"capabilities\":{\"threads\":1}"), "1}}", "/capabilities/threads", "expected true or false" },
	{ TEXTS_POLICY(",\"capabilities\":{\"threads\":false}"), "{}},\"c", "/languages/python", "cannot start without" },
	{ TEXTS_POLICY(",\"capabilities\":{\"syscalls\":{\"allow\":[\"bpf\"]}}"), "[\"bpf\"", "/capabilities/syscalls/allow", "not built yet" },
	{ TEXTS_POLICY(",\"capabilities\":{\"syscalls\":{\"only\":[\"bpf\"]}}"), "\"bpf\"", "/capabilities/syscalls/only/0", "no policy allows a call of that name" },
	{ TEXTS_POLICY(",\"capabilities\":{\"syscalls\":{\"only\":[\"raed\"]}}"), "\"raed\"", "/capabilities/syscalls/only/0", "no policy allows a call of that name" },
	{ TEXTS_POLICY(",\"capabilities\":{\"syscalls\":{\"only\":[\"brk\",\"brk\"]}}"), "\"brk\"]", "/capabilities/syscalls/only/1", "stands here twice" },
	{ TEXTS_POLICY(",\"capabilities\":{\"syscalls\":{\"only\":\"brk\"}}"), "\"brk\"", "/capabilities/syscalls/only", "list" },
	{ TEXTS_POLICY(",\"paths\":{\"read\":\"/srv\"}"), "\"/srv\"", "/paths/read", "expected a list" },
	{ TEXTS_POLICY(",\"paths\":{\"read\":[\"srv\"]}"), "\"srv\"]", "/paths/read/0", "absolute" },
	{ TEXTS_POLICY(",\"paths\":{\"read\":[\"/srv/\"]}"), "\"/srv/", "/paths/read/0", "absolute" },
	{ TEXTS_POLICY(",\"paths\":{\"read\":[\"/\"]}"), "\"/\"]}}", "/paths/read/0", "absolute" },
	{ TEXTS_POLICY(",\"paths\":{\"read\":[\"/srv/../etc\"]}"), "\"/srv/", "/paths/read/0", "absolute" },
	{ TEXTS_POLICY(",\"paths\":{\"read\":[\"/a\",\"/a\"]}"), "\"/a\"]}", "/paths/read/1", "twice" },
	{ TEXTS_POLICY(",\"paths\":{\"export\":[\"/srv\"]}"), "[\"/srv", "/paths/export", "not built yet" },
	{ TEXTS_POLICY(",\"network\":\"host\""), "\"host\"", "/network", "unknown word \"host\"" },
	{ TEXTS_POLICY(",\"network\":{\"allow\":[\"example.org:443\"]}"), "[\"exam", "/network/allow", "not built yet" },
	{ TEXTS_POLICY(",\"concurrency\":{\"per_principal\":0}"), "0}}", "/concurrency/per_principal", "1" },
	{ TEXTS_POLICY(",\"concurrency\":{\"per_principal\":4161}"), "4161", "/concurrency/per_principal", "4160" },
	{ TEXTS_POLICY(",\"concurrency\":{\"per_principal\":\"all\"}"), "\"all\"", "/concurrency/per_principal", "unlimited" },
	{ TEXTS_POLICY(",\"trace\":\"off\\u0000\""), "\"off\\u", "/trace", "unknown word" },
	{ TEXTS_POLICY(",\"audit\":{\"results\":{\"keep_days\":0}}"), "0}}}", "/audit/results/keep_days", "1 to 36500" },
	{ TEXTS_POLICY(",\"audit\":{\"results\":{\"max_bytes\":1048575}}"), "1048575", "/audit/results/max_bytes", "1048576" },
	{ TEXTS_POLICY(",\"audit\":{\"results\":{\"keep_days\":\"all\"}}"), "\"all\"", "/audit/results/keep_days", "unlimited" },
	{ TEXTS_POLICY(",\"audit\":{\"tick_s\":0}"), "0}}", "/audit/tick_s", "1 to 86400" },
	{ TEXTS_POLICY(",\"audit\":{\"retention_days\":3}"), "3}}", "/audit/retention_days", "not built yet" },
	{ TEXTS_POLICY(",\"concurrency\":{\"runs\":0}"), "0}}", "/concurrency/runs", "1 to 64" },
	{ TEXTS_POLICY(",\"extends\":\"default\""), "\"defau", "/extends", "not built yet" },
	{ TEXTS_POLICY(",\"degraded\":\"yes\""), "\"yes\"}", "/degraded", "refuse, accept" },
	{ TEXTS_POLICY(",\"landlock\":{\"min_abi\":0}"), "0}}", "/landlock/min_abi", "1 to 64" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"deny\":[\"a b\"]}}}}", "\"a b\"", "/languages/python/modules/deny/0", "not a module" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"deny\":[\"../x\"]}}}}", "\"../x\"", "/languages/python/modules/deny/0", "not a module" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"deny\":[\"a*\"]}}}}", "\"a*\"", "/languages/python/modules/deny/0", "not a module" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"deny\":[\"a..b\"]}}}}", "\"a..b\"", "/languages/python/modules/deny/0", "not a module" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"deny\":[\"a\",\"a\"]}}}}", "\"a\"]", "/languages/python/modules/deny/1", "twice" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"deny\":\"a\"}}}}", "\"a\"}", "/languages/python/modules/deny", "expected a list" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"only\":[\"a\",\"a\"]}}}}", "\"a\"]", "/languages/python/modules/only/1", "twice" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":{\"modules\":{\"only\":[\"a.b\"]}}}}", "\"a.b\"", "/languages/python/modules/only/0", "inside of another" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"bash\":{\"modules\":{\"only\":[]}}}}", "{\"modules", "/languages/bash", "no modules" },
	{ "{\"version\":1,\"name\":\"t\",\"languages\":{\"bash\":{\"modules\":{\"deny\":[\"a\"]}}}}", "{\"modules", "/languages/bash", "no modules" },
};
/* clang-format on */

/* What stands at a line and column of a text of single-byte characters. */
static const char *place(const char *text, uint32_t line, uint32_t column)
{
	for (; line > 1; line--) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	assert_true(column >= 1 && column - 1 <= strlen(text));
	return text + column - 1;
}

static void each_fault_has_its_place_and_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		struct texts_result *r = parse(bad[i].text);
		const struct policy_fault *f = &r->faults.items[0];

		if (r->policy != NULL || r->faults.n != 1)
			fail_msg(
			    "%zu: %s: %zu faults", i, bad[i].text, r->faults.n);
		if (strncmp(place(bad[i].text, f->line, f->column), bad[i].at,
		        strlen(bad[i].at)) != 0 ||
		    strcmp(f->pointer, bad[i].pointer) != 0 ||
		    strstr(f->text, bad[i].says) == NULL)
			fail_msg("%zu: %s: %u:%u: %s: %s", i, bad[i].text,
			    f->line, f->column, f->pointer, f->text);
		assert_string_equal(f->file, "p.json");
		assert_int_equal(r->e.kind, ERROR_MALFORMED);
		assert_non_null(strstr(r->e.text, "p.json"));
		texts_free(r);
	}
}

static void all_faults_are_collected(void **state)
{
	struct texts_result *r = parse(TEXTS_POLICY(
	    ",\"limits\":{\"wall_ms\":{\"max\":0},\"pids\":{\"max\":1}},"
	    "\"trace\":7,\"paths\":{\"read\":[\"x\"]},\"nonsense\":1"));

	(void)state;
	assert_null(r->policy);
	assert_int_equal(r->faults.n, 5);
	assert_non_null(strstr(r->e.text, "(and 4 more)"));
	texts_free(r);
}

static void more_faults_than_room_are_counted(void **state)
{
	char text[4096] = "{\"version\":1,\"name\":\"t\",\"languages\":{}";
	struct texts_result *r;

	(void)state;
	for (int i = 0; i < 100; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
		    ",\"unknown%d\":0", i);
	strcat(text, "}");
	r = parse(text);
	assert_null(r->policy);
	assert_int_equal(r->faults.n, POLICY_ERRORS_MAX);
	assert_int_equal(r->faults.more, 100 - POLICY_ERRORS_MAX);
	texts_free(r);
}

static void unbuilt_keys_that_ask_for_nothing_are_fine(void **state)
{
	texts_free(parse_good(
	    "{\"version\":1,\"name\":\"t\",\"languages\":{\"python\":"
	    "{\"modules\":{\"deny\":[]},\"rules\":[],\"libraries\":[],"
	    "\"compile_limits\":{}}},\"network\":{\"allow\":[]},"
	    "\"paths\":{\"export\":[]},\"capabilities\":{\"syscalls\":"
	    "{\"allow\":[],\"deny\":[]},\"network\":false},\"audit\":"
	    "{\"results\":{\"keep_days\":\"unlimited\",\"max_bytes\":1048576},"
	    "\"retention_days\":\"unlimited\",\"tick_s\":\"none\"},"
	    "\"concurrency\":{\"per_principal\":\"unlimited\"}}"));
	(void)state;
}

static void a_compiler_has_limits_of_its_own(void **state)
{
	static const struct {
		const char *language, *limits, *effective; /* NULL: refused */
	} rows[] = {
		{ "c", "{}", "" },
		{ "c", "{\"wall_ms\":7,\"memory\":8388608}",
		    "\"compile_limits\":{\"memory\":8388608,\"wall_ms\":7}" },
		{ "c", "{\"output\":\"unlimited\"}",
		    "\"compile_limits\":{\"output\":\"unlimited\"}" },
		{ "c", "{\"memory\":\"unlimited\"}", NULL },
		{ "c", "{\"wall_ms\":{\"max\":7}}", NULL },
		{ "c", "{\"stdin\":7}", NULL },
		{ "python", "{\"wall_ms\":7}", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[256];
		struct texts_result *r;

		(void)snprintf(text, sizeof(text),
		    "{\"version\":1,\"name\":\"t\",\"languages\":{\"%s\":"
		    "{\"compile_limits\":%s}}}",
		    rows[i].language, rows[i].limits);
		r = parse(text);
		assert_int_equal(r->policy != NULL, rows[i].effective != NULL);
		if (r->policy != NULL)
			assert_non_null(
			    strstr(r->policy->effective, rows[i].effective));
		texts_free(r);
	}
	(void)state;
}

static void a_share_is_a_number_or_a_word(void **state)
{
	static const struct {
		const char *text;
		uint32_t value;
		const char *effective;
	} rows[] = {
		{ "1", 1, "\"per_principal\":1," },
		{ "4160", 4160, "\"per_principal\":4160," },
		{ "\"auto\"", 0, "\"per_principal\":\"auto\"," },
		{ "\"unlimited\"", POLICY_UNLIMITED,
		    "\"per_principal\":\"unlimited\"," },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct texts_result *r;

		(void)snprintf(text, sizeof(text),
		    TEXTS_POLICY(",\"concurrency\":{\"per_principal\":%s}"),
		    rows[i].text);
		r = parse_good(text);
		assert_int_equal(r->policy->per_principal, rows[i].value);
		assert_non_null(
		    strstr(r->policy->effective, rows[i].effective));
		texts_free(r);
	}
}

/* Same meaning, same text; another meaning, another text. */
static void the_effective_text_is_canonical(void **state)
{
	struct texts_result *a = parse_good(TEXTS_POLICY(""));
	struct texts_result *b = parse_good(
	    "{ \"languages\": { \"python\": { \"limits\": {} } },\n"
	    "  \"trace\": \"off\", \"name\": \"t\", \"version\": 1 }");
	struct texts_result *c =
	    parse_good(TEXTS_POLICY(",\"service\":{\"linger_s\":61}"));
	json_t *value = json_loadb(a->policy->effective,
	    a->policy->effective_len, JSON_REJECT_DUPLICATES, NULL);
	char *sorted;

	(void)state;
	assert_memory_equal(a->policy->sha256, b->policy->sha256, 32);
	assert_memory_not_equal(
	    a->policy->file_sha256, b->policy->file_sha256, 32);
	assert_memory_not_equal(a->policy->sha256, c->policy->sha256, 32);
	assert_non_null(value);
	sorted = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT);
	assert_int_equal(strlen(sorted), a->policy->effective_len);
	assert_memory_equal(
	    sorted, a->policy->effective, a->policy->effective_len);
	free(sorted);
	json_decref(value);
	texts_free(a);
	texts_free(b);
	texts_free(c);
}

static void faults_of_language_files_name_the_file(void **state)
{
	static const char policy[] = TEXTS_POLICY("");
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "{", "key" },
		{ "{\"version\":1}", "needs the key" },
		{ TEXTS_BASH, "must be bash.json" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"../x\","
		  "\"package\":\"p\",\"program\":\"/p\",\"run\":[\"p\"],"
		  "\"probe\":[\"p\"],\"env\":{}}",
		    "not a file name" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"x\","
		  "\"package\":\"p\",\"program\":\"p\",\"run\":[\"p\"],"
		  "\"probe\":[\"p\"],\"env\":{}}",
		    "absolute path" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"x\","
		  "\"package\":\"p\",\"program\":\"/p\",\"run\":[],"
		  "\"probe\":[\"p\"],\"env\":{}}",
		    "expected 1 to" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"x\","
		  "\"package\":\"p\",\"program\":\"/p\",\"run\":[\"p\"],"
		  "\"probe\":[\"p\"],\"env\":{\"LD_PRELOAD\":\"/x\"}}",
		    "steer the loader" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"x\","
		  "\"package\":\"p\",\"program\":\"/p\",\"run\":[\"p\"],"
		  "\"probe\":[\"p\"],\"env\":{\"A=B\":\"/x\"}}",
		    "not a variable" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"x\","
		  "\"package\":\"p\",\"program\":\"/p\",\"run\":[\"p\"],"
		  "\"probe\":[\"p\"],\"env\":{},\"etc\":[\"../shadow\"]}",
		    "no clean path" },
		{ "{\"version\":1,\"name\":\"python\",\"source\":\"x\","
		  "\"package\":\"p\",\"program\":\"/p\",\"run\":[\"p\"],"
		  "\"probe\":[\"p\"],\"env\":{},\"needs\":[\"thread\"]}",
		    "did you mean \"threads\"" },
	};

	(void)state;
	for (size_t i = 0; i < N(files); i++) {
		const struct policy_text language = { "l/python.json",
			files[i].text, strlen(files[i].text) };
		const struct policy_sources sources = { { "p.json", policy,
			                                    strlen(policy) },
			&language, 1, false };
		struct texts_result *r = calloc(1, sizeof(*r));

		assert_non_null(r);
		assert_int_equal(
		    policy_parse(&sources, &r->policy, &r->faults, &r->e), -1);
		assert_null(r->policy);
		assert_string_equal(r->faults.items[0].file, "l/python.json");
		if (strstr(r->faults.items[0].text, files[i].says) == NULL)
			fail_msg("%zu: %s", i, r->faults.items[0].text);
		texts_free(r);
	}
}

/* Every prefix and every changed byte: refused or a policy, never a crash. */
static void mutations_never_surprise(void **state)
{
	static const char good[] =
	    TEXTS_POLICY(",\"limits\":{\"wall_ms\":{\"default\":1,\"max\":2}},"
	                 "\"paths\":{\"read\":[\"/srv/a\"]}");
	char text[sizeof(good)];

	(void)state;
	for (size_t len = 0; len < sizeof(good) - 1; len++) {
		struct texts_result *r = texts_parse(good, len);

		assert_null(r->policy);
		assert_true(r->faults.n > 0);
		texts_free(r);
	}
	for (size_t i = 0; i < sizeof(good) - 1; i++)
		for (int byte = 0; byte < 256; byte += 3) {
			struct texts_result *r;

			memcpy(text, good, sizeof(good));
			text[i] = (char)byte;
			r = texts_parse(text, sizeof(good) - 1);
			assert_true((r->policy == NULL) == (r->faults.n > 0));
			texts_free(r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_means_the_table),
		cmocka_unit_test(language_files_are_read),
		cmocka_unit_test(languages_inherit_and_override),
		cmocka_unit_test(each_fault_has_its_place_and_text),
		cmocka_unit_test(all_faults_are_collected),
		cmocka_unit_test(more_faults_than_room_are_counted),
		cmocka_unit_test(denied_modules_are_kept_in_order),
		cmocka_unit_test(unbuilt_keys_that_ask_for_nothing_are_fine),
		cmocka_unit_test(a_compiler_has_limits_of_its_own),
		cmocka_unit_test(a_share_is_a_number_or_a_word),
		cmocka_unit_test(the_effective_text_is_canonical),
		cmocka_unit_test(faults_of_language_files_name_the_file),
		cmocka_unit_test(mutations_never_surprise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
