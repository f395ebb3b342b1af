/*
 * tests/unit/test_file.c - reads and writes that are whole, opens that follow
 * nothing, in a real folder of the test's own.
 */
#include "base/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"

struct folder {
	char path[64];
	int fd;
};

static int make_folder(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));
	int fd;

	if (f == NULL)
		return -1;
	(void)snprintf(f->path, sizeof(f->path), "/tmp/bailiff-test-XXXXXX");
	if (mkdtemp(f->path) == NULL)
		return -1;
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(f->fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "content", 7) != 7 || close(fd) < 0 ||
	    mkdirat(f->fd, "sub", 0700) < 0 ||
	    symlinkat("file", f->fd, "link") < 0 ||
	    symlinkat("sub", f->fd, "sublink") < 0 ||
	    mkfifoat(f->fd, "fifo", 0600) < 0)
		return -1;
	*state = f;
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "file", "link", "sublink", "fifo",
		"made" };
	struct folder *f = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(f->fd, names[i], 0);
	(void)unlinkat(f->fd, "sub", AT_REMOVEDIR);
	(void)close(f->fd);
	(void)rmdir(f->path);
	free(f);
	return 0;
}

static int open_errno(const struct folder *f, const char *path, int flags)
{
	struct file_open what = { f->fd, path, flags, 0600 };
	AUTO_FD fd = -1;
	struct error e = { 0 };

	if (file_open_beneath(&what, &fd, &e) == 0)
		return 0;
	assert_int_equal(e.kind, ERROR_SYSTEM);
	assert_int_equal(fd, -1);
	return e.saved_errno;
}

static void opens_beneath_follow_nothing(void **state)
{
	static const struct {
		const char *path;
		int wanted;
	} rows[] = { { "file", 0 }, { "sub", 0 }, { ".", 0 },
		{ "sub/../file", 0 }, { "absent", ENOENT },
		{ "file/x", ENOTDIR }, { "link", ELOOP },
		{ "sublink/x", ELOOP }, { "..", EXDEV },
		{ "sub/../../x", EXDEV }, { "/etc/passwd", EXDEV },
		{ "", ENOENT } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
		    open_errno(*state, rows[i].path, O_RDONLY), rows[i].wanted);
		assert_int_equal(
		    open_errno(*state, rows[i].path, O_PATH), rows[i].wanted);
	}
}

static void a_mount_is_not_crossed(void **state)
{
	struct folder root = { .fd = open("/", O_PATH | O_CLOEXEC) };

	(void)state;
	assert_int_equal(open_errno(&root, "proc/self", O_RDONLY), EXDEV);
	(void)close(root.fd);
}

static void a_fifo_does_not_block(void **state)
{
	assert_int_equal(open_errno(*state, "fifo", O_RDONLY), 0);
	assert_int_equal(open_errno(*state, "fifo", O_WRONLY), ENXIO);
}

static void what_is_opened_is_close_on_exec(void **state)
{
	const struct folder *f = *state;
	struct file_open what = { f->fd, "made", O_WRONLY | O_CREAT | O_EXCL,
		0640 };
	AUTO_FD fd = -1;
	struct error e = { 0 };
	struct stat st;

	assert_int_equal(file_open_beneath(&what, &fd, &e), 0);
	assert_int_not_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0137, 0);
	assert_int_equal(
	    open_errno(f, "made", O_WRONLY | O_CREAT | O_EXCL), EEXIST);
	assert_int_equal(open_errno(f, "link", O_WRONLY | O_CREAT), ELOOP);
}

static void a_file_is_read_whole_or_not(void **state)
{
	const struct folder *f = *state;
	AUTO_FD fd = openat(f->fd, "file", O_RDONLY | O_CLOEXEC);
	AUTO_FREE uint8_t *data = NULL;
	size_t len = 0;
	struct error e = { 0 };

	assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
	assert_int_equal(file_read_all(fd, 6, &data, &len, &e), -1);
	assert_int_equal(e.kind, ERROR_LIMIT);
	assert_null(data);
	assert_int_equal(file_read_all(fd, 7, &data, &len, &e), 0);
	assert_int_equal(len, 7);
	assert_string_equal((const char *)data, "content");
}

static void large_and_empty_files_are_read_whole(void **state)
{
	static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 100000 };
	const struct folder *f = *state;
	AUTO_FD fd = openat(f->fd, "made", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct error e = { 0 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		AUTO_FREE uint8_t *data = NULL;
		size_t len = 1;

		assert_int_equal(ftruncate(fd, (off_t)sizes[i]), 0);
		assert_int_equal(
		    file_read_all(fd, sizes[i], &data, &len, &e), 0);
		assert_int_equal(len, sizes[i]);
		assert_int_equal(data[len], 0);
	}
}

static void a_write_is_whole_or_fails(void **state)
{
	AUTO_FD full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int pipe_fds[2];
	struct error e = { 0 };

	(void)state;
	assert_int_equal(file_write_all(full_fd, "x", 1, &e), -1);
	assert_int_equal(e.saved_errno, ENOSPC);
	assert_int_equal(file_write_all(full_fd, NULL, 0, &e), 0);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
	while (file_write_all(pipe_fds[1], "0123456789abcdef", 16, &e) == 0)
		;
	assert_int_equal(e.saved_errno, EAGAIN);
	(void)close(pipe_fds[0]);
	(void)close(pipe_fds[1]);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(opens_beneath_follow_nothing),
		CASE(a_mount_is_not_crossed),
		CASE(a_fifo_does_not_block),
		CASE(what_is_opened_is_close_on_exec),
		CASE(a_file_is_read_whole_or_not),
		CASE(large_and_empty_files_are_read_whole),
		CASE(a_write_is_whole_or_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
