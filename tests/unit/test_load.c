/*
 * tests/unit/test_load.c - policies from disk: what is refused, and that every
 * way to change a source makes a loaded policy stale.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "policy/load.h"
#include "tests/unit/policy_texts.h"

struct fixture {
	char directory[64];
	struct policy_loaded loaded;
	struct policy_faults faults;
	struct error e;
};

static void put_file(const char *name, const char *text)
{
	AUTO_FD fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return -1;
	strcpy(f->directory, "/tmp/bailiff-load-XXXXXX");
	if (mkdtemp(f->directory) == NULL || chdir(f->directory) < 0 ||
	    mkdir("l", 0755) < 0)
		return -1;
	put_file("l/python.json", TEXTS_PYTHON);
	put_file("l/README", "not data");
	put_file("p.json", TEXTS_POLICY(""));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const files[] = { "l/python.json", "l/bash.json",
		"l/README", "p.json", "q.json", "link" };
	struct fixture *f = *state;

	policy_loaded_done(&f->loaded);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlink(files[i]);
	(void)rmdir("l");
	if (chdir("/") < 0 || rmdir(f->directory) < 0)
		return -1;
	free(f);
	return 0;
}

static int load(struct fixture *f, const char *policy)
{
	const struct policy_places places = { policy, "l" };

	return policy_load(&places, &f->loaded, &f->faults, &f->e);
}

static void must_load(struct fixture *f)
{
	if (load(f, "p.json") < 0)
		fail_msg("%s", f->e.text);
	assert_false(policy_loaded_is_stale(&f->loaded));
}

static size_t n_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n;
}

static void a_policy_is_loaded_and_released(void **state)
{
	struct fixture *f = *state;
	size_t before = n_open_files();

	must_load(f);
	assert_string_equal(f->loaded.policy->name, "t");
	assert_int_equal(f->loaded.n_files, 3); /* README is not read */
	policy_loaded_done(&f->loaded);
	assert_null(f->loaded.policy);
	assert_int_equal(n_open_files(), before);
}

static void what_is_no_private_file_is_refused(void **state)
{
	struct fixture *f = *state;
	size_t before = n_open_files();

	assert_int_equal(symlink("p.json", "link"), 0);
	assert_int_equal(load(f, "link"), -1);
	assert_int_equal(f->e.kind, ERROR_DENIED);
	assert_int_equal(load(f, "l"), -1);
	assert_int_equal(f->e.kind, ERROR_DENIED);
	assert_int_equal(load(f, "/dev/null"), -1);
	assert_int_equal(f->e.kind, ERROR_DENIED);
	assert_int_equal(load(f, "none"), -1);
	assert_int_equal(f->e.kind, ERROR_SYSTEM);
	assert_int_equal(chmod("p.json", 0664), 0);
	assert_int_equal(load(f, "p.json"), -1);
	assert_int_equal(f->e.kind, ERROR_DENIED);
	assert_int_equal(chmod("p.json", 0644), 0);
	assert_int_equal(chmod("l/python.json", 0646), 0);
	assert_int_equal(load(f, "p.json"), -1);
	assert_int_equal(f->e.kind, ERROR_DENIED);
	assert_non_null(strstr(f->e.text, "python.json"));
	assert_int_equal(chmod("l/python.json", 0644), 0);
	assert_int_equal(chmod("l", 0777), 0);
	assert_int_equal(load(f, "p.json"), -1);
	assert_int_equal(f->e.kind, ERROR_DENIED);
	assert_int_equal(f->faults.n, 0);
	assert_int_equal(chmod("l", 0755), 0);
	assert_null(f->loaded.policy);
	assert_int_equal(n_open_files(), before);
	must_load(f);
}

/*
 * Kernel times move in ticks of some milliseconds: a change in the same tick as
 * the load would only show in its size.
 */
static void wait_a_tick(void)
{
	const struct timespec tick = { .tv_nsec = 50000000 };

	(void)nanosleep(&tick, NULL);
}

static void write_in_place(void)
{
	put_file("p.json", TEXTS_POLICY(" "));
}

static void write_same_size(void)
{
	put_file("p.json", TEXTS_POLICY(""));
}

static void replace(void)
{
	put_file("q.json", TEXTS_POLICY(""));
	assert_int_equal(rename("q.json", "p.json"), 0);
}

static void move_away(void)
{
	assert_int_equal(rename("p.json", "q.json"), 0);
}

static void remove_policy(void)
{
	assert_int_equal(unlink("p.json"), 0);
}

static void change_mode(void)
{
	assert_int_equal(chmod("p.json", 0666), 0);
}

static void change_language(void)
{
	put_file("l/python.json", TEXTS_PYTHON " ");
}

static void add_language(void)
{
	put_file("l/bash.json", TEXTS_BASH);
}

static void remove_language(void)
{
	assert_int_equal(unlink("l/python.json"), 0);
}

static void every_change_makes_it_stale(void **state)
{
	static void (*const changes[])(void) = { write_in_place,
		write_same_size, replace, move_away, remove_policy, change_mode,
		change_language, add_language, remove_language };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		(void)unlink("l/bash.json");
		put_file("l/python.json", TEXTS_PYTHON);
		put_file("p.json", TEXTS_POLICY(""));
		assert_int_equal(chmod("p.json", 0644), 0);
		must_load(f);
		wait_a_tick();
		assert_false(policy_loaded_is_stale(&f->loaded));
		changes[i]();
		if (!policy_loaded_is_stale(&f->loaded))
			fail_msg("change %zu went unseen", i);
		policy_loaded_done(&f->loaded);
	}
}

/* After it gave up its rights a supervisor must still see changes. */
static void changes_are_seen_without_any_right_to_the_directory(void **state)
{
	struct fixture *f = *state;

	must_load(f);
	wait_a_tick();
	assert_int_equal(chmod(f->directory, 0), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(1900065535), 0);
	assert_false(policy_loaded_is_stale(&f->loaded));
	if (geteuid() != 0)
		assert_int_equal(seteuid(0), 0);
	replace();
	if (geteuid() == 0)
		assert_int_equal(seteuid(1900065535), 0);
	assert_true(policy_loaded_is_stale(&f->loaded));
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(f->directory, 0700), 0);
}

static void only_for_root(void **state)
{
	if (geteuid() == 0) {
		changes_are_seen_without_any_right_to_the_directory(state);
		return;
	}
	print_message("skipped: needs root to become somebody else\n");
	skip();
}

static void known_languages_come_sorted(void **state)
{
	struct fixture *f = *state;
	struct policy_known known;

	add_language();
	assert_int_equal(policy_load_known("l", &known, &f->faults, &f->e), 0);
	assert_int_equal(known.n, 2);
	assert_string_equal(known.items[0].name, "bash");
	assert_string_equal(known.items[1].name, "python");
	free(known.items);
	put_file("l/bash.json", "{}");
	assert_int_equal(policy_load_known("l", &known, &f->faults, &f->e), -1);
	assert_int_equal(f->e.kind, ERROR_MALFORMED);
	assert_true(f->faults.n > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_policy_is_loaded_and_released),
		TEST(what_is_no_private_file_is_refused),
		TEST(every_change_makes_it_stale),
		TEST(only_for_root),
		TEST(known_languages_come_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
