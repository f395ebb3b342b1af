/*
 * executor/trace/canary.c - known calls, and what must be seen of them.  Linked
 * by bailiff-tracer.
 */
#include "executor/trace/canary.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/own.h"
#include "executor/uids.h"

#define CALLS      7
#define PATIENCE_S 10

/* One call is answered by the filter, with a number that the kernel has not
 * got for it. */
static int load_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	               syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
	                   &program) == 0
	           ? 0
	           : -1;
}

static _Noreturn void sing(int gate_fd, int program_fd)
{
	char *const argv[] = { (char[]){ CANARY_NAME }, NULL };
	char *const env[] = { NULL };
	char go;
	int fd;
	pid_t child;

	/* A change of ids clears the wish to die with the tracer: after it. */
	if (syscall(SYS_setresgid, UID_TRACER, UID_TRACER, UID_TRACER) < 0 ||
	    syscall(SYS_setresuid, UID_TRACER, UID_TRACER, UID_TRACER) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    load_filter() < 0 || read(gate_fd, &go, 1) != 1)
		_exit(1);
	for (int i = 0; i < CALLS; i++)
		(void)syscall(SYS_getppid);
	(void)syscall(SYS_getsid, 0);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		_exit(0);
	(void)syscall(SYS_wait4, child, NULL, 0, NULL);
	(void)close(fd);
	(void)syscall(SYS_execveat, program_fd, "", argv, env, AT_EMPTY_PATH);
	_exit(1);
}

int canary_make(struct canary *c, struct error *e)
{
	struct clone_args args = { .flags = CLONE_NEWPID | CLONE_PIDFD,
		.exit_signal = SIGCHLD };
	int gate[2];
	int pid_fd = -1;
	AUTO_FD program_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	long pid;

	if (program_fd < 0 || pipe2(gate, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "prepare a child to look at");
	args.pidfd = (uint64_t)(uintptr_t)&pid_fd;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		/* Or it would wait for itself, and keep the channel open. */
		(void)close(gate[1]);
		(void)close(TRACER_CHANNEL_FD);
		sing(gate[0], program_fd);
	}
	(void)close(gate[0]);
	c->gate_fd = gate[1];
	c->pid_fd = pid_fd;
	if (pid < 0)
		return FAIL_SYS(e, "make a child to look at");
	return 0;
}

struct expectation {
	const char *what;
	uint64_t got, want;
};

static int compare(const struct books *b, struct error *e)
{
	const struct trace_count *plain = b->counts->call[TRACE_PROGRAM];
	const struct trace_books *k = b->kernel;
	const struct expectation rows[] = {
		{ "calls that began", plain[__NR_getppid].enter, CALLS },
		{ "calls that came back", plain[__NR_getppid].ok, CALLS },
		{ "denied calls", plain[__NR_getsid].denied, 1 },
		{ "events of a denial", k->emitted[TRACE_DENIED], 1 },
		{ "new processes", k->emitted[TRACE_FORK], 1 },
		{ "executed programs", k->emitted[TRACE_EXEC], 1 },
		{ "ends", k->emitted[TRACE_EXIT], 2 },
		{ "known errors", b->errors->n > 0, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].got != rows[i].want)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "the tracer saw %llu %s of its own child's %llu",
			    (unsigned long long)rows[i].got, rows[i].what,
			    (unsigned long long)rows[i].want);
	return 0;
}

/* The strings are in the file alone: the kernel's path of what it opened. */
static int find_path(struct spool *s, struct error *e)
{
	static const char want[] =
	    "\"given\":\"/dev/null\",\"truth\":\"/dev/null\"";
	/* All has been written: its buffer is free. */
	ssize_t n = pread(s->fd, s->buffer, sizeof(s->buffer) - 1, 0);

	if (n < 0)
		return FAIL_SYS(e, "read back what the tracer saw");
	s->buffer[n] = '\0';
	if (strstr(s->buffer, want) == NULL)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the tracer does not see which file its child opens");
	return 0;
}

static int judge(struct watched *d, struct error *e)
{
	struct watcher *w = d->w;
	struct books b;
	char note[BOOKS_NOTE_MAX];
	uint64_t misses;

	watcher_drain(d, true);
	spool_flush(&d->spool);
	watcher_books(d, &b);
	if (kernel_misses(&w->kernel, &misses, e) < 0 ||
	    kernel_take_errors(&w->kernel, d->slot, &w->errors, e) < 0 ||
	    compare(&b, e) < 0 || find_path(&d->spool, e) < 0)
		return -1;
	if (!books_balance(&b, note))
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the books of the tracer's own child: %s", note);
	return 0;
}

static int await_end(const struct canary *c, struct error *e)
{
	struct pollfd p = { .fd = c->pid_fd, .events = POLLIN };
	siginfo_t how;

	if (write(c->gate_fd, "g", 1) != 1)
		return FAIL_SYS(e, "let the tracer's child go");
	if (poll(&p, 1, PATIENCE_S * 1000) != 1)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "the tracer's child does not end");
	memset(&how, 0, sizeof(how));
	if (waitid(P_PIDFD, (id_t)c->pid_fd, &how, WEXITED) < 0)
		return FAIL_SYS(e, "reap the tracer's child");
	if (how.si_code != CLD_EXITED || how.si_status != 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "the tracer's child could not make its calls");
	return 0;
}

int canary_judge(struct canary *c, struct watcher *w, struct error *e)
{
	struct watched *d = watcher_take(w);
	struct trace_run run = { d->slot, d->generation };
	int file_fd = -1;
	int failed;

	if (memfd_new("canary", &file_fd, e) < 0)
		return -1;
	spool_open(&d->spool, file_fd, false);
	d->run = UINT64_MAX;
	failed = kernel_attach(&w->kernel, e);
	if (failed == 0)
		failed = kernel_watch_task(&w->kernel, &run, c->pid_fd, e);
	if (failed == 0)
		failed = await_end(c, e);
	if (failed == 0)
		failed = judge(d, e);
	spool_close(&d->spool);
	d->run = 0;
	own_close(&c->pid_fd);
	own_close(&c->gate_fd);
	c->pid_fd = -1;
	c->gate_fd = -1;
	if (failed < 0)
		return FAIL_IN(e, "trace canary");
	return 0;
}
