/*
 * base/file.c - file reads, writes and opens.  Linked by every program.
 */
#include "base/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

int file_write_all(int fd, const void *data, size_t len, struct error *e)
{
	const uint8_t *from = data;

	while (len > 0) {
		ssize_t wrote = write(fd, from, len);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return FAIL_SYS(e, "write");
		from += wrote;
		len -= (size_t)wrote;
	}
	return 0;
}

/* Room for more behind 'len' bytes and a NUL. */
static int grow(uint8_t **data, size_t *cap, size_t len, struct error *e)
{
	uint8_t *more;

	if (*cap - len > 1)
		return 0;
	more = realloc(*data, *cap * 2);
	if (more == NULL)
		return FAIL_SYS(e, "allocate to read");
	*data = more;
	*cap *= 2;
	return 0;
}

int file_read_all(int fd, size_t max_bytes, uint8_t **ret_data, size_t *ret_len,
    struct error *e)
{
	size_t cap = 4096;
	size_t len = 0;
	AUTO_FREE uint8_t *data = malloc(cap);

	if (data == NULL)
		return FAIL_SYS(e, "allocate to read");
	for (;;) {
		ssize_t got = pread(fd, data + len, cap - len - 1, (off_t)len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read");
		if (got == 0)
			break;
		len += (size_t)got;
		if (len > max_bytes)
			return FAIL(
			    e, ERROR_LIMIT, "more than %zu bytes", max_bytes);
		if (grow(&data, &cap, len, e) < 0)
			return -1;
	}
	data[len] = '\0';
	*ret_data = data;
	*ret_len = len;
	data = NULL;
	return 0;
}

int file_open_beneath(
    const struct file_open *what, int *ret_fd, struct error *e)
{
	/*
	 * O_PATH opens nothing that could block, and openat2(2) refuses the
	 * second flag with it.  With the first it would hand out a final
	 * symbolic link itself; RESOLVE_NO_SYMLINKS alone gives ELOOP.
	 */
	int added = what->flags & O_PATH ? 0 : O_NOFOLLOW | O_NONBLOCK;
	struct open_how how = {
		.flags = (unsigned)(what->flags | O_CLOEXEC | added),
		.mode = what->flags & O_CREAT ? what->mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		           RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	long fd =
	    syscall(SYS_openat2, what->dir_fd, what->path, &how, sizeof(how));

	if (fd < 0)
		return FAIL_SYS(e, "open");
	*ret_fd = (int)fd;
	return 0;
}
