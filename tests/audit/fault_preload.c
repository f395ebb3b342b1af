/*
 * tests/audit/fault_preload.c - makes one system call of a signer fail, from
 * inside: a tracer cannot, since the signer's filter kills a call that a tracer
 * has taken away.  FAULT=CALL:ERRNO:N fails the N-th CALL (a C library name)
 * after the first poll; ERRNO is a number.  WALL_S=N shifts its wall clock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

static struct fault {
	char call[32];
	int error;
	unsigned when, count;
	bool armed;
} fault;
static time_t shift_s;

__attribute__((constructor)) static void read_fault(void)
{
	const char *text = getenv("FAULT");
	const char *shift = getenv("WALL_S");

	if (shift != NULL)
		shift_s = strtol(shift, NULL, 10);

	if (text == NULL || sscanf(text, "%31[a-z0-9]:%d:%u", fault.call,
	                        &fault.error, &fault.when) != 3)
		memset(&fault, 0, sizeof(fault));
}

static bool fails(const char *call)
{
	if (!fault.armed || strcmp(call, fault.call) != 0 ||
	    ++fault.count != fault.when)
		return false;
	errno = fault.error;
	return true;
}

/* The C library's own; an object pointer becomes a function pointer by copy. */
static void next(const char *call, void *ret, size_t size)
{
	void *found = dlsym(RTLD_NEXT, call);

	if (found == NULL)
		abort();
	memcpy(ret, &found, size);
}

HOOK int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int (*real)(clockid_t, struct timespec *);
	int failed;

	next("clock_gettime", &real, sizeof(real));
	failed = real(clock, ret);
	if (failed == 0 && clock == CLOCK_REALTIME)
		ret->tv_sec += shift_s;
	return failed;
}

HOOK ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*real)(int, const void *, size_t);

	next("write", &real, sizeof(real));
	return fails("write") ? -1 : real(fd, data, len);
}

HOOK int fdatasync(int fd)
{
	int (*real)(int);

	next("fdatasync", &real, sizeof(real));
	return fails("fdatasync") ? -1 : real(fd);
}

HOOK int fsync(int fd)
{
	int (*real)(int);

	next("fsync", &real, sizeof(real));
	return fails("fsync") ? -1 : real(fd);
}

HOOK int ftruncate(int fd, off_t len)
{
	int (*real)(int, off_t);

	next("ftruncate", &real, sizeof(real));
	return fails("ftruncate") ? -1 : real(fd, len);
}

HOOK int fallocate(int fd, int mode, off_t at, off_t len)
{
	int (*real)(int, int, off_t, off_t);

	next("fallocate", &real, sizeof(real));
	return fails("fallocate") ? -1 : real(fd, mode, at, len);
}

HOOK int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	int (*real)(int, const char *, int, const char *);

	next("renameat", &real, sizeof(real));
	return fails("renameat") ? -1 : real(from_fd, from, to_fd, to);
}

HOOK int unlinkat(int fd, const char *name, int flags)
{
	int (*real)(int, const char *, int);

	next("unlinkat", &real, sizeof(real));
	return fails("unlinkat") ? -1 : real(fd, name, flags);
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int);

	next("sendmsg", &real, sizeof(real));
	return fails("sendmsg") ? -1 : real(fd, m, flags);
}

HOOK ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t (*real)(int, struct msghdr *, int);

	next("recvmsg", &real, sizeof(real));
	return fails("recvmsg") ? -1 : real(fd, m, flags);
}

HOOK int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int);

	next("poll", &real, sizeof(real));
	fault.armed = true; /* the loop runs */
	return fails("poll") ? -1 : real(fds, n, timeout);
}
