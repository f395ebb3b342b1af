/*
 * tests/unit/test_absent.c - denied modules in a toolchain of the test's own:
 * what is found, what is inside the interpreter, and what answers for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/absent.h"

struct place {
	char dir[64];
	struct policy_language *l;
	struct absent *a;
};

static void put_file(
    const struct place *p, const char *name, const char *text, size_t len)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_directory(const struct place *p, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int setup(void **state)
{
	/* A symbol table, and a name that is only the tail of another text. */
	static const char interpreter[] = "\0PyInit__socket\0PyInit_posix\0"
	                                  "PyInit_not-a-name\0PyInit_";
	static const char *const files[] = { "ctypes.py", "ctypes.so",
		"_ctypes.abi.so", "ctypesx.py", "socket.py", "os.py" };
	struct place *p = calloc(1, sizeof(*p));
	struct language_modules *m;

	assert_non_null(p);
	p->l = calloc(1, sizeof(*p->l));
	p->a = calloc(1, sizeof(*p->a));
	assert_non_null(p->l);
	assert_non_null(p->a);
	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/bailiff-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	put_directory(p, "lib1");
	put_directory(p, "lib1/pack");
	put_directory(p, "lib1/pack/part");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "lib1/%s", files[i]);
		put_file(p, name, "x", 1);
	}
	put_file(p, "program", interpreter, sizeof(interpreter) - 1);
	m = &p->l->language.modules;
	memcpy(p->l->language.name, "python", sizeof("python"));
	(void)snprintf(m->directories[0], 256, "%s/lib*", p->dir);
	(void)snprintf(m->directories[1], 256, "%s/none*", p->dir);
	m->n_directories = 2;
	memcpy(m->files[0], "{name}", sizeof("{name}"));
	memcpy(m->files[1], "{name}.py", sizeof("{name}.py"));
	memcpy(m->files[2], "{name}.so", sizeof("{name}.so"));
	memcpy(m->files[3], "_{name}.*.so", sizeof("_{name}.*.so"));
	m->n_files = 4;
	(void)snprintf(m->interpreters[0], 256, "%s/prog*", p->dir);
	m->n_interpreters = 1;
	memcpy(m->mark, "PyInit_", sizeof("PyInit_"));
	memcpy(m->inside[0], "os", sizeof("os"));
	m->n_inside = 1;
	memcpy(m->answers[0].module, "socket", sizeof("socket"));
	m->answers[0].capability = 2; /* loopback */
	m->n_answers = 1;
	*state = p;
	return 0;
}

