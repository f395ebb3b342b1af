/*
 * base/memfd.c - sealed memory files.  Linked by every program.
 */
#include "base/memfd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int memfd_seal(int fd, struct error *e)
{
	if (fcntl(fd, F_ADD_SEALS, ALL_SEALS) < 0)
		return FAIL_SYS(e, "seal a memory file");
	return 0;
}

int memfd_new(const char *name, int *ret_fd, struct error *e)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return FAIL_SYS(e, "make a memory file");
	*ret_fd = fd;
	return 0;
}

int memfd_of(const char *name, const void *data, size_t len, int *ret_fd,
    struct error *e)
{
	AUTO_FD fd = -1;

	if (memfd_new(name, &fd, e) < 0 ||
	    file_write_all(fd, data, len, e) < 0 || memfd_seal(fd, e) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return FAIL_SYS(e, "rewind a memory file");
	*ret_fd = take_fd(&fd);
	return 0;
}

int memfd_copy(int from, uint64_t max_bytes, int *ret_fd, uint64_t *ret_size,
    struct error *e)
{
	AUTO_FD fd = -1;
	uint8_t buffer[4096];
	uint64_t size = 0;

	if (memfd_new("copy", &fd, e) < 0)
		return -1;
	for (;;) {
		ssize_t got = read(from, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAIL_SYS(e, "read");
		if (got == 0)
			break;
		size += (uint64_t)got;
		if (size > max_bytes)
			return FAIL(e, ERROR_LIMIT,
			    "more than %" PRIu64 " bytes", max_bytes);
		if (file_write_all(fd, buffer, (size_t)got, e) < 0)
			return -1;
	}
	if (memfd_seal(fd, e) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return FAIL_SYS(e, "rewind a memory file");
	*ret_fd = take_fd(&fd);
	*ret_size = size;
	return 0;
}

int memfd_check(int fd, uint64_t max_bytes, uint64_t *ret_size, struct error *e)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & ALL_SEALS) != ALL_SEALS)
		return FAIL(e, ERROR_MALFORMED,
		    "descriptor is not a sealed memory file");
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat a memory file");
	/* Only memfds and tmpfs files take seals, and only regular ones. */
	if (!S_ISREG(st.st_mode))
		return FAIL(
		    e, ERROR_MALFORMED, "descriptor is no regular file");
	if ((uint64_t)st.st_size > max_bytes)
		return FAIL(e, ERROR_LIMIT,
		    "%" PRIu64 " bytes, at most %" PRIu64, (uint64_t)st.st_size,
		    max_bytes);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}
