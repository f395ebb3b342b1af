/*
 * tests/unit/test_filter.c - what the filters answer, by a table of made-up
 * calls, interpreted as the kernel does.  The same tables are tried against the
 * running kernel by tests/escape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>

#include "policy/filter.h"
#include "policy/numbers.h"
#include "policy/simulate.h"

#define YES     SECCOMP_RET_ALLOW
#define NO      (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define KILLED  SECCOMP_RET_KILL_PROCESS
#define HIGH    0x100000000ull
#define THREAD \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* "s" subprocess, "t" threads, "l" loopback, "x" exec_memory, "i" ipc */
struct row {
	const char *capabilities;
	const char *call;
	uint64_t args[6];
	uint32_t answer;
};

/* clang-format off */
static const struct row rows[] = {
	{ "", "read", { 0 }, YES },
	{ "", "openat", { 0 }, YES },
	{ "", "exit_group", { 0 }, YES },

	/* Exec: without 'subprocess' only the program's own number. */
	{ "", "execve", { 0 }, NO },
	{ "", "fork", { 0 }, NO },
	{ "", "vfork", { 0 }, NO },
	{ "", "execveat", { FILTER_PROGRAM_FD, 0, 0, 0, AT_EMPTY_PATH }, SECCOMP_RET_USER_NOTIF },
	{ "", "execveat", { FILTER_PROGRAM_FD, 0, 0, 0, 0 }, NO },
	{ "", "execveat", { 3, 0, 0, 0, AT_EMPTY_PATH }, NO },
	{ "", "execveat", { FILTER_PROGRAM_FD, 0, 0, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW }, NO },
	/* Not about files that are the host's: */
	{ "", "inotify_init1", { 0 }, UNKNOWN },
	{ "", "fadvise64", { 3, 0, 0, POSIX_FADV_WILLNEED }, YES },
	{ "", "fadvise64", { 3, 0, 0, POSIX_FADV_DONTNEED }, NO },
	{ "s", "execve", { 0 }, YES },
	{ "s", "execveat", { 3 }, YES },
	{ "s", "fork", { 0 }, YES },
	{ "s", "vfork", { 0 }, YES },

	/* clone: processes, threads, never a namespace. */
	{ "", "clone", { THREAD }, NO },
	{ "", "clone", { SIGCHLD }, NO },
	{ "t", "clone", { THREAD }, YES },
	{ "t", "clone", { SIGCHLD }, NO },
	{ "t", "clone", { THREAD | CLONE_NEWUSER }, NO },
	{ "s", "clone", { SIGCHLD }, YES },
	{ "s", "clone", { THREAD }, NO },
	{ "st", "clone", { SIGCHLD }, YES },
	{ "st", "clone", { THREAD }, YES },
	{ "st", "clone", { CLONE_VM | CLONE_VFORK | SIGCHLD }, YES },
	{ "st", "clone", { SIGCHLD | CLONE_NEWUSER }, NO },
	{ "st", "clone", { SIGCHLD | CLONE_NEWNS }, NO },
	{ "st", "clone", { SIGCHLD | CLONE_NEWNET }, NO },
	{ "st", "clone", { SIGCHLD | CLONE_NEWPID }, NO },
	{ "st", "clone", { SIGCHLD | CLONE_NEWIPC }, NO },
	{ "st", "clone", { SIGCHLD | CLONE_NEWUTS }, NO },
	{ "st", "clone", { SIGCHLD | CLONE_NEWCGROUP }, NO },
	{ "stlxi", "clone3", { 0 }, UNKNOWN },

	/* Namespaces, mounts, other processes, the kernel's programs, keys. */
	{ "stlxi", "unshare", { 0 }, NO },
	{ "stlxi", "setns", { 0 }, NO },
	{ "stlxi", "mount", { 0 }, NO },
	{ "stlxi", "umount2", { 0 }, NO },
	{ "stlxi", "pivot_root", { 0 }, NO },
	{ "stlxi", "chroot", { 0 }, NO },
	{ "stlxi", "move_mount", { 0 }, NO },
	{ "stlxi", "open_tree", { 0 }, NO },
	{ "stlxi", "fsopen", { 0 }, NO },
	{ "stlxi", "fsconfig", { 0 }, NO },
	{ "stlxi", "fsmount", { 0 }, NO },
	{ "stlxi", "fspick", { 0 }, NO },
	{ "stlxi", "mount_setattr", { 0 }, NO },
	{ "stlxi", "ptrace", { 0 }, NO },
	{ "stlxi", "process_vm_readv", { 0 }, NO },
	{ "stlxi", "process_vm_writev", { 0 }, NO },
	{ "stlxi", "process_madvise", { 0 }, NO },
	{ "stlxi", "process_mrelease", { 0 }, NO },
	{ "stlxi", "pidfd_getfd", { 0 }, NO },
	{ "stlxi", "kcmp", { 0 }, NO },
	{ "stlxi", "bpf", { 0 }, NO },
	{ "stlxi", "perf_event_open", { 0 }, NO },
	{ "stlxi", "userfaultfd", { 0 }, NO },
	{ "stlxi", "keyctl", { 0 }, NO },
	{ "stlxi", "add_key", { 0 }, NO },
	{ "stlxi", "request_key", { 0 }, NO },
	{ "stlxi", "seccomp", { 0 }, NO },
	{ "stlxi", "name_to_handle_at", { 0 }, NO },
	{ "stlxi", "open_by_handle_at", { 0 }, NO },
	{ "stlxi", "fanotify_init", { 0 }, NO },
	{ "stlxi", "quotactl", { 0 }, NO },
	{ "stlxi", "quotactl_fd", { 0 }, NO },
	{ "stlxi", "reboot", { 0 }, NO },
	{ "stlxi", "kexec_load", { 0 }, NO },
	{ "stlxi", "kexec_file_load", { 0 }, NO },
	{ "stlxi", "init_module", { 0 }, NO },
	{ "stlxi", "finit_module", { 0 }, NO },
	{ "stlxi", "delete_module", { 0 }, NO },
	{ "stlxi", "swapon", { 0 }, NO },
	{ "stlxi", "acct", { 0 }, NO },
	{ "stlxi", "syslog", { 0 }, NO },
	{ "stlxi", "settimeofday", { 0 }, NO },
	{ "stlxi", "clock_settime", { 0 }, NO },
	{ "stlxi", "adjtimex", { 0 }, NO },
	{ "stlxi", "sethostname", { 0 }, NO },
	{ "stlxi", "setuid", { 0 }, NO },
	{ "stlxi", "setresuid", { 0 }, NO },
	{ "stlxi", "setgroups", { 0 }, NO },
	{ "stlxi", "capset", { 0 }, NO },
	{ "stlxi", "sync", { 0 }, NO },
	{ "stlxi", "syncfs", { 0 }, NO },
	{ "stlxi", "vmsplice", { 0 }, NO },
	{ "stlxi", "sched_setscheduler", { 0 }, NO },
	{ "stlxi", "ioprio_set", { 0 }, NO },

	/* Unknown: libc and runtimes fall back. */
	{ "stlxi", "io_uring_setup", { 0 }, UNKNOWN },
	{ "stlxi", "io_uring_enter", { 0 }, UNKNOWN },
	{ "stlxi", "io_uring_register", { 0 }, UNKNOWN },
	{ "stlxi", "openat2", { 0 }, UNKNOWN },
	{ "stlxi", "remap_file_pages", { 0 }, UNKNOWN },
	{ "stlxi", "landlock_create_ruleset", { 0 }, UNKNOWN },

	/* Executable memory. */
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS }, YES },
	{ "", "mmap", { 0, 4096, PROT_READ, MAP_SHARED }, YES },
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_DENYWRITE }, YES },
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE }, YES },
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS }, NO },
	{ "", "mmap", { 0, 4096, PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS }, NO },
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED }, NO },
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED_VALIDATE }, NO },
	{ "", "mmap", { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE }, NO },
	{ "", "mmap", { 0, 4096, HIGH | PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS }, NO },
	{ "", "mprotect", { 0, 4096, PROT_READ }, YES },
	{ "", "mprotect", { 0, 4096, PROT_READ | PROT_EXEC }, NO },
	{ "", "pkey_mprotect", { 0, 4096, PROT_READ | PROT_EXEC }, NO },
	{ "", "memfd_create", { 0 }, NO },
	{ "x", "mmap", { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS }, YES },
	{ "x", "mprotect", { 0, 4096, PROT_READ | PROT_EXEC }, YES },
	{ "x", "memfd_create", { 0 }, YES },

	/* Sockets. */
	{ "", "socketpair", { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0 }, YES },
	{ "", "socketpair", { AF_UNIX, SOCK_RAW, 0 }, NO },
	{ "", "socketpair", { 30 /* AF_TIPC */, SOCK_STREAM, 0 }, NO },
	{ "", "socket", { AF_UNIX, SOCK_STREAM, 0 }, NO },
	{ "", "socket", { AF_INET, SOCK_STREAM, 0 }, NO },
	{ "", "connect", { 0 }, NO },
	{ "", "bind", { 0 }, NO },
	{ "", "sendmsg", { 0 }, YES },
	{ "l", "connect", { 0 }, YES },
	{ "l", "socket", { AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0 }, YES },
	{ "l", "socket", { AF_UNIX, SOCK_SEQPACKET, 0 }, YES },
	{ "l", "socket", { AF_INET, SOCK_STREAM, 0 }, YES },
	{ "l", "socket", { AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP }, YES },
	{ "l", "socket", { AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP }, YES },
	{ "l", "socket", { HIGH | AF_INET, SOCK_STREAM, 0 }, YES }, /* an int */
	{ "l", "socket", { AF_INET, SOCK_STREAM, 262 /* MPTCP */ }, NO },
	{ "l", "socket", { AF_INET, SOCK_STREAM, IPPROTO_SCTP }, NO },
	{ "l", "socket", { AF_INET, SOCK_DGRAM, IPPROTO_ICMP }, NO },
	{ "l", "socket", { AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE }, NO },
	{ "l", "socket", { AF_INET, SOCK_RAW, 0 }, NO },
	{ "l", "socket", { AF_INET, SOCK_STREAM | 0x100, 0 }, NO },
	{ "l", "socket", { AF_NETLINK, SOCK_RAW, 0 }, NO },
	{ "l", "socket", { AF_NETLINK, SOCK_DGRAM, 0 }, NO },
	{ "l", "socket", { AF_PACKET, SOCK_RAW, 0 }, NO },
	{ "l", "socket", { AF_ALG, SOCK_SEQPACKET, 0 }, NO },
	{ "l", "socket", { AF_VSOCK, SOCK_STREAM, 0 }, NO },
	{ "l", "setsockopt", { 3, SOL_SOCKET, SO_REUSEADDR }, YES },
	{ "l", "setsockopt", { 3, SOL_SOCKET, SO_BINDTODEVICE }, NO },
	{ "l", "setsockopt", { 3, SOL_SOCKET, SO_ATTACH_FILTER }, NO },
	{ "l", "setsockopt", { 3, SOL_SOCKET, SO_ATTACH_BPF }, NO },
	{ "l", "setsockopt", { 3, IPPROTO_TCP, 1 }, YES },
	{ "l", "setsockopt", { 3, IPPROTO_TCP, 31 /* TCP_ULP */ }, NO },
	{ "l", "setsockopt", { 3, IPPROTO_IP, 64 }, NO },
	{ "", "setsockopt", { 3, IPPROTO_TCP, 1 }, NO },

	/* ioctl, on 32 bits. */
	{ "stlxi", "ioctl", { 0, TCGETS }, YES },
	{ "stlxi", "ioctl", { 0, TIOCGWINSZ }, YES },
	{ "stlxi", "ioctl", { 0, FIONREAD }, YES },
	{ "stlxi", "ioctl", { 0, HIGH | TCGETS }, YES },
	{ "stlxi", "ioctl", { 0, TIOCSTI }, NO },
	{ "stlxi", "ioctl", { 0, HIGH | TIOCSTI }, NO },
	{ "stlxi", "ioctl", { 0, TIOCLINUX }, NO },
	{ "stlxi", "ioctl", { 0, TIOCSETD }, NO },
	{ "stlxi", "ioctl", { 0, TCSETS }, NO },
	{ "stlxi", "ioctl", { 0, SIOCGIFCONF }, NO },
	{ "stlxi", "ioctl", { 0, 0x40086602 /* FS_IOC_SETFLAGS */ }, NO },

	{ "stlxi", "fcntl", { 0, F_GETFL }, YES },
	{ "stlxi", "fcntl", { 0, F_DUPFD_CLOEXEC }, YES },
	{ "stlxi", "fcntl", { 0, F_SETOWN }, NO },
	{ "stlxi", "fcntl", { 0, F_SETSIG }, NO },
	{ "stlxi", "fcntl", { 0, F_NOTIFY }, NO },
	{ "stlxi", "fcntl", { 0, F_SETLEASE }, NO },
	{ "stlxi", "fcntl", { 0, HIGH | F_SETOWN }, NO },

	{ "stlxi", "prctl", { PR_SET_NAME }, YES },
	{ "stlxi", "prctl", { PR_SET_NO_NEW_PRIVS }, YES },
	{ "stlxi", "prctl", { PR_SET_SECCOMP }, NO },
	{ "stlxi", "prctl", { PR_SET_DUMPABLE }, NO },
	{ "stlxi", "prctl", { PR_SET_PTRACER }, NO },
	{ "stlxi", "prctl", { PR_SET_MM }, NO },
	{ "stlxi", "prctl", { PR_CAP_AMBIENT }, NO },
	{ "stlxi", "prctl", { PR_SET_SYSCALL_USER_DISPATCH }, NO },

	{ "stlxi", "personality", { 0xffffffff }, YES },
	{ "stlxi", "personality", { 0x0040000 }, NO },
	{ "stlxi", "personality", { 0x0400000 }, NO },
	{ "stlxi", "prlimit64", { 0 }, YES },
	{ "stlxi", "prlimit64", { 1 }, NO },
	{ "stlxi", "mknodat", { 0, 0, S_IFIFO | 0600 }, YES },
	{ "stlxi", "mknodat", { 0, 0, S_IFCHR }, NO },
	{ "stlxi", "mknodat", { 0, 0, S_IFBLK }, NO },
	{ "stlxi", "mknod", { 0, S_IFCHR }, NO },
	{ "stlxi", "renameat2", { 0, 0, 0, 0, 0 }, YES },
	{ "stlxi", "renameat2", { 0, 0, 0, 0, RENAME_EXCHANGE }, YES },
	{ "stlxi", "renameat2", { 0, 0, 0, 0, RENAME_WHITEOUT }, NO },
	{ "stlxi", "renameat2", { 0, 0, 0, 0, HIGH | RENAME_WHITEOUT }, NO },

	{ "stlx", "shmget", { 0 }, NO },
	{ "stlx", "mq_open", { 0 }, NO },
	{ "stlx", "shmat", { 0 }, NO },
	{ "i", "shmget", { 0 }, YES },
	{ "i", "shmat", { 0, 0, 0 }, YES },
	{ "i", "shmat", { 0, 0, 0100000 }, NO },
};

