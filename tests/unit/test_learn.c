/* tests/unit/test_learn.c - from facts to the least that is enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/learn_parts.h"
#include "policy_texts.h"

#if defined(__x86_64__)
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

#define RUN                                                            \
	"{\"fact\":\"run\",\"run\":\"r_1\",\"language\":\"bash\","     \
	"\"policy\":\"0\",\"arch\":\"" MACHINE "\",\"status\":\"ok\"," \
	"\"host_inputs\":0}\n"
#define CALL(name) "{\"fact\":\"call\",\"call\":\"" name "\",\"n\":1}\n"
#define TOLD(name, a, b, c)                                                 \
	"{\"fact\":\"told\",\"call\":\"" name "\",\"args\":[\"" a "\",\"" b \
	"\",\"" c "\",\"0x22\",\"0x0\",\"0x0\"]}\n"
#define END(n) "{\"fact\":\"end\",\"facts\":" n "}\n"

struct taught {
	struct texts_result *policy;
	struct learn learn;
	struct learn_sink sink;
	struct error e;
	int failed;
	char notes[4096];
};

static void note(void *context, const char *text)
{
	struct taught *t = context;
	size_t len = strlen(t->notes);

	(void)snprintf(t->notes + len, sizeof(t->notes) - len, "%s\n", text);
}

/* bash under these capabilities of the policy, and the facts. */
static struct taught *teach(const char *capabilities, const char *facts)
{
	struct taught *t = calloc(1, sizeof(*t));
	char policy[1024];

	assert_non_null(t);
	t->sink = (struct learn_sink){ note, t };
	(void)snprintf(policy, sizeof(policy),
	    "{\"version\":1,\"name\":\"t\",\"languages\":{\"bash\":{}},"
	    "\"capabilities\":%s}",
	    capabilities);
	t->policy = texts_parse(policy, strlen(policy));
	assert_non_null(t->policy->policy);
	assert_int_equal(
	    learn_open(t->policy->policy, &t->sink, &t->learn, &t->e), 0);
	while (t->failed == 0 && facts[0] != '\0') {
		size_t len = strcspn(facts, "\n");

		t->failed = learn_line(&t->learn, facts, len, &t->e);
		facts += len + 1;
	}
	if (t->failed == 0)
		t->failed = learn_end(&t->learn, &t->e);
	if (t->failed == 0)
		t->failed = learn_least(&t->learn, &t->e);
	return t;
}

static const struct capabilities *least(const struct taught *t)
{
	if (t->failed != 0)
		fail_msg("%s", t->e.text);
	return &t->learn.languages[0].least;
}

static void forget(struct taught *t)
{
	learn_close(&t->learn);
	texts_free(t->policy);
	free(t);
}

#define ALL                                                        \
	"{\"subprocess\":true,\"threads\":true,\"loopback\":true," \
	"\"exec_memory\":true,\"ipc\":true}"

static void what_was_not_made_is_not_allowed(void **state)
{
	struct taught *t = teach(ALL, RUN CALL("openat") CALL("mmap") END("3"));
	const struct capabilities *c = least(t);

	(void)state;
	assert_true(callset_allow(&c->only, "openat"));
	assert_true(callset_allow(&c->only, "restart_syscall"));
	assert_true(callset_allow(&c->only, "futex"));
	assert_false(callset_allow(&c->only, "mkdir"));
	assert_false(callset_allow(&c->only, "execve"));
	assert_false(c->subprocess || c->threads || c->loopback ||
	             c->exec_memory || c->ipc);
	forget(t);
}

