/*
 * tests/unit/test_removal.c - a result folder leaves: who was removed is known,
 * each step is bounded, links are not followed.
 */
#include "executor/removal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[64];
static int results_fd;

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(base, sizeof(base), "/tmp/bailiff-removal-XXXXXX");
	assert_non_null(mkdtemp(base));
	results_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(results_fd >= 0);
	return 0;
}

static int tear_down(void **state)
{
	struct error e;
	bool more = true;

	(void)state;
	while (more)
		assert_int_equal(removal_step(results_fd, 100, &more, &e), 0);
	(void)unlinkat(results_fd, ".pruned", 0);
	(void)unlinkat(results_fd, ".pruned.old", 0);
	(void)unlinkat(results_fd, ".pruning", AT_REMOVEDIR);
	(void)close(results_fd);
	assert_int_equal(rmdir(base), 0);
	return 0;
}

static void touch(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)close(fd);
}

static void fill(const struct removal_note *note, size_t n_files)
{
	char id[40], name[32];
	int fd;

	removal_run_id(note->run, id);
	assert_int_equal(mkdirat(results_fd, id, 0700), 0);
	fd = openat(results_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t i = 0; i < n_files; i++) {
		(void)snprintf(name, sizeof(name), "%zu", i);
		touch(fd, name);
	}
	assert_int_equal(symlinkat("/etc", fd, "link"), 0);
	(void)close(fd);
}

static void who_was_removed_is_known(void **state)
{
	struct removal_note note = { .run = { 1, 2, 3 },
		.uid = 1000,
		.when_s = 1790000000,
		.why = "keep_days" };
	struct removal_note found;
	struct error e;
	char id[40];

	(void)state;
	removal_run_id(note.run, id);
	assert_false(removal_find(results_fd, id, &found));
	fill(&note, 1);
	assert_int_equal(removal_take(results_fd, &note, &e), 0);
	assert_int_equal(faccessat(results_fd, id, F_OK, 0), -1);
	/* Many more, and another time of the same. */
	for (uint8_t i = 0; i < 200; i++) {
		const struct removal_note other = { .run = { 9, i },
			.why = "redact" };

		assert_int_equal(removal_take(results_fd, &other, &e), 0);
	}
	assert_true(removal_find(results_fd, id, &found));
	assert_int_equal(found.uid, 1000);
	assert_int_equal(found.when_s, 1790000000);
	assert_string_equal(found.why, "keep_days");
	note.when_s++;
	assert_int_equal(removal_take(results_fd, &note, &e), 0);
	assert_true(removal_find(results_fd, id, &found));
	assert_int_equal(found.when_s, 1790000001);
	assert_false(removal_find(results_fd, "r_", &found));
}

static void a_step_unlinks_no_more_than_its_budget(void **state)
{
	const struct removal_note note = { .run = { 7 }, .why = "max_bytes" };
	struct error e;
	bool more = true;
	size_t steps = 0;

	(void)state;
	fill(&note, 50);
	assert_int_equal(removal_take(results_fd, &note, &e), 0);
	for (; more; steps++)
		assert_int_equal(removal_step(results_fd, 10, &more, &e), 0);
	assert_in_range(steps, 5, 8);
}

static void directories_of_any_depth_go(void **state)
{
	const struct removal_note note = { .run = { 8 }, .why = "max_bytes" };
	struct error e;
	bool more = true;
	char id[40];
	size_t steps = 0;
	int fd;

	(void)state;
	fill(&note, 1);
	removal_run_id(note.run, id);
	fd = openat(results_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 100; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		touch(next, "f");
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
	assert_int_equal(removal_take(results_fd, &note, &e), 0);
	for (; more && steps < 1000; steps++)
		assert_int_equal(removal_step(results_fd, 32, &more, &e), 0);
	assert_in_range(steps, 1, 200);
	assert_int_equal(unlinkat(results_fd, ".pruning", AT_REMOVEDIR), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    who_was_removed_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_step_unlinks_no_more_than_its_budget, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    directories_of_any_depth_go, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
