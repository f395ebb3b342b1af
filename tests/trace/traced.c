/*
 * tests/trace/traced.c - a program that makes known system calls, for tests of
 * bailiff-tracer.
 *
 * traced GROUP ACTION: joins the control group GROUP (a directory of the v2
 * hierarchy), starts a child in a pid namespace of its own, says "ready" and
 * waits for a byte on stdin; the child then executes this program again as
 * traced ACTION.  Ends as the child did, 128 + n for a signal.  As ACTION "run"
 * with a program and its words it executes that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void filter(long nr, unsigned answer)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		_exit(90);
}

static int act_calls(void)
{
	for (int i = 0; i < 1000; i++)
		(void)syscall(SYS_getppid);
	return 0;
}

/* The filter's EPERM, and the kernel's for the same number of another call. */
static int act_denied(void)
{
	(void)setsid();
	filter(SYS_getsid, SECCOMP_RET_ERRNO | EPERM);
	for (int i = 0; i < 3; i++)
		(void)syscall(SYS_getsid, 7, 8, 9);
	return setsid() < 0 && errno == EPERM ? 0 : 1;
}

static int act_repeat(void)
{
	filter(SYS_getsid, SECCOMP_RET_ERRNO | EACCES);
	for (int i = 0; i < 200; i++)
		(void)syscall(SYS_getsid, 7);
	return 0;
}

static int act_killed(void)
{
	filter(SYS_getsid, SECCOMP_RET_KILL_PROCESS);
	(void)syscall(SYS_getsid, 0);
	return 1;
}

static void *call_getsid(void *unused)
{
	(void)syscall(SYS_getsid, 0);
	return unused;
}

static int act_killed_thread(void)
{
	pthread_t t;

	filter(SYS_getsid, SECCOMP_RET_KILL_THREAD);
	if (pthread_create(&t, NULL, call_getsid, NULL) != 0)
		return 1;
	/* Nobody clears its word, so it cannot be joined. */
	(void)usleep(50000);
	_exit(0);
}

static volatile sig_atomic_t caught;

static void note(int number)
{
	caught = number;
}

static int act_trapped(void)
{
	(void)signal(SIGSYS, note);
	filter(SYS_getsid, SECCOMP_RET_TRAP);
	(void)syscall(SYS_getsid, 0);
	return caught == SIGSYS ? 0 : 1;
}

static void *call_often(void *unused)
{
	for (int i = 0; i < 250; i++)
		(void)syscall(SYS_getppid);
	return unused;
}

static int act_threads(void)
{
	pthread_t t[8];

	for (size_t i = 0; i < COUNT(t); i++)
		if (pthread_create(&t[i], NULL, call_often, NULL) != 0)
			return 1;
	for (size_t i = 0; i < COUNT(t); i++)
		(void)pthread_join(t[i], NULL);
	return 0;
}

static int act_processes(void)
{
	for (int i = 0; i < 20; i++) {
		char *const argv[] = { (char[]){ "true" }, NULL };
		pid_t p;

		/* It shares the memory of its parent until it executes. */
		if (i % 2 == 0) {
			p = fork();
		} else if (posix_spawn(&p, "/bin/true", NULL, NULL, argv,
		               argv + 1) != 0) {
			return 1;
		}
		if (p == 0)
			_exit(i);
		(void)waitpid(p, NULL, 0);
	}
	return 0;
}

static int act_exec(void)
{
	char *const argv[] = { (char[]){ "a b" }, (char[]){ "\xff\x01\n" },
		(char[]){ "quote\"\\" }, NULL };
	char *const env[] = { NULL };

	(void)execve("/no/such/program", argv, env);
	(void)execve("/bin/true", argv, env);
	return 1;
}

static void *exec_true(void *unused)
{
	char *const argv[] = { (char[]){ "true" }, NULL };

	(void)execve("/bin/true", argv, argv + 1);
	return unused;
}

static int act_exec_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exec_true, NULL) == 0)
		(void)pthread_join(t, NULL);
	return 1;
}

