/*
 * executor/service_socket.c - the sockets of RUN, bound and connected through
 * /proc/self/fd, so that no path is ever too long for sun_path.  Linked by the
 * fronts and the supervisor.  RUN was checked by service_locate.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/service.h"

#define BACKLOG 128

static int address(
    int run_fd, const char *name, struct sockaddr_un *ret, struct error *e)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path, sizeof(ret->sun_path),
	    "/proc/self/fd/%d/%s", run_fd, name);
	if (n < 0 || (size_t)n >= sizeof(ret->sun_path))
		return FAIL(e, ERROR_LIMIT, "%s: name too long", name);
	return 0;
}

int service_connect(int run_fd, const char *name, int *ret_fd, struct error *e)
{
	struct sockaddr_un to;
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return FAIL_SYS(e, "make a socket");
	if (address(run_fd, name, &to, e) < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			return FAIL(
			    e, ERROR_CLOSED, "nobody listens on %s", name);
		return FAIL_SYS(e, "connect to %s", name);
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

int service_listen(int run_fd, const char *name, int *ret_fd, struct error *e)
{
	struct sockaddr_un at;
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return FAIL_SYS(e, "make a socket");
	if (address(run_fd, name, &at, e) < 0)
		return -1;
	if (unlinkat(run_fd, name, 0) < 0 && errno != ENOENT)
		return FAIL_SYS(e, "remove the old %s", name);
	/* bind(2) makes the file with the mode of the socket's own inode. */
	if (fchmod(fd, 0600) < 0)
		return FAIL_SYS(e, "chmod a socket");
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return FAIL_SYS(e, "bind %s", name);
	if (listen(fd, BACKLOG) < 0)
		return FAIL_SYS(e, "listen on %s", name);
	*ret_fd = take_fd(&fd);
	return 0;
}
