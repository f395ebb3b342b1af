/*
 * tests/unit/test_mounts.c - what a run has mounted, as explained beforehand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/mounts.h"

static const struct mount_line *find(const struct mounts *m, const char *point)
{
	const struct mount_line *found = NULL;

	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->items[i].point, point) != 0)
			continue;
		assert_null(found); /* no point twice */
		found = &m->items[i];
	}
	return found;
}

static struct mounts *find_all(enum mounts_of of)
{
	struct mounts *m = calloc(1, sizeof(*m));
	struct error e = { 0 };

	assert_non_null(m);
	if (mounts_find(of, m, &e) < 0)
		fail_msg("%s", e.text);
	return m;
}

static void the_toolchain_is_a_read_only_overlay(void **state)
{
	struct mounts *m = find_all(MOUNTS_OF_ROOT);
	const struct mount_line *usr = find(m, "/usr");
	struct stat st;

	(void)state;
	assert_non_null(usr);
	assert_string_equal(usr->type, "overlay");
	assert_true(usr->read_only && !usr->devices);
	for (size_t i = 1; i < MOUNTS_TOPS_N; i++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "/%s", mounts_tops[i]);
		assert_int_equal(find(m, path) != NULL,
		    lstat(path, &st) == 0 && S_ISDIR(st.st_mode));
	}
	/* Nothing of the host but that. */
	for (size_t i = 0; i < m->n; i++)
		assert_true(m->items[i].read_only ||
		            strcmp(m->items[i].type, "tmpfs") == 0 ||
		            strcmp(m->items[i].type, "proc") == 0);
	free(m);
}

static void devices_work_in_dev_alone(void **state)
{
	struct mounts *root = find_all(MOUNTS_OF_ROOT);
	struct mounts *user = find_all(MOUNTS_OF_USER);

	(void)state;
	for (size_t i = 0; i < root->n; i++)
		assert_int_equal(root->items[i].devices,
		    strcmp(root->items[i].point, "/dev") == 0);
	for (size_t i = 0; i < user->n; i++)
		assert_int_equal(user->items[i].devices,
		    strcmp(user->items[i].type, "tree") == 0 &&
		        strncmp(user->items[i].point, "/dev/", 5) == 0);
	assert_non_null(find(user, "/dev/null"));
	assert_null(find(root, "/dev/null"));
	free(root);
	free(user);
}

static void directories_of_a_request_are_overlays(void **state)
{
	const struct policy_request request = { .n_inputs = 3,
		.inputs = { { "/srv/a", "a b", POLICY_INPUT_DIRECTORY },
		    { "/srv/f", "f", POLICY_INPUT_FILE },
		    { "", "i", POLICY_INPUT_INLINE } } };
	struct mounts *m = find_all(MOUNTS_OF_ROOT);
	struct error e = { 0 };
	size_t before = m->n;

	(void)state;
	assert_int_equal(mounts_add_request(m, &request, &e), 0);
	assert_int_equal(m->n, before + 1);
	assert_string_equal(m->items[before].point, "/sandbox/a b");
	assert_string_equal(m->items[before].type, "overlay");
	assert_true(m->items[before].read_only);
	m->n = MOUNTS_MAX;
	m->items[before].point[0] = '\0';
	assert_int_equal(mounts_add_request(m, &request, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	free(m);
}

static int take_point(void *context, const char *point, struct error *e)
{
	size_t *n = context;

	(*n)++;
	if (strncmp(point, "/proc/", 6) != 0)
		return FAIL(e, ERROR_STATE, "%s is not beneath", point);
	return *n == 2 ? FAIL(e, ERROR_LIMIT, "enough") : 0;
}

static void inner_mounts_lie_beneath_and_a_failure_ends_the_walk(void **state)
{
	static const char *const proc[] = { "pro", "proc" };
	static const char *const none[] = { "none/such" };
	size_t n = 0;
	struct mounts_walk walk = { none, 1, take_point, &n };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(mounts_each_inner(&walk, &e), 0);
	assert_int_equal(n, 0);
	walk.tops = proc;
	walk.n_tops = 2;
	/* A host may have none; /proc itself is never told. */
	if (mounts_each_inner(&walk, &e) < 0)
		assert_int_equal(e.kind, ERROR_LIMIT);
	assert_true(n <= 2);
}

static void odd_mounts_are_hidden(void **state)
{
	const struct stat file = { .st_mode = S_IFREG };
	const struct stat directory = { .st_mode = S_IFDIR };
	const struct stat fifo = { .st_mode = S_IFIFO };

	(void)state;
	assert_int_equal(mounts_inner_kind("/usr/a", &file), MOUNTS_INNER_FILE);
	assert_int_equal(
	    mounts_inner_kind("/usr/a", &directory), MOUNTS_INNER_TREE);
	assert_int_equal(
	    mounts_inner_kind("/usr/a", &fifo), MOUNTS_INNER_HIDDEN);
	assert_int_equal(
	    mounts_inner_kind("/usr/a b", &directory), MOUNTS_INNER_HIDDEN);
	assert_int_equal(
	    mounts_inner_kind("/usr/a\nb", &file), MOUNTS_INNER_HIDDEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_toolchain_is_a_read_only_overlay),
		cmocka_unit_test(devices_work_in_dev_alone),
		cmocka_unit_test(directories_of_a_request_are_overlays),
		cmocka_unit_test(
		    inner_mounts_lie_beneath_and_a_failure_ends_the_walk),
		cmocka_unit_test(odd_mounts_are_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