/* Arguments decide what a capability is needed for. */
static void capabilities_follow_arguments(void **state)
{
	static const struct {
		const char *facts;
		size_t kept; /* as in parse_capability_names, or 9 */
	} rows[] = {
		{ CALL("clone") TOLD("clone", "0x1200011", "0x0", "0x0"), 0 },
		{ CALL("clone") TOLD("clone", "0x3d0f00", "0x0", "0x0"), 1 },
		{ CALL("socket") TOLD("socket", "0x2", "0x1", "0x0"), 2 },
		{ CALL("mmap") TOLD("mmap", "0x0", "0x0", "0x7"), 4 },
		{ CALL("mprotect") TOLD("mprotect", "0x0", "0x0", "0x5"), 4 },
		{ CALL("mprotect") TOLD("mprotect", "0x0", "0x0", "0x1"), 9 },
		{ CALL("msgget") CALL("msgget"), 5 },
		{ CALL("setsockopt") CALL("setsockopt"), 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char facts[1024];
		struct taught *t;
		const struct capabilities *c;

		(void)snprintf(
		    facts, sizeof(facts), RUN "%s" END("3"), rows[i].facts);
		t = teach(ALL, facts);
		c = least(t);
		{
			const bool has[] = { c->subprocess, c->threads,
				c->loopback, c->network, c->exec_memory,
				c->ipc };

			for (size_t j = 0; j < 6; j++)
				if (has[j] != (j == rows[i].kept))
					fail_msg("row %zu, %zu", i, j);
		}
		forget(t);
	}
}

static void code_of_its_own_keeps_executable_memory(void **state)
{
	static const struct {
		const char *fact;
		bool kept;
	} rows[] = {
		{ "{\"fact\":\"code\",\"path\":\"/usr/lib/x.so\"}\n", false },
		{ "{\"fact\":\"code\",\"path\":\"/sandbox/x.so\"}\n", true },
		{ "{\"fact\":\"code\",\"path\":\"\"}\n", true },
		{ "{\"fact\":\"code\",\"path_hex\":\"2fff\"}\n", true },
		{ "{\"fact\":\"exec\",\"path\":\"/tmp/a\"}\n", true },
		{ "{\"fact\":\"exec\",\"path\":\"/bin/a\"}\n", false },
		{ "{\"fact\":\"open\",\"path\":\"/tmp/a\"}\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char facts[1024];
		struct taught *t;

		(void)snprintf(
		    facts, sizeof(facts), RUN "%s" END("2"), rows[i].fact);
		t = teach(ALL, facts);
		if (least(t)->exec_memory != rows[i].kept)
			fail_msg("%s", rows[i].fact);
		forget(t);
	}
}

static void it_never_gives_what_the_policy_does_not(void **state)
{
	struct taught *t = teach("{\"ipc\":false,\"syscalls\":{\"only\":["
	                         "\"openat\",\"mmap\",\"msgget\"]}}",
	    RUN CALL("openat") CALL("msgget") CALL("mkdir") CALL("bpf")
	        END("5"));
	const struct capabilities *c = least(t);

	(void)state;
	assert_true(callset_allow(&c->only, "openat"));
	assert_true(callset_allow(&c->only, "mmap"));
	assert_false(callset_allow(&c->only, "msgget") || c->ipc);
	assert_false(callset_allow(&c->only, "mkdir"));
	assert_false(callset_allow(&c->only, "futex"));
	assert_non_null(strstr(t->notes, "left out: bpf, which no policy"));
	assert_non_null(strstr(t->notes, "left out: mkdir, as the policy t"));
	assert_non_null(strstr(t->notes, "left out: msgget, as the policy t"));
	forget(t);
}

static void what_was_denied_is_named_and_not_learned(void **state)
{
	struct taught *t = teach(ALL,
	    RUN "{\"fact\":\"denied\",\"call\":\"mkdir\",\"n\":7}\n" END("2"));

	(void)state;
	assert_false(callset_allow(&least(t)->only, "mkdir"));
	assert_non_null(strstr(t->notes, "was denied, and is left out: "
	                                 "mkdir (7)"));
	forget(t);
}

static void facts_that_are_none_are_refused(void **state)
{
	static const struct {
		const char *facts, *says;
	} rows[] = {
		{ "", "no end" },
		{ RUN, "no end" },
		{ RUN CALL("read"), "no end" },
		{ RUN CALL("read") END("3"), "missing" },
		{ CALL("read"), "unknown fact" },
		{ RUN RUN END("1"), "no beginning" },
		{ RUN END("1") END("1"), "unknown fact" },
		{ RUN "{\"fact\":\"wish\"}\n", "unknown fact" },
		{ RUN "[]\n", "no object" },
		{ RUN "{\n", "facts" },
		{ RUN "{\"fact\":\"told\",\"call\":\"mmap\"}\n",
		    "no arguments" },
		{ "{\"fact\":\"run\",\"run\":\"r_1\",\"language\":\"bash\","
		  "\"arch\":\"s390x\",\"status\":\"ok\"}\n",
		    "recorded on s390x" },
		{ "{\"fact\":\"run\",\"run\":\"r_1\",\"language\":\"c\","
		  "\"arch\":\"" MACHINE "\",\"status\":\"ok\"}\n",
		    "does not allow c" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct taught *t = teach(ALL, rows[i].facts);

		if (t->failed == 0 || strstr(t->e.text, rows[i].says) == NULL)
			fail_msg("%s: %s", rows[i].facts, t->e.text);
		forget(t);
	}
}

static void a_check_names_what_would_be_refused(void **state)
{
	struct taught *t =
	    teach("{\"ipc\":false}", RUN CALL("openat") CALL("mkdir") END("3"));
	size_t n = 9;

	(void)state;
	assert_int_equal(learn_check(&t->learn, &n, &t->e), 0);
	assert_int_equal(n, 0);
	callset_add(&t->learn.languages[0].seen, callset_find("msgget"));
	assert_int_equal(learn_check(&t->learn, &n, &t->e), 0);
	assert_int_equal(n, 1);
	assert_non_null(strstr(t->notes, "would be refused: msgget"));
	forget(t);
}

static void files_belong_to_modules(void **state)
{
	static const struct {
		const char *path, *module;
	} rows[] = {
		{ "/usr/lib/python3.11/json/__init__.py", "json" },
		{ "/usr/lib/python3.11/__pycache__/re.cpython-311.pyc", "re" },
		{ "/usr/lib/python3.11/email/mime/text.py", "email" },
		{ "/usr/lib/python3.11/_weakrefset.py", "_weakrefset" },
		{ "/usr/lib/python3.11/json", "json" },
		{ "/usr/lib/python3.11/__pycache__", NULL },
		{ "/usr/lib/python3.11/__pycache__x.py", "__pycache__x" },
		{ "/usr/lib/python3.11/lib-dynload", NULL },
		{ "/usr/lib/python3.11/__pycache__/", NULL },
		{ "/usr/lib/python3.11/9.py", NULL },
		{ "/usr/lib/python3.11/x-y.py", NULL },
		{ "/usr/lib/other/json/__init__.py", NULL },
		{ "json/__init__.py", NULL },
		{ "", NULL },
	};
	static const char policy[] = "{\"version\":1,\"name\":\"t\","
	                             "\"languages\":{\"python\":{}}}";
	struct texts_result *r = texts_parse(policy, sizeof(policy) - 1);
	const struct language_modules *m;
	char name[POLICY_NAME_MAX];

	(void)state;
	assert_non_null(r->policy);
	m = &r->policy->languages[0].language.modules;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is = learn_module(m, rows[i].path, name);

		if (is != (rows[i].module != NULL) ||
		    (is && strcmp(name, rows[i].module) != 0))
			fail_msg("%s: %s", rows[i].path, is ? name : "none");
	}
	texts_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_made_is_not_allowed),
		cmocka_unit_test(capabilities_follow_arguments),
		cmocka_unit_test(code_of_its_own_keeps_executable_memory),
		cmocka_unit_test(it_never_gives_what_the_policy_does_not),
		cmocka_unit_test(what_was_denied_is_named_and_not_learned),
		cmocka_unit_test(facts_that_are_none_are_refused),
		cmocka_unit_test(a_check_names_what_would_be_refused),
		cmocka_unit_test(files_belong_to_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