/* What pid 1 may and may not do. */
static const struct row init_rows[] = {
	{ "", "ppoll", { 0 }, YES },
	{ "", "read", { 0 }, YES },
	{ "", "write", { 0 }, YES },
	{ "", "sendmsg", { 0 }, YES },
	{ "", "wait4", { 0 }, YES },
	{ "", "waitid", { 0 }, YES },
	{ "", "kill", { 0 }, YES },
	{ "", "exit_group", { 0 }, YES },
	{ "", "rt_sigreturn", { 0 }, YES },
	{ "", "close", { 0 }, YES },
	{ "", "openat", { 0 }, NO },
	{ "", "open", { 0 }, NO },
	{ "", "socket", { 0 }, NO },
	{ "", "mmap", { 0 }, NO },
	{ "", "mount", { 0 }, NO },
	{ "", "clone", { 0 }, NO },
	{ "", "execve", { 0 }, NO },
	{ "", "execveat", { FILTER_PROGRAM_FD, 0, 0, 0, AT_EMPTY_PATH }, NO },
	{ "", "ptrace", { 0 }, NO },
	{ "", "setns", { 0 }, NO },
	/* It answers the program's one exec, and asks nothing else. */
	{ "", "ioctl", { 9, SECCOMP_IOCTL_NOTIF_RECV }, YES },
	{ "", "ioctl", { 9, SECCOMP_IOCTL_NOTIF_SEND }, YES },
	{ "", "ioctl", { 9, SECCOMP_IOCTL_NOTIF_ADDFD }, NO },
	{ "", "ioctl", { 0, TIOCSTI }, NO },
};
/* clang-format on */

