/*
 * mcp/front.c - bailiff-mcp, the program behind `bailiff mcp`: serves one MCP
 * client over standard input and output.  It parses what strangers send, so it
 * holds nothing: `bailiff mcp` found the service and left the channel at
 * descriptor 3; before the first byte of input this process gives up files,
 * network, signals, capabilities and all but a few system calls.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/jail.h"
#include "mcp/link.h"
#include "mcp/loop.h"
#include "mcp/methods.h"

#define LINK_FD   3
#define EXIT_FAIL 125

/* One line on standard error, if somebody reads there. */
static int say(const struct error *e, int exit_code)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[ERROR_TEXT_MAX + 32];
	int n = snprintf(line, sizeof(line), "bailiff mcp: %s\n", e->text);

	if (n > 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLOUT))
		(void)!write(STDERR_FILENO, line, (size_t)n);
	return exit_code;
}

static int open_signals(int *ret_fd, struct error *e)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		(void)sigaddset(&set, wanted[i]);
	if (sigaction(SIGPIPE, &ignore, NULL) < 0 ||
	    pthread_sigmask(SIG_SETMASK, &set, NULL) != 0)
		return FAIL_SYS(e, "block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return FAIL_SYS(e, "watch signals");
	*ret_fd = fd;
	return 0;
}

/* What is left: reading, writing, waiting, memory. */
static const struct jail_call calls[] = {
	{ __NR_read, JAIL_ANY, 0 },
	{ __NR_write, JAIL_ANY, 0 },
	{ __NR_sendto, JAIL_ANY, 0 },
	{ __NR_sendmsg, JAIL_ANY, 0 },
	{ __NR_recvmsg, JAIL_ANY, 0 },
	{ __NR_pread64, JAIL_ANY, 0 },
	{ __NR_close, JAIL_ANY, 0 },
#ifdef __NR_poll
	{ __NR_poll, JAIL_ANY, 0 },
#endif
	{ __NR_ppoll, JAIL_ANY, 0 },
	{ __NR_restart_syscall, JAIL_ANY, 0 }, /* stopped in poll */
	{ __NR_clock_gettime, JAIL_ANY, 0 },
	{ __NR_memfd_create, JAIL_ANY, 0 },
	{ __NR_lseek, JAIL_ANY, 0 },
	{ __NR_fcntl, 1, F_ADD_SEALS },
	{ __NR_mmap, 2, PROT_READ | PROT_WRITE },
	{ __NR_munmap, JAIL_ANY, 0 },
	{ __NR_mremap, JAIL_ANY, 0 },
	{ __NR_brk, JAIL_ANY, 0 },
	{ __NR_madvise, JAIL_ANY, 0 },
	{ __NR_getrandom, JAIL_ANY, 0 },
	{ __NR_exit_group, JAIL_ANY, 0 },
};

static int confine(struct error *e)
{
	const struct jail jail = { .read_fd = -1,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls };

	return jail_enter(&jail, e);
}

static int prepare(struct server *s, struct loop *l, struct error *e)
{
	struct stat st;

	if (server_init(s, &methods_face, e) < 0)
		return -1;
	l->out_is_socket =
	    fstat(STDOUT_FILENO, &st) == 0 && S_ISSOCK(st.st_mode);
	if (fstat(LINK_FD, &st) < 0 || !S_ISSOCK(st.st_mode))
		return FAIL(e, ERROR_USAGE,
		    "this program is started by `bailiff mcp`, which finds "
		    "the service");
	if (close_range(LINK_FD + 1, ~0U, 0) < 0)
		return FAIL_SYS(e, "close what was inherited");
	if (link_open(s, LINK_FD, e) < 0 || open_signals(&l->signal_fd, e) < 0)
		return -1;
	/* From here on nothing can be opened or started. */
	if (confine(e) < 0)
		return -1;
	return link_describe(s, e);
}

int main(void)
{
	struct loop loop = { STDIN_FILENO, STDOUT_FILENO, -1, false };
	struct server *s = calloc(1, sizeof(*s));
	struct error e = { .text = "no memory" };
	int code = 0;

	if (s == NULL)
		return say(&e, EXIT_FAIL);
	if (prepare(s, &loop, &e) < 0)
		code = say(&e, EXIT_FAIL);
	else if (loop_run(s, &loop, &e) < 0)
		code = say(&e, 1);
	server_done(s);
	free(s);
	return code;
}
