/*
 * tests/unit/test_uidpool.c - pairs of ids by lock files, in a directory of our
 * own.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "executor/uidpool.h"

#define N 20

static int make_directory(void **state)
{
	char *path = strdup("/tmp/bailiff-uidpool-XXXXXX");

	*state = path;
	return path != NULL && mkdtemp(path) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
	char name[64];
	char *path = *state;
	int ret;

	for (int i = 0; i < N; i++) {
		(void)snprintf(name, sizeof(name), "%s/%d", path, i);
		(void)unlink(name);
	}
	ret = rmdir(path);
	free(path);
	return ret;
}

static void every_pair_is_given_once(void **state)
{
	int dir_fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int lock[N];
	uint32_t pair;
	struct error e;

	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(uidpool_take(dir_fd, &pair, &lock[i], &e), 0);
		assert_int_equal(pair, i);
	}
	/* What is given back is given again, and only that. */
	(void)close(lock[7]);
	assert_int_equal(uidpool_take(dir_fd, &pair, &lock[7], &e), 0);
	assert_int_equal(pair, 7);
	for (uint32_t i = 0; i < N; i++)
		(void)close(lock[i]);
	(void)close(dir_fd);
}

static void a_link_in_the_directory_is_an_error(void **state)
{
	int dir_fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int lock;
	uint32_t pair;
	struct error e;

	(void)unlinkat(dir_fd, "0", 0);
	assert_int_equal(symlinkat("/dev/null", dir_fd, "0"), 0);
	assert_int_equal(uidpool_take(dir_fd, &pair, &lock, &e), -1);
	assert_int_equal(e.saved_errno, ELOOP);
	(void)close(dir_fd);
}

static void no_directory_is_an_error(void **state)
{
	int lock;
	uint32_t pair;
	struct error e;

	(void)state;
	assert_int_equal(uidpool_take(-1, &pair, &lock, &e), -1);
	assert_int_equal(e.kind, ERROR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_is_given_once),
		cmocka_unit_test(a_link_in_the_directory_is_an_error),
		cmocka_unit_test(no_directory_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
