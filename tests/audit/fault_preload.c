/*
 * tests/audit/fault_preload.c - makes one system call of a signer fail, from
 * inside: a tracer cannot, since the signer's filter kills a call that a tracer
 * has taken away.  FAULT=CALL:ERRNO:N fails the N-th CALL (a C library name)
 * after the first poll; ERRNO is a number, 0 to die just before that call, -1 to
 * die just after it.  SYNCS=FILE notes the size of what each fdatasync made
 * durable, a line "inode size" each: what a power cut would have left.
 * WALL_S=N shifts its wall clock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

static struct fault {
	char call[32];
	int error;
	unsigned when, count;
	bool armed;
	bool dies; /* after the call that is being made */
} fault;
static time_t shift_s;

static int syncs_fd = -1;

__attribute__((constructor)) static void read_fault(void)
{
	const char *text = getenv("FAULT");
	const char *shift = getenv("WALL_S");

	if (shift != NULL)
		shift_s = strtol(shift, NULL, 10);

	if (text == NULL || sscanf(text, "%31[a-z0-9]:%d:%u", fault.call,
	                        &fault.error, &fault.when) != 3)
		memset(&fault, 0, sizeof(fault));
	text = getenv("SYNCS");
	if (text != NULL) {
		/* Above the numbers that a signer is started with. */
		int fd =
		    open(text, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

		syncs_fd = fcntl(fd, F_DUPFD_CLOEXEC, 64);
		(void)close(fd);
	}
}

/* The filter lets no kill through, but ends the process for trying. */
static void die(void)
{
	(void)syscall(SYS_kill, getpid(), 9);
}

static bool fails(const char *call)
{
	if (!fault.armed || strcmp(call, fault.call) != 0 ||
	    ++fault.count != fault.when)
		return false;
	if (fault.error == 0)
		die();
	fault.dies = fault.error < 0;
	if (fault.dies)
		return false;
	errno = fault.error;
	return true;
}

/* Hands the result of a real call on, unless it was to be the last. */
static ssize_t done(ssize_t result)
{
	if (fault.dies)
		die();
	return result;
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

/* Noted when it is over: before that nothing is promised. */
static int note_sync(int fd, int result)
{
	ssize_t (*real)(int, const void *, size_t);
	char text[64];
	struct stat st;
	int len;

	if (result < 0 || syncs_fd < 0 || fstat(fd, &st) < 0)
		return result;
	len = snprintf(text, sizeof(text), "%ju %jd\n", (uintmax_t)st.st_ino,
	    (intmax_t)st.st_size);
	next("write", &real, sizeof(real));
	if (real(syncs_fd, text, (size_t)len) != len)
		abort();
	return result;
}

HOOK ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*real)(int, const void *, size_t);

	next("write", &real, sizeof(real));
	return fails("write") ? -1 : done(real(fd, data, len));
}

HOOK int fdatasync(int fd)
{
	int (*real)(int);

	next("fdatasync", &real, sizeof(real));
	return fails("fdatasync") ? -1 : note_sync(fd, (int)done(real(fd)));
}

HOOK int fsync(int fd)
{
	int (*real)(int);

	next("fsync", &real, sizeof(real));
	return fails("fsync") ? -1 : note_sync(fd, (int)done(real(fd)));
}

HOOK int ftruncate(int fd, off_t len)
{
	int (*real)(int, off_t);

	next("ftruncate", &real, sizeof(real));
	return fails("ftruncate") ? -1 : (int)done(real(fd, len));
}

HOOK int fallocate(int fd, int mode, off_t at, off_t len)
{
	int (*real)(int, int, off_t, off_t);

	next("fallocate", &real, sizeof(real));
	return fails("fallocate") ? -1 : (int)done(real(fd, mode, at, len));
}

HOOK int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	int (*real)(int, const char *, int, const char *);

	next("renameat", &real, sizeof(real));
	return fails("renameat") ? -1
	                         : (int)done(real(from_fd, from, to_fd, to));
}

HOOK int unlinkat(int fd, const char *name, int flags)
{
	int (*real)(int, const char *, int);

	next("unlinkat", &real, sizeof(real));
	return fails("unlinkat") ? -1 : (int)done(real(fd, name, flags));
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int);

	next("sendmsg", &real, sizeof(real));
	return fails("sendmsg") ? -1 : done(real(fd, m, flags));
}

HOOK ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t (*real)(int, struct msghdr *, int);

	next("recvmsg", &real, sizeof(real));
	return fails("recvmsg") ? -1 : done(real(fd, m, flags));
}

HOOK int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int);

	next("poll", &real, sizeof(real));
	fault.armed = true; /* the loop runs */
	return fails("poll") ? -1 : (int)done(real(fds, n, timeout));
}