#define N(table) (sizeof(table) / sizeof((table)[0]))

#if defined(__x86_64__)
#define NATIVE  AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_I386
#else
#define NATIVE  AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM
#endif

static struct capabilities capabilities_of(const char *letters)
{
	return (struct capabilities){
		.subprocess = strchr(letters, 's') != NULL,
		.threads = strchr(letters, 't') != NULL,
		.loopback = strchr(letters, 'l') != NULL,
		.exec_memory = strchr(letters, 'x') != NULL,
		.ipc = strchr(letters, 'i') != NULL,
	};
}

static void compile(const char *letters, struct filter *ret)
{
	struct capabilities capabilities = capabilities_of(letters);
	struct error e = { 0 };

	if (filter_compile(&capabilities, ret, &e) < 0)
		fail_msg("%s", e.text);
}

static uint32_t ask(const struct filter *f, const struct seccomp_data *call)
{
	struct error e = { 0 };
	uint32_t answer = 0;

	if (simulate_call(f, call, &answer, &e) < 0)
		fail_msg("%s", e.text);
	return answer;
}

static void check_row(const struct filter *f, const struct row *row)
{
	int number = seccomp_syscall_resolve_name(row->call);
	struct seccomp_data call = { .nr = number, .arch = NATIVE };
	uint32_t answer;

	if (number == __NR_SCMP_ERROR)
		fail_msg("no such call: %s", row->call);
	if (number < 0)
		return; /* not on this architecture */
	for (size_t i = 0; i < 6; i++)
		call.args[i] = row->args[i];
	answer = ask(f, &call);
	if (answer != row->answer)
		fail_msg("\"%s\" %s(%#llx, %#llx, %#llx): %#x, not %#x",
		    row->capabilities, row->call,
		    (unsigned long long)row->args[0],
		    (unsigned long long)row->args[1],
		    (unsigned long long)row->args[2], answer, row->answer);
}