static int act_open(void)
{
	char link[64] = "/tmp/bailiff-traced-XXXXXX";
	int a;
	int b;

	/* A name that nobody has, and then a link of that name. */
	a = mkstemp(link);
	if (a < 0 || unlink(link) < 0 || symlink("/etc/passwd", link) < 0)
		return 1;
	a = open(link, O_RDONLY);
	(void)unlink(link);
	if (chdir("/etc") < 0)
		return 1;
	b = open("group", O_RDONLY);
	(void)open("/no/such/\xc3\xa9\xff\n", O_RDONLY);
	return a >= 0 && b >= 0 ? 0 : 1;
}

static int act_sockets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	socklen_t len = sizeof(to);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int c = socket(AF_INET, SOCK_STREAM, 0);
	int u = socket(AF_INET6, SOCK_DGRAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(s, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    listen(s, 1) < 0 ||
	    getsockname(s, (struct sockaddr *)&to, &len) < 0)
		return 1;
	six.sin6_port = htons(9);
	(void)connect(u, (struct sockaddr *)&six, sizeof(six));
	return connect(c, (struct sockaddr *)&to, sizeof(to)) < 0;
}

static int act_signals(void)
{
	(void)signal(SIGUSR1, note);
	(void)kill(getpid(), SIGUSR1);
	return caught == SIGUSR1 ? 0 : 1;
}

static int act_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	return mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0;
}

static int act_restart(void)
{
	int ends[2];
	char c;
	pid_t p;

	(void)signal(SIGUSR1, note);
	if (pipe(ends) < 0)
		return 1;
	p = fork();
	if (p == 0) {
		(void)usleep(30000);
		(void)kill(getppid(), SIGUSR1);
		(void)usleep(30000);
		_exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
	}
	if (read(ends[0], &c, 1) != 1 || caught != SIGUSR1)
		return 1;
	(void)waitpid(p, NULL, 0);
	return 0;
}

/* Both threads of a dead process are in a call: one that ends, one that waits. */
static int act_unfinished(void)
{
	pid_t p = fork();

	if (p == 0) {
		(void)pause();
		_exit(1);
	}
	(void)usleep(20000);
	(void)kill(p, SIGKILL);
	(void)waitpid(p, NULL, 0);
	return 0;
}

static int act_numbers(void)
{
	/* The kernel takes 32 bits of it. */
	(void)syscall(0x100000000L | SYS_getppid);
	(void)syscall(0x40000000L | SYS_getppid);
	(void)syscall(9999);
	(void)syscall(-1);
	return 0;
}

#if defined(__x86_64__)
static int act_foreign(void)
{
	long ret = 20; /* getpid of i386 */

	__asm__ volatile("int $0x80" : "+a"(ret) : : "memory");
	return 0;
}
#else
static int act_foreign(void)
{
	return 0;
}
#endif

static char flipped[64];

static void *flip(void *unused)
{
	while (caught == 0) {
		memcpy(flipped, "/etc/passwd", 12);
		memcpy(flipped, "/etc/group", 11);
	}
	return unused;
}

static int act_flip(void)
{
	pthread_t t;

	memcpy(flipped, "/etc/passwd", 12);
	for (int i = 0; i < 64; i++)
		if (pthread_create(&t, NULL, flip, NULL) != 0)
			return 1;
	for (int i = 0; i < 3000; i++) {
		int fd = open(flipped, O_RDONLY);

		if (fd >= 0)
			(void)close(fd);
	}
	_exit(0);
}

/* A path in a page that is not there yet. */
static int act_untouched(void)
{
	char name[] = "/tmp/bailiff-traced-XXXXXX";
	int fd = mkstemp(name);
	char *p;

	(void)unlink(name);
	if (fd < 0 || write(fd, "/etc/passwd", 12) != 12)
		return 1;
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	return open(p, O_RDONLY) < 0;
}

static int act_long_argv(void)
{
	enum {
		WORDS = 20,
		WORD = 100000
	};
	char *argv[WORDS + 2] = { (char[]){ "true" } };
	char *const env[] = { NULL };

	for (int i = 0; i < WORDS; i++) {
		argv[i + 1] = malloc(WORD + 1);
		if (argv[i + 1] == NULL)
			return 1;
		memset(argv[i + 1], 'w', WORD);
		argv[i + 1][WORD] = '\0';
	}
	(void)execve("/bin/true", argv, env);
	return 1;
}

