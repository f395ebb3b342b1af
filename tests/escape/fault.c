/*
 * tests/escape/fault.c - see fault.h.  Linked by launch_driver.
 */
#include "fault.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define TRACED_MAX  64
#define NUMBERS_MAX 512
#define OPTIONS                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE | \
	    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

#define NO_CALL (-1L)

struct traced {
	pid_t pid; /* 0: free */
	char role;
	bool recorded, waits;
	long in_call; /* the call that it is in, or NO_CALL */
	/* In the poll of a loop; in a poll without an end. */
	bool in_loop, for_ever;
	uint64_t on_fd; /* first argument of the call it is in */
	int error;      /* to give at the end of the call; 0 none */
	size_t call;
	unsigned short counts[NUMBERS_MAX];
};

struct tracer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	pid_t launch;
	int channel_fd;
	bool attached, failed, armed, exec_seen;
	bool started; /* the launcher's own exec */
	/* Messages since it was armed: that the launcher began to receive, and
	 * that it has sent. */
	unsigned int n_heard, n_said;
	/* A child of the launcher's died; it will look. */
	bool must_look;
	struct fault fault;
	struct traced traced[TRACED_MAX];
	struct fault_report report;
};

/* One per process, since a process has one set of children. */
static struct tracer *the_tracer;

#ifdef __x86_64__
bool fault_possible(void)
{
	return true;
}

static int set_number(pid_t pid, long number)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
		return -1;
	r.orig_rax = (unsigned long long)number;
	return (int)ptrace(PTRACE_SETREGS, pid, NULL, &r);
}

static int set_result(pid_t pid, int error)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
		return -1;
	r.rax = (unsigned long long)(-(long long)error);
	return (int)ptrace(PTRACE_SETREGS, pid, NULL, &r);
}
#else
bool fault_possible(void)
{
	return false;
}

static int set_number(pid_t pid, long number)
{
	(void)pid;
	(void)number;
	return -1;
}

static int set_result(pid_t pid, int error)
{
	(void)pid;
	(void)error;
	return -1;
}
#endif

static struct traced *find(struct tracer *t, pid_t pid)
{
	for (size_t i = 0; i < TRACED_MAX; i++)
		if (t->traced[i].pid == pid)
			return &t->traced[i];
	return NULL;
}

static struct traced *add(struct tracer *t, pid_t pid, char role)
{
	struct traced *one = find(t, 0);

	if (one == NULL)
		abort();
	*one = (struct traced){ .pid = pid, .role = role, .in_call = NO_CALL };
	return one;
}

static char role_of_child(char parent)
{
	return parent == 'L' ? 'I' : parent == 'I' ? 'P' : '?';
}

static bool is_time(const struct tracer *t, char role)
{
	unsigned int last = t->fault.again ? 2 : 1;

	switch (t->fault.when) {
	case FAULT_START:
		return role == 'L' && t->started;
	case FAULT_RUN:
		/* What was made ahead makes no call until RUN comes. */
		return t->n_heard == 1 || (role != 'L' && t->n_heard == 0);
	case FAULT_PARK:
		return t->n_said >= 1 && t->n_heard <= last;
	}
	return false;
}

static bool is_watched(struct tracer *t, struct traced *one, long number)
{
	return t->armed && !t->exec_seen && number >= 0 &&
	       number < NUMBERS_MAX && one->role != '?' &&
	       is_time(t, one->role);
}

static bool is_hit(const struct tracer *t, const struct fault_call *call)
{
	const struct fault *f = &t->fault;

	return f->role == call->role && f->number == call->number &&
	       (f->occurrence == call->occurrence ||
	           (f->again && call->occurrence > f->occurrence));
}

static void on_entry(
    struct tracer *t, struct traced *one, long number, const uint64_t *args)
{
	struct fault_call *call = &t->report.calls[t->report.n];

	one->in_call = number;
	one->on_fd = args[0];
	/* Not the one that waits for a single process to die. */
	one->in_loop = number == SYS_poll && args[1] > 1;
	one->for_ever = number == SYS_poll && (int)args[2] < 0;
	if (one->role == 'L' && number == SYS_recvmsg &&
	    args[0] == (uint64_t)t->channel_fd)
		t->n_heard++;
	one->recorded =
	    is_watched(t, one, number) && t->report.n < FAULT_CALLS_MAX;
	if (!one->recorded)
		return;
	*call = (struct fault_call){ .role = one->role,
		.number = number,
		.occurrence = ++one->counts[number],
		.args = { args[0], args[1] } };
	one->call = t->report.n++;
	if (!is_hit(t, call))
		return;
	if (number != SYS_close && set_number(one->pid, SYS_getpid) < 0)
		return;
	one->error = t->fault.error;
	t->report.hit = true;
}

static void on_exit_of(struct tracer *t, struct traced *one, long result)
{
	if (one->error != 0 && set_result(one->pid, one->error) == 0)
		result = -one->error;
	one->error = 0;
	if (one->role == 'L' && one->in_loop)
		t->must_look = false;
	if (one->role == 'L' && one->in_call == SYS_sendmsg &&
	    one->on_fd == (uint64_t)t->channel_fd && result > 0)
		t->n_said++;
	one->in_call = NO_CALL;
	one->in_loop = false;
	one->for_ever = false;
	if (one->recorded)
		t->report.calls[one->call].result = result;
	one->recorded = false;
}

static void on_call(struct tracer *t, struct traced *one)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, one->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		on_entry(t, one, (long)info.entry.nr, info.entry.args);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		on_exit_of(t, one, (long)info.exit.rval);
}