static void each_call_gets_its_answer(void **state)
{
	struct filter *f = malloc(sizeof(*f));
	const char *now = NULL;

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < N(rows); i++) {
		if (now == NULL || strcmp(now, rows[i].capabilities) != 0)
			compile(rows[i].capabilities, f);
		now = rows[i].capabilities;
		check_row(f, &rows[i]);
	}
	free(f);
}

static void pid_1_may_wait_and_speak_and_end(void **state)
{
	struct filter *f = malloc(sizeof(*f));
	struct error e = { 0 };

	(void)state;
	assert_non_null(f);
	if (filter_compile_init(f, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < N(init_rows); i++)
		check_row(f, &init_rows[i]);
	free(f);
}

static void a_foreign_architecture_is_killed(void **state)
{
	struct filter *f = malloc(sizeof(*f));
	struct seccomp_data call = { .nr = SYS_read, .arch = FOREIGN };

	(void)state;
	assert_non_null(f);
	compile("stlxi", f);
	assert_int_equal(ask(f, &call), KILLED);
	call.arch = NATIVE;
	assert_int_equal(ask(f, &call), YES);
	call.nr = 0x40000000 | SYS_read; /* x32 */
	assert_int_equal(ask(f, &call), KILLED);
	free(f);
}

/* Every number there is: none beyond the tables is ever allowed. */
static void unknown_numbers_do_not_exist(void **state)
{
	static const int beyond[] = { 400, 423, 470, 500, 511, 512, 547, 1023,
		4096, 0x3fffffff, -1 };
	struct filter *f = malloc(sizeof(*f));

	(void)state;
	assert_non_null(f);
	compile("stlxi", f);
	for (size_t i = 0; i < N(beyond); i++) {
		struct seccomp_data call = { .nr = beyond[i], .arch = NATIVE };

		assert_int_equal(ask(f, &call), UNKNOWN);
	}
	free(f);
}

static void every_set_of_capabilities_compiles(void **state)
{
	struct filter *f = malloc(sizeof(*f));
	struct error e = { 0 };

	(void)state;
	assert_non_null(f);
	for (unsigned bits = 0; bits < 32; bits++) {
		struct capabilities c = { .subprocess = bits & 1,
			.threads = bits & 2,
			.loopback = bits & 4,
			.exec_memory = bits & 8,
			.ipc = bits & 16 };
		struct seccomp_data call = { .nr = SYS_ptrace, .arch = NATIVE };

		if (filter_compile(&c, f, &e) < 0)
			fail_msg("%u: %s", bits, e.text);
		assert_true(f->len > 0 && f->len <= FILTER_LEN_MAX);
		assert_int_equal(ask(f, &call), NO);
	}
	free(f);
}

/* Sets of calls by a small generator: the same on every machine. */
static void take_some(struct callset *only, unsigned seed)
{
	*only = (struct callset){ .given = true };
	for (size_t i = 0; i < CALLSET_MAX; i++) {
		seed = seed * 1103515245u + 12345u;
		if ((seed >> 16 & 3) != 0)
			callset_add(only, i);
	}
}

/* Arguments that rows of the tables look at, and some they do not. */
static void ask_both(const struct filter *wide, const struct filter *narrow,
    int number, bool in_set)
{
	static const uint64_t some[] = { 0, 1, 2, 5, 7, 0x10000, 0x50f00,
		FILTER_PROGRAM_FD, 0x1000, UINT64_MAX };

	for (size_t i = 0; i < 1000; i++) {
		struct seccomp_data call = { .nr = number,
			.arch = NATIVE,
			.args = { some[i % 10], some[i / 10 % 10],
			    some[i / 100], some[i % 7], some[i % 10] } };
		uint32_t was = ask(wide, &call);
		uint32_t is = ask(narrow, &call);

		if (is != was &&
		    (in_set || (is != NO && is != SECCOMP_RET_USER_NOTIF)))
			fail_msg("%d: %x, was %x", number, is, was);
	}
}

static void fewer_calls_only_take_away(void **state)
{
	static const char *const letters[] = { "", "stlxi", "sx", "tl" };
	struct filter *f = calloc(2, sizeof(*f));
	struct error e = { 0 };

	(void)state;
	assert_non_null(f);
	for (unsigned i = 0; i < 4; i++) {
		struct capabilities c = capabilities_of(letters[i]);

		compile(letters[i], &f[0]);
		take_some(&c.only, i);
		if (filter_compile(&c, &f[1], &e) < 0)
			fail_msg("%s", e.text);
		for (int n = 0; n <= NUMBER_LAST; n++) {
			char name[NUMBER_NAME_MAX];

			number_name(NATIVE, n, name);
			ask_both(&f[0], &f[1], n, callset_allow(&c.only, name));
		}
	}
	free(f);
}

static void a_set_of_no_calls_leaves_the_start_and_the_end(void **state)
{
	static const char *const kept[] = { "close", "exit", "exit_group",
		"read", "restart_syscall", "rt_sigreturn", "sendmsg", "write" };
	struct filter *f = malloc(sizeof(*f));
	struct capabilities c = capabilities_of("stlxi");
	struct error e = { 0 };
	size_t n = 0;

	(void)state;
	assert_non_null(f);
	c.only.given = true;
	if (filter_compile(&c, f, &e) < 0)
		fail_msg("%s", e.text);
	for (int i = 0; i <= NUMBER_LAST; i++) {
		struct seccomp_data call = { .nr = i, .arch = NATIVE };

		n += ask(f, &call) == SECCOMP_RET_ALLOW;
	}
	assert_int_equal(n, N(kept));
	for (size_t i = 0; i < N(kept); i++) {
		struct seccomp_data call = { .arch = NATIVE,
			.nr = seccomp_syscall_resolve_name(kept[i]) };

		assert_int_equal(ask(f, &call), SECCOMP_RET_ALLOW);
	}
	free(f);
}

static void the_simulator_refuses_what_the_kernel_would(void **state)
{
	static const struct sock_filter bad[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_STMT(BPF_JMP | BPF_JA, 5),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0), /* then no return */
	};
	struct filter *f = malloc(sizeof(*f));

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < N(bad); i++) {
		struct seccomp_data call = { .nr = 0, .arch = NATIVE };
		struct error e = { 0 };
		uint32_t answer = 0;

		f->len = 1;
		f->code[0] = bad[i];
		assert_int_equal(simulate_call(f, &call, &answer, &e), -1);
		assert_int_equal(e.kind, ERROR_MALFORMED);
	}
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_gets_its_answer),
		cmocka_unit_test(pid_1_may_wait_and_speak_and_end),
		cmocka_unit_test(a_foreign_architecture_is_killed),
		cmocka_unit_test(unknown_numbers_do_not_exist),
		cmocka_unit_test(every_set_of_capabilities_compiles),
		cmocka_unit_test(fewer_calls_only_take_away),
		cmocka_unit_test(
		    a_set_of_no_calls_leaves_the_start_and_the_end),
		cmocka_unit_test(the_simulator_refuses_what_the_kernel_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
