/*
 * policy/syscalls.c - the groups of plain calls.  Linked by bailiff-policy and
 * the supervisor; data only.  Calls judged by their arguments: rows.c.
 *
 * In no table, hence ENOSYS, because libc or the runtimes fall back: clone3,
 * io_uring_*, openat2, landlock_*, set*xattr, aio, mseal, statmount and
 * whatever comes later.  inotify too: it watches inodes, and those of /usr are
 * the host's, so a run would see which programs the host and other runs start.
 */
#include "policy/syscalls.h"

/* clang-format off */
static const char *const files[] = {
	"access", "chdir", "chmod", "chown", "close", "close_range",
	"copy_file_range", "creat", "dup", "dup2", "dup3", "faccessat",
	"faccessat2", "fallocate", "fchdir", "fchmod", "fchmodat",
	"fchown", "fchownat", "fdatasync", "fgetxattr", "flistxattr", "flock",
	"fstat", "fstatfs", "fsync", "ftruncate", "futimesat", "getcwd",
	"getdents", "getdents64", "getxattr", "lchown", "lgetxattr", "link",
	"linkat", "listxattr", "llistxattr", "lseek", "lstat", "mkdir",
	"mkdirat", "newfstatat", "open", "openat", "pread64", "preadv",
	"preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readlink",
	"readlinkat", "readv", "rename", "renameat", "rmdir",
	"sendfile", "stat", "statfs", "statx", "symlink", "symlinkat",
	"sync_file_range", "truncate", "umask", "unlink", "unlinkat", "utime",
	"utimensat", "utimes", "write", "writev",
	NULL,
};

static const char *const waiting[] = {
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait",
	"epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "pipe", "pipe2",
	"poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4",
	"timerfd_create", "timerfd_gettime", "timerfd_settime",
	NULL,
};

static const char *const memory[] = {
	"brk", "madvise", "membarrier", "mlock", "mlock2", "mlockall", "mremap",
	"msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free",
	"get_mempolicy",
	NULL,
};

static const char *const time_and_signals[] = {
	"alarm", "clock_getres", "clock_gettime", "clock_nanosleep",
	"getitimer", "gettimeofday", "kill", "nanosleep", "pause",
	"restart_syscall", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
	"rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
	"rt_tgsigqueueinfo", "setitimer", "sigaltstack", "tgkill", "time",
	"timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
	"timer_settime", "times", "tkill",
	NULL,
};

static const char *const process[] = {
	"capget", "exit", "exit_group", "futex", "futex_waitv", "getcpu",
	"getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp",
	"getpid", "getppid", "getpriority", "getrandom", "getresgid",
	"getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid",
	"ioprio_get", "pidfd_open", "pidfd_send_signal", "rseq",
	"sched_get_priority_max", "sched_get_priority_min",
	"sched_getaffinity", "sched_getattr", "sched_getparam",
	"sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity",
	"sched_yield", "set_robust_list", "set_tid_address", "setpgid",
	"setpriority", "setrlimit", "setsid", "sysinfo", "uname", "wait4",
	"waitid",
	NULL,
};

/* On descriptors that exist: socketpair(2) makes them without any network. */
static const char *const socket_io[] = {
	"getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg",
	"recvmsg", "sendmmsg", "sendmsg", "sendto", "shutdown",
	NULL,
};

static const char *const sockets[] = {
	"accept", "accept4", "bind", "connect", "listen",
	NULL,
};

static const char *const subprocess[] = {
	"execve", "execveat", "fork", "vfork",
	NULL,
};

/*
 * A memory file can be mapped executable whatever its mount says, so it counts
 * as a way to new executable memory.
 */
static const char *const exec_memory[] = {
	"memfd_create", "mmap", "mprotect", "pkey_mprotect",
	NULL,
};

/* shmat(2) is a row: SHM_EXEC. */
static const char *const ipc[] = {
	"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive",
	"mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd",
	"semctl", "semget", "semop", "semtimedop", "shmctl", "shmdt", "shmget",
	NULL,
};

/*
 * Known and dangerous, or of no use without privileges: other processes' memory,
 * the kernel's own programs, mounts and namespaces, keys, clocks, devices.
 * sync(2) and syncfs(2) would flush the host's file systems.
 */
static const char *const never[] = {
	"acct", "add_key", "adjtimex", "bpf", "capset", "chroot",
	"clock_adjtime", "clock_settime", "delete_module", "fanotify_init",
	"fanotify_mark", "finit_module", "fsconfig", "fsmount", "fsopen",
	"fspick", "get_robust_list", "init_module", "ioperm", "iopl",
	"ioprio_set", "kcmp", "kexec_file_load", "kexec_load", "keyctl",
	"lookup_dcookie", "mbind", "memfd_secret", "migrate_pages", "modify_ldt",
	"mount", "mount_setattr", "move_mount", "move_pages", "name_to_handle_at",
	"nfsservctl", "open_by_handle_at", "open_tree", "open_tree_attr",
	"perf_event_open",
	"pidfd_getfd", "pivot_root", "process_madvise", "process_mrelease",
	"process_vm_readv", "process_vm_writev", "ptrace", "quotactl",
	"quotactl_fd", "reboot", "request_key", "sched_setattr",
	"sched_setparam", "sched_setscheduler", "seccomp", "set_mempolicy",
	"set_mempolicy_home_node", "setdomainname", "setfsgid", "setfsuid",
	"setgid", "setgroups", "sethostname", "setns", "setregid", "setresgid",
	"setresuid", "setreuid", "settimeofday", "setuid", "swapoff", "swapon",
	"sync", "syncfs", "syslog", "umount2", "unshare", "userfaultfd",
	"ustat", "vhangup", "vmsplice",
	NULL,
};

/* What pid 1 of a run does: wait for children, for a timer, for its launcher;
 * speak on its status channel; end. */
static const char *const init_calls[] = {
	"clock_gettime", "close", "exit", "exit_group", "getpid", "kill",
	"pidfd_send_signal", "poll", "ppoll", "read", "recvfrom", "recvmsg",
	"restart_syscall", "rt_sigprocmask", "rt_sigreturn", "sendmsg",
	"sendto", "wait4", "waitid", "write",
	NULL,
};

const struct syscall_group syscall_groups[] = {
	{ "files", WHEN_ALWAYS, files },
	{ "waiting", WHEN_ALWAYS, waiting },
	{ "memory", WHEN_ALWAYS, memory },
	{ "time-and-signals", WHEN_ALWAYS, time_and_signals },
	{ "process", WHEN_ALWAYS, process },
	{ "socket-io", WHEN_ALWAYS, socket_io },
	{ "sockets", WHEN_LOOPBACK, sockets },
	{ "subprocess", WHEN_SUBPROCESS, subprocess },
	{ "exec-memory", WHEN_EXEC_MEMORY, exec_memory },
	{ "ipc", WHEN_IPC, ipc },
	{ "never", WHEN_NEVER, never },
};
/* clang-format on */
const size_t syscall_n_groups =
    sizeof(syscall_groups) / sizeof(syscall_groups[0]);

const struct syscall_group syscall_init_group = { "init", WHEN_ALWAYS,
	init_calls };
