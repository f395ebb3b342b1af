/*
 * executor/knob.c - kernel files.  Linked by bailiff-launch; allocates
 * nothing, since it also runs after clone.
 */
#include "executor/knob.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

int knob_write(int dir_fd, const char *path, const char *text, struct error *e)
{
	AUTO_FD fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t len = strlen(text);
	ssize_t wrote;

	if (fd < 0)
		return FAIL_SYS(e, "open %s", path);
	do
		wrote = write(fd, text, len);
	while (wrote < 0 && errno == EINTR);
	if (wrote < 0)
		return FAIL_SYS(e, "write '%.*s' to %s",
		    (int)strcspn(text, "\n"), text, path);
	if ((size_t)wrote != len)
		return FAIL(e, ERROR_SYSTEM, "%s took a part only", path);
	return 0;
}

int knob_write_number(
    int dir_fd, const char *path, uint64_t value, struct error *e)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return knob_write(dir_fd, path, text, e);
}

int knob_read(
    int dir_fd, const char *path, char *ret, size_t cap, struct error *e)
{
	AUTO_FD fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t got;

	if (fd < 0)
		return FAIL_SYS(e, "open %s", path);
	do
		got = read(fd, ret, cap - 1);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return FAIL_SYS(e, "read %s", path);
	ret[got] = '\0';
	return 0;
}

/* 'text' is what was read; its first word counts. */
static int expect(
    char *text, const char *wanted, const char *path, struct error *e)
{
	text[strcspn(text, " \n")] = '\0';
	if (strcmp(text, wanted) != 0)
		return FAIL(e, ERROR_UNAVAILABLE, "%s says %s, not %s", path,
		    text, wanted);
	return 0;
}

int knob_expect(int dir_fd, const char *path, uint64_t value, struct error *e)
{
	char text[64];
	char wanted[24];

	if (knob_read(dir_fd, path, text, sizeof(text), e) < 0)
		return -1;
	(void)snprintf(wanted, sizeof(wanted), "%" PRIu64, value);
	return expect(text, wanted, path, e);
}

int knob_set(int fd, const char *path, uint64_t value, struct error *e)
{
	char text[64];
	char wanted[24];
	const int len = snprintf(wanted, sizeof(wanted), "%" PRIu64, value);
	ssize_t n;

	do
		n = pwrite(fd, wanted, (size_t)len, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return FAIL_SYS(e, "write '%s' to %s", wanted, path);
	if (n != len)
		return FAIL(e, ERROR_SYSTEM, "%s took a part only", path);
	do
		n = pread(fd, text, sizeof(text) - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return FAIL_SYS(e, "read %s", path);
	text[n] = '\0';
	return expect(text, wanted, path, e);
}