static void on_new(struct tracer *t, const struct traced *parent)
{
	struct traced *child;
	unsigned long pid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) < 0)
		return;
	child = find(t, (pid_t)pid);
	if (child == NULL)
		child = add(t, (pid_t)pid, '?');
	child->role = role_of_child(parent->role);
	if (child->waits)
		(void)ptrace(PTRACE_SYSCALL, child->pid, NULL, NULL);
	child->waits = false;
}

/* What the program does is not watched: it runs as any other. */
static void on_exec(struct tracer *t, struct traced *one)
{
	if (one->role == 'L')
		t->started = true;
	if (one->role != 'P')
		return;
	t->exec_seen = true;
	(void)ptrace(PTRACE_DETACH, one->pid, NULL, NULL);
	one->pid = 0;
}

/* A signal to pass on, or 0. */
static int on_stop(struct tracer *t, struct traced *one, int status)
{
	int number = WSTOPSIG(status);
	int event = status >> 16;

	if (number == (SIGTRAP | 0x80)) {
		on_call(t, one);
		return 0;
	}
	switch (event) {
	case 0:
		return number;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_new(t, one);
		return 0;
	case PTRACE_EVENT_EXEC:
		on_exec(t, one);
		return 0;
	default:
		return 0;
	}
}

static void on_change(struct tracer *t, pid_t pid, int status)
{
	struct traced *one = find(t, pid);
	int pass;

	if (!WIFSTOPPED(status)) {
		if (one == NULL)
			return;
		t->must_look = t->must_look || one->role == 'I';
		one->pid = 0;
		return;
	}
	/* A child that stops before its parent's event tells of it waits, so
	 * that its first call is counted too. */
	if (one == NULL) {
		add(t, pid, '?')->waits = true;
		return;
	}
	pass = on_stop(t, one, status);
	if (one->pid != 0)
		(void)ptrace(PTRACE_SYSCALL, pid, NULL, (long)pass);
}

/* The launcher waits without an end, and so do all others, for a message or
 * until they are needed no more. */
static bool is_at_rest(const struct tracer *t)
{
	for (size_t i = 0; i < TRACED_MAX; i++) {
		const struct traced *one = &t->traced[i];

		if (one->pid == 0)
			continue;
		if (one->error != 0)
			return false; /* its call is about to fail */
		if (!(one->in_loop && one->for_ever) &&
		    (one->role == 'L' || one->in_call != SYS_recvmsg))
			return false;
	}
	return !t->must_look;
}

static bool is_alive(struct tracer *t)
{
	return find(t, t->launch) != NULL;
}

static void *work(void *context)
{
	struct tracer *t = context;
	pid_t pid;
	int status;

	(void)pthread_mutex_lock(&t->lock);
	t->failed =
	    ptrace(PTRACE_SEIZE, t->launch, NULL, (unsigned long)OPTIONS) < 0 ||
	    ptrace(PTRACE_INTERRUPT, t->launch, NULL, NULL) < 0;
	t->attached = true;
	(void)pthread_cond_signal(&t->changed);
	(void)pthread_mutex_unlock(&t->lock);
	while (!t->failed) {
		pid = waitpid(-1, &status, __WALL | __WNOTHREAD);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		(void)pthread_mutex_lock(&t->lock);
		on_change(t, pid, status);
		if (!is_alive(t) || is_at_rest(t))
			(void)pthread_cond_signal(&t->changed);
		(void)pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

int fault_trace(pid_t launch, int channel_fd, const struct fault *start)
{
	struct tracer *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -1;
	the_tracer = t;
	t->launch = launch;
	t->channel_fd = channel_fd;
	(void)add(t, launch, 'L');
	if (start != NULL) {
		t->fault = *start;
		t->armed = true;
	}
	if (pthread_mutex_init(&t->lock, NULL) != 0 ||
	    pthread_cond_init(&t->changed, NULL) != 0 ||
	    pthread_create(&t->thread, NULL, work, t) != 0)
		return -1;
	(void)pthread_mutex_lock(&t->lock);
	while (!t->attached)
		(void)pthread_cond_wait(&t->changed, &t->lock);
	(void)pthread_mutex_unlock(&t->lock);
	return t->failed ? -1 : 0;
}

void fault_arm(const struct fault *fault)
{
	struct tracer *t = the_tracer;

	(void)pthread_mutex_lock(&t->lock);
	t->fault = *fault;
	t->exec_seen = false;
	t->n_heard = 0;
	t->n_said = 0;
	t->report.n = 0;
	t->report.hit = false;
	for (size_t i = 0; i < TRACED_MAX; i++)
		memset(t->traced[i].counts, 0, sizeof(t->traced[i].counts));
	t->armed = true;
	(void)pthread_mutex_unlock(&t->lock);
}

void fault_disarm(struct fault_report *ret)
{
	struct tracer *t = the_tracer;

	(void)pthread_mutex_lock(&t->lock);
	t->armed = false;
	*ret = t->report;
	(void)pthread_mutex_unlock(&t->lock);
}

bool fault_await_rest(int patience_ms)
{
	struct tracer *t = the_tracer;
	struct timespec end;
	bool rests;

	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += patience_ms / 1000;
	(void)pthread_mutex_lock(&t->lock);
	while (is_alive(t) && !is_at_rest(t) &&
	       pthread_cond_timedwait(&t->changed, &t->lock, &end) == 0)
		continue;
	rests = is_alive(t) && is_at_rest(t);
	(void)pthread_mutex_unlock(&t->lock);
	return rests;
}