static int remove_one(
    const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int teardown(void **state)
{
	struct place *p = *state;

	(void)nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(p->l);
	free(p->a);
	free(p);
	return 0;
}

/* Deny one module and look. */
static const struct absent_module *deny(struct place *p, const char *name)
{
	struct error e;

	memcpy(p->l->denied[0], name, strlen(name) + 1);
	p->l->n_denied = 1;
	if (absent_find(p->l, p->a, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(p->a->n_modules, 1);
	return &p->a->modules[0];
}

static bool finds(const struct place *p, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	for (size_t i = 0; i < p->a->n_paths; i++)
		if (strcmp(p->a->paths[i], path) == 0)
			return true;
	return false;
}

static void all_files_of_a_module_are_found_and_no_others(void **state)
{
	struct place *p = *state;
	const struct absent_module *m = deny(p, "ctypes");
	struct error e;

	assert_int_equal(m->way, ABSENT_FILES);
	assert_int_equal(m->n, 3);
	assert_true(finds(p, "lib1/ctypes.py"));
	assert_true(finds(p, "lib1/ctypes.so"));
	assert_true(finds(p, "lib1/_ctypes.abi.so"));
	assert_int_equal(absent_judge(p->a, &e), 0);
}

static void a_part_of_a_package_is_found(void **state)
{
	struct place *p = *state;
	const struct absent_module *m = deny(p, "pack.part");

	assert_int_equal(m->way, ABSENT_FILES);
	assert_int_equal(m->n, 1);
	assert_true(finds(p, "lib1/pack/part"));
}

static void directories_reached_by_links_are_named_as_they_are(void **state)
{
	struct place *p = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/lib2", p->dir);
	assert_int_equal(symlink("lib1", path), 0);
	assert_int_equal(deny(p, "ctypes")->n, 3);
	assert_true(finds(p, "lib1/ctypes.py"));
	assert_int_equal(unlink(path), 0);
}

static void what_is_not_here_is_said(void **state)
{
	struct error e;

	assert_int_equal(deny(*state, "ctype")->way, ABSENT_NOTHING);
	assert_int_equal(absent_judge(((struct place *)*state)->a, &e), 0);
}

static void what_is_inside_needs_a_capability_that_is_not_given(void **state)
{
	struct place *p = *state;
	const struct absent_module *m = deny(p, "socket");
	struct error e;

	assert_int_equal(m->way, ABSENT_CAPABILITY);
	assert_string_equal(m->capability, "loopback");
	assert_true(finds(p, "lib1/socket.py"));
	assert_int_equal(absent_judge(p->a, &e), 0);

	p->l->capabilities.loopback = true;
	m = deny(p, "socket");
	assert_int_equal(m->way, ABSENT_NEITHER);
	assert_int_equal(absent_judge(p->a, &e), -1);
	assert_non_null(strstr(e.text, "loopback"));
	p->l->capabilities.loopback = false;
}

static void what_nothing_answers_is_refused_and_keeps_its_files(void **state)
{
	struct place *p = *state;
	const struct absent_module *m = deny(p, "os");
	struct error e;

	assert_int_equal(m->way, ABSENT_NEITHER);
	assert_null(m->capability);
	assert_int_equal(m->n, 0);
	assert_int_equal(absent_judge(p->a, &e), -1);
	assert_non_null(strstr(e.text, "cannot be denied"));
	assert_int_equal(deny(p, "posix")->way, ABSENT_NEITHER);
	assert_int_equal(deny(p, "not")->way, ABSENT_NOTHING);
}

static void an_interpreter_without_symbols_is_refused(void **state)
{
	struct place *p = *state;
	struct error e;

	put_file(p, "program", "stripped", 8);
	memcpy(p->l->denied[0], "ctypes", sizeof("ctypes"));
	p->l->n_denied = 1;
	assert_int_equal(absent_find(p->l, p->a, &e), -1);
	assert_non_null(strstr(e.text, "cannot be denied on this host"));
}

/* What is there of a list of the only modules. */
static void a_list_of_the_only_ones_hides_the_others(void **state)
{
	static const char *const files[] = { "lib1/json.py",
		"lib1/_json.abi.so", "lib1/email/__init__.py",
		"lib1/email/x.py", "lib1/LICENSE-1", "lib1/pth.pth" };
	struct place *p = *state;
	struct error e = { 0 };
	char all[4096] = "";

	put_directory(p, "lib1/email");
	put_directory(p, "lib1/__pycache__");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put_file(p, files[i], "x", 1);
	p->l->n_denied = 0;
	p->l->has_only = true;
	p->l->n_only = 1;
	(void)snprintf(p->l->only[0], sizeof(p->l->only[0]), "json");
	if (absent_find(p->l, p->a, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(p->a->n_others, p->a->n_paths);
	for (size_t i = 0; i < p->a->n_paths; i++) {
		size_t len = strlen(all);

		(void)snprintf(all + len, sizeof(all) - len, "%s ",
		    strrchr(p->a->paths[i], '/') + 1);
	}
	p->l->has_only = false;
	/* os is inside, pack only a place for others. */
	assert_string_equal(all, "_ctypes.abi.so ctypes.py ctypes.so "
	                         "ctypesx.py email socket.py ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files_of_a_module_are_found_and_no_others),
		cmocka_unit_test(a_part_of_a_package_is_found),
		cmocka_unit_test(
		    directories_reached_by_links_are_named_as_they_are),
		cmocka_unit_test(what_is_not_here_is_said),
		cmocka_unit_test(
		    what_is_inside_needs_a_capability_that_is_not_given),
		cmocka_unit_test(
		    what_nothing_answers_is_refused_and_keeps_its_files),
		cmocka_unit_test(a_list_of_the_only_ones_hides_the_others),
		cmocka_unit_test(an_interpreter_without_symbols_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
