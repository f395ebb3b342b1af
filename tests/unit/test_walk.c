/*
 * tests/unit/test_walk.c - walks of a real tree: order, bounds, and what is
 * said of everything that is not entered.
 */
#include "executor/walk.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct walk_limits plenty = { 64, 1000, NULL, NULL };

struct tree {
	char path[64];
	int fd;
};

static void make_file(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)close(fd);
}

/* b  c/  c/d/  c/d/e  f -> b  a */
static int make_tree(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -1;
	(void)snprintf(t->path, sizeof(t->path), "/tmp/bailiff-walk-XXXXXX");
	if (mkdtemp(t->path) == NULL)
		return -1;
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(t->fd, "c", 0700) < 0 || mkdirat(t->fd, "c/d", 0700) < 0 ||
	    symlinkat("c", t->fd, "f") < 0)
		return -1;
	make_file(t->fd, "b");
	make_file(t->fd, "c/d/e");
	make_file(t->fd, "a");
	*state = t;
	return 0;
}

static int remove_tree(void **state)
{
	static const char *const names[] = { "a", "b", "f", "c/d/e" };
	struct tree *t = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(t->fd, names[i], 0);
	(void)unlinkat(t->fd, "c/d", AT_REMOVEDIR);
	(void)unlinkat(t->fd, "c", AT_REMOVEDIR);
	(void)close(t->fd);
	(void)rmdir(t->path);
	free(t);
	return 0;
}

/* The whole walk as one text: "entry a, deep c, ". */
static void walk_says(
    const struct tree *t, struct walk_limits limits, const char *wanted)
{
	static const char *const words[] = { "end", "entry", "deep", "full",
		"long", "unreadable" };
	char said[512] = "";
	struct walk_entry entry;
	struct walk *w = NULL;
	struct error e = { 0 };
	int fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);

	assert_int_equal(walk_open(fd, limits, &w, &e), 0);
	(void)lseek(fd, 0, SEEK_SET);
	do {
		size_t at = strlen(said);

		walk_next(w, &entry);
		assert_int_equal(strlen(entry.path), entry.path_len);
		(void)snprintf(said + at, sizeof(said) - at, "%s %s, ",
		    words[entry.what], entry.path);
	} while (entry.what != WALK_END);
	walk_free(w);
	assert_string_equal(said, wanted);
	/* The walk owned it. */
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static struct walk_limits limits(uint64_t max_depth, uint64_t max_entries)
{
	return (struct walk_limits){ max_depth, max_entries, NULL, NULL };
}

static void entries_come_in_order_of_name(void **state)
{
	walk_says(
	    *state, plenty, "entry a, entry b, entry c/d/e, entry f, end , ");
}

static void a_directory_too_deep_is_said_and_not_entered(void **state)
{
	walk_says(*state, limits(0, 1000), "deep , end , ");
	walk_says(*state, limits(1, 1000),
	    "entry a, entry b, deep c, entry f, end , ");
	walk_says(*state, limits(2, 1000),
	    "entry a, entry b, deep c/d, entry f, end , ");
	walk_says(*state, limits(UINT64_MAX, 1000),
	    "entry a, entry b, entry c/d/e, entry f, end , ");
}

static void too_many_entries_end_the_walk(void **state)
{
	walk_says(*state, limits(64, 0), "full , end , ");
	walk_says(*state, limits(64, 1), "entry a, full , end , ");
	walk_says(*state, limits(64, 4), "entry a, entry b, full c/d, end , ");
	walk_says(*state, limits(64, 6),
	    "entry a, entry b, entry c/d/e, entry f, end , ");
}

static void one_name_at_the_top_is_walked_apart(void **state)
{
	struct walk_limits one = { 64, 1000, "c", NULL };
	struct walk_limits rest = { 64, 1000, NULL, "c" };

	walk_says(*state, one, "entry c/d/e, end , ");
	walk_says(*state, rest, "entry a, entry b, entry f, end , ");
	one.only = "d"; /* which is not at the top */
	walk_says(*state, one, "end , ");
	rest.but = "d";
	walk_says(
	    *state, rest, "entry a, entry b, entry c/d/e, entry f, end , ");
	/* What is passed over was looked at all the same. */
	one = (struct walk_limits){ 64, 3, "f", NULL };
	walk_says(*state, one, "full , end , ");
}

static void a_walk_may_end_early(void **state)
{
	const struct tree *t = *state;
	struct walk_entry entry;
	struct walk *w = NULL;
	struct error e = { 0 };
	int fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);

	assert_int_equal(walk_open(fd, plenty, &w, &e), 0);
	(void)lseek(fd, 0, SEEK_SET);
	for (int i = 0; i < 3; i++)
		walk_next(w, &entry);
	assert_string_equal(entry.path, "c/d/e");
	assert_string_equal(entry.name, "e");
	assert_int_equal(
	    faccessat(entry.dir_fd, entry.name, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	walk_free(w);
	walk_free(NULL);
}

static void what_is_no_directory_is_unreadable(void **state)
{
	struct walk_entry entry;
	struct walk *w = NULL;
	struct error e = { 0 };

	(void)state;
	assert_int_equal(
	    walk_open(open("/dev/null", O_RDONLY | O_CLOEXEC), plenty, &w, &e),
	    0);
	walk_next(w, &entry);
	assert_int_equal(entry.what, WALK_UNREADABLE);
	walk_next(w, &entry);
	assert_int_equal(entry.what, WALK_END);
	walk_free(w);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(entries_come_in_order_of_name),
		CASE(a_directory_too_deep_is_said_and_not_entered),
		CASE(too_many_entries_end_the_walk),
		CASE(one_name_at_the_top_is_walked_apart),
		CASE(a_walk_may_end_early),
		cmocka_unit_test(what_is_no_directory_is_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
