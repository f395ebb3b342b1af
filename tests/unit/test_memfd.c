/*
 * tests/unit/test_memfd.c - sealed memory files, real ones.
 */
#include "base/memfd.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"

static int sealed(void)
{
	struct error e = { 0 };
	int fd = -1;

	assert_int_equal(memfd_of("test", "bytes", 5, &fd, &e), 0);
	return fd;
}

static void nobody_can_change_a_sealed_file(void **state)
{
	AUTO_FD fd = sealed();

	(void)state;
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 100), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
	assert_ptr_equal(
	    mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
	    MAP_FAILED);
	assert_int_not_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

static void a_sealed_file_is_read_from_its_start(void **state)
{
	AUTO_FD fd = sealed();
	char back[8];

	(void)state;
	assert_int_equal(read(fd, back, sizeof(back)), 5);
	assert_memory_equal(back, "bytes", 5);
}

static void check_accepts_what_is_sealed(void **state)
{
	AUTO_FD fd = sealed();
	struct error e = { 0 };
	uint64_t size = 0;

	(void)state;
	assert_int_equal(memfd_check(fd, 5, &size, &e), 0);
	assert_true(size == 5);
	assert_int_equal(memfd_check(fd, 4, &size, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
}

static void check_refuses_everything_else(void **state)
{
	AUTO_FD null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FD plain_fd = memfd_create("plain", MFD_CLOEXEC);
	AUTO_FD open_fd = -1;
	AUTO_FD half_fd = -1;
	struct error e = { 0 };
	uint64_t size = 42;

	(void)state;
	assert_int_equal(memfd_new("open", &open_fd, &e), 0);
	assert_int_equal(memfd_new("half", &half_fd, &e), 0);
	assert_int_equal(
	    fcntl(half_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW), 0);
	const int fds[] = { -1, null_fd, plain_fd, open_fd, half_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		assert_int_equal(memfd_check(fds[i], 100, &size, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
		assert_true(size == 42);
	}
}

static void a_copy_is_bounded(void **state)
{
	AUTO_FD fd = sealed();
	AUTO_FD copy_fd = -1;
	struct error e = { 0 };
	uint64_t size = 0;

	(void)state;
	assert_int_equal(memfd_copy(fd, 4, &copy_fd, &size, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_int_equal(copy_fd, -1);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(memfd_copy(fd, 5, &copy_fd, &size, &e), 0);
	assert_true(size == 5);
	assert_int_equal(memfd_check(copy_fd, 5, &size, &e), 0);
}

static void an_endless_source_ends_at_the_bound(void **state)
{
	AUTO_FD zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	AUTO_FD copy_fd = -1;
	struct error e = { 0 };
	uint64_t size = 0;

	(void)state;
	assert_int_equal(memfd_copy(zero_fd, 100000, &copy_fd, &size, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
}

static void an_empty_file_can_be_sealed(void **state)
{
	AUTO_FD fd = -1;
	struct error e = { 0 };
	uint64_t size = 1;

	(void)state;
	assert_int_equal(memfd_of("empty", NULL, 0, &fd, &e), 0);
	assert_int_equal(memfd_check(fd, 0, &size, &e), 0);
	assert_true(size == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_can_change_a_sealed_file),
		cmocka_unit_test(a_sealed_file_is_read_from_its_start),
		cmocka_unit_test(check_accepts_what_is_sealed),
		cmocka_unit_test(check_refuses_everything_else),
		cmocka_unit_test(a_copy_is_bounded),
		cmocka_unit_test(an_endless_source_ends_at_the_bound),
		cmocka_unit_test(an_empty_file_can_be_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