static int act_comm(void)
{
	(void)prctl(PR_SET_NAME, "\"},{\x1b[2J\n", 0, 0, 0);
	return open("\"},\n{\"type\":\"books\"}", O_RDONLY) < 0 ? 0 : 1;
}

static int act_flood(void)
{
	for (int i = 0; i < 20000; i++) {
		int fd = open("/etc/group", O_RDONLY);

		if (fd < 0)
			return 1;
		(void)close(fd);
	}
	return 0;
}

static int act_storm(void)
{
	for (int i = 0; i < 2000; i++) {
		pid_t p = fork();

		if (p == 0)
			_exit(0);
		if (p > 0)
			(void)waitpid(p, NULL, 0);
	}
	return 0;
}

/* The filter answers with the number that it is asked for. */
static int act_errors(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args)),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return 1;
	for (long number = 1500; number > 0; number--)
		(void)syscall(SYS_getsid, number);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t now_ns(void)
{
	struct timespec t = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Picoseconds of one getppid: the 25th percentile of many short pieces, which
 * a busy machine does not reach. */
static int act_time(void)
{
	enum {
		PIECES = 80,
		CALLS = 300
	};
	uint64_t took[PIECES];

	for (int i = 0; i < PIECES; i++) {
		uint64_t before = now_ns();

		for (int n = 0; n < CALLS; n++)
			(void)syscall(SYS_getppid);
		took[i] = now_ns() - before;
	}
	qsort(took, PIECES, sizeof(took[0]), by_size);
	return printf("%llu\n",
	           (unsigned long long)took[PIECES / 4] * 1000 / CALLS) < 0;
}

static int act_wait(void)
{
	while (pause() < 0)
		continue;
	return 0;
}

static const struct action {
	const char *name;
	int (*act)(void);
} actions[] = {
	{ "calls", act_calls },
	{ "denied", act_denied },
	{ "repeat", act_repeat },
	{ "killed", act_killed },
	{ "killed-thread", act_killed_thread },
	{ "trapped", act_trapped },
	{ "threads", act_threads },
	{ "processes", act_processes },
	{ "exec", act_exec },
	{ "exec-thread", act_exec_thread },
	{ "open", act_open },
	{ "sockets", act_sockets },
	{ "signals", act_signals },
	{ "code", act_code },
	{ "restart", act_restart },
	{ "unfinished", act_unfinished },
	{ "numbers", act_numbers },
	{ "foreign", act_foreign },
	{ "flip", act_flip },
	{ "untouched", act_untouched },
	{ "long-argv", act_long_argv },
	{ "comm", act_comm },
	{ "flood", act_flood },
	{ "storm", act_storm },
	{ "errors", act_errors },
	{ "time", act_time },
	{ "wait", act_wait },
};

static int act(const char *name)
{
	for (size_t i = 0; i < COUNT(actions); i++)
		if (strcmp(actions[i].name, name) == 0)
			return actions[i].act();
	return 91;
}

static void join(const char *group)
{
	char path[1024];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(92);
	(void)close(fd);
}

static int start(char **argv)
{
	char home[1024] = "";
	char byte;
	int gate[2];
	int status;
	pid_t p;

	/* We ourselves stay outside: only the child is looked at. */
	ssize_t n = readlink("/proc/self/exe", home, sizeof(home) - 1);
	char *const named[] = { argv[0], argv[2], NULL };
	bool runs = strcmp(argv[2], "run") == 0;

	if (n < 0 || unshare(CLONE_NEWPID) < 0 || pipe2(gate, O_CLOEXEC) < 0)
		return 93;
	p = fork();
	if (p == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		join(argv[1]);
		if (write(1, "ready\n", 6) != 6 || read(gate[0], &byte, 1) != 1)
			_exit(94);
		if (runs)
			(void)execv(argv[3], argv + 3);
		else
			(void)execv(home, named);
		_exit(95);
	}
	if (read(0, &byte, 1) != 1 || write(gate[1], "g", 1) != 1 ||
	    waitpid(p, &status, 0) != p)
		return 96;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
	                           : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return act(argv[1]);
	return argc >= 3 ? start(argv) : 97;
}
