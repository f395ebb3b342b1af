/*
 * policy/rows.c - calls that are judged by their arguments.  Linked by
 * bailiff-policy and the supervisor; data only.
 *
 * Where the kernel reads 32 bits of an argument, 32 bits are compared: high
 * garbage neither hides a request nor breaks a program (CVE-2019-10063).
 */
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include "policy/filter.h"
#include "policy/syscalls.h"

#define LOW_32 0xffffffffu
/* Argument n, of which only the bits of 'mask' count, is 'value'. */
#define BITS(n, mask, value)                           \
	{                                              \
		n, SCMP_CMP_MASKED_EQ, (mask), (value) \
	}
#define IS(n, value)    BITS(n, LOW_32, (uint32_t)(value))
#define NO_BIT(n, mask) BITS(n, mask, 0)
/* The whole argument is at most 'value'. */
#define UP_TO(n, value)                  \
	{                                \
		n, SCMP_CMP_LE, value, 0 \
	}

#define NAMESPACES                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
	    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
/* socket(2): the two flags that may stand beside the type. */
#define TYPE_BITS (LOW_32 & ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK))
/* mmap(2): the sharing type and whether a file backs it. */
#define MAP_BITS (MAP_TYPE | MAP_ANONYMOUS)

/* arch_prctl(2) of x86_64, asm/prctl.h: own segment bases, CET status. */
#define ARCH_PRCTL_SET_GS     0x1001
#define ARCH_PRCTL_SET_FS     0x1002
#define ARCH_PRCTL_GET_FS     0x1003
#define ARCH_PRCTL_GET_GS     0x1004
#define ARCH_PRCTL_CET_STATUS 0x3001

/* Socket options: up to 24 lie below SO_BINDTODEVICE and SO_ATTACH_FILTER. */
#define SO_LAST_PLAIN 24
/* TCP_ULP (31) would load kernel modules. */
#define TCP_LAST_PLAIN 30
/* From 64 on they speak to the packet filter. */
#define IP_LAST_PLAIN 63

/* clang-format off */
const struct syscall_row syscall_rows[] = {
	/* A new process, or a thread of this one, never a namespace. */
	{ "clone", WHEN_SUBPROCESS, 1, { NO_BIT(0, NAMESPACES | CLONE_THREAD) } },
	{ "clone", WHEN_THREADS, 1,
	    { BITS(0, NAMESPACES | CLONE_THREAD, CLONE_THREAD) } },

	/* The one exec without 'subprocess': see FILTER_PROGRAM_FD. */
	{ "execveat", WHEN_ONCE, 2,
	    { IS(0, FILTER_PROGRAM_FD), IS(4, AT_EMPTY_PATH) } },

	/* POSIX_FADV_DONTNEED (4) drops the host's cache of shared files. */
	{ "fadvise64", WHEN_ALWAYS, 1, { UP_TO(3, POSIX_FADV_WILLNEED) } },

	/* Without 'exec_memory': no anonymous, shared or writable memory that is
	 * executable, and nothing becomes so later.  What is left is what ld.so
	 * does: private maps of files.  A filter cannot see which file, so one
	 * that the program wrote where it may execute can still be mapped. */
	{ "mmap", WHEN_NO_EXEC_MEMORY, 1, { NO_BIT(2, PROT_EXEC) } },
	{ "mmap", WHEN_NO_EXEC_MEMORY, 2,
	    { BITS(2, PROT_EXEC | PROT_WRITE, PROT_EXEC),
	      BITS(3, MAP_BITS, MAP_PRIVATE) } },
	{ "mprotect", WHEN_NO_EXEC_MEMORY, 1, { NO_BIT(2, PROT_EXEC) } },
	{ "pkey_mprotect", WHEN_NO_EXEC_MEMORY, 1, { NO_BIT(2, PROT_EXEC) } },
	{ "shmat", WHEN_IPC, 1, { NO_BIT(2, SHM_EXEC) } },

	/* Event loops are made of socket pairs; they reach nobody. */
	{ "socketpair", WHEN_ALWAYS, 2, { IS(0, AF_UNIX), BITS(1, TYPE_BITS, SOCK_STREAM) } },
	{ "socketpair", WHEN_ALWAYS, 2, { IS(0, AF_UNIX), BITS(1, TYPE_BITS, SOCK_DGRAM) } },
	{ "socketpair", WHEN_ALWAYS, 2, { IS(0, AF_UNIX), BITS(1, TYPE_BITS, SOCK_SEQPACKET) } },
	{ "socket", WHEN_LOOPBACK, 2, { IS(0, AF_UNIX), BITS(1, TYPE_BITS, SOCK_STREAM) } },
	{ "socket", WHEN_LOOPBACK, 2, { IS(0, AF_UNIX), BITS(1, TYPE_BITS, SOCK_DGRAM) } },
	{ "socket", WHEN_LOOPBACK, 2, { IS(0, AF_UNIX), BITS(1, TYPE_BITS, SOCK_SEQPACKET) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET), BITS(1, TYPE_BITS, SOCK_STREAM), IS(2, 0) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET), BITS(1, TYPE_BITS, SOCK_STREAM), IS(2, IPPROTO_TCP) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET), BITS(1, TYPE_BITS, SOCK_DGRAM), IS(2, 0) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET), BITS(1, TYPE_BITS, SOCK_DGRAM), IS(2, IPPROTO_UDP) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET6), BITS(1, TYPE_BITS, SOCK_STREAM), IS(2, 0) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET6), BITS(1, TYPE_BITS, SOCK_STREAM), IS(2, IPPROTO_TCP) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET6), BITS(1, TYPE_BITS, SOCK_DGRAM), IS(2, 0) } },
	{ "socket", WHEN_LOOPBACK, 3, { IS(0, AF_INET6), BITS(1, TYPE_BITS, SOCK_DGRAM), IS(2, IPPROTO_UDP) } },

	{ "setsockopt", WHEN_ALWAYS, 2, { IS(1, SOL_SOCKET), UP_TO(2, SO_LAST_PLAIN) } },
	{ "setsockopt", WHEN_ALWAYS, 2, { IS(1, SOL_SOCKET), IS(2, SO_TIMESTAMP) } },
	{ "setsockopt", WHEN_ALWAYS, 2, { IS(1, SOL_SOCKET), IS(2, SO_TIMESTAMPNS) } },
	{ "setsockopt", WHEN_LOOPBACK, 2, { IS(1, IPPROTO_TCP), UP_TO(2, TCP_LAST_PLAIN) } },
	{ "setsockopt", WHEN_LOOPBACK, 2, { IS(1, IPPROTO_IP), UP_TO(2, IP_LAST_PLAIN) } },
	{ "setsockopt", WHEN_LOOPBACK, 2, { IS(1, IPPROTO_IPV6), UP_TO(2, IP_LAST_PLAIN) } },
	{ "setsockopt", WHEN_LOOPBACK, 2, { IS(1, IPPROTO_IPV6), IS(2, IPV6_TCLASS) } },

	/* Asking what a descriptor is; no terminal is ever steered. */
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, TCGETS) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, TIOCGWINSZ) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, TIOCGPGRP) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, FIONREAD) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, FIONBIO) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, FIOASYNC) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, FIOCLEX) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, FIONCLEX) } },

	/* Not F_SETOWN, F_SETSIG, F_NOTIFY, F_SETLEASE: signals to strangers. */
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_DUPFD) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_DUPFD_CLOEXEC) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_GETFD) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_SETFD) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_GETFL) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_SETFL) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_GETLK) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_SETLK) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_SETLKW) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_OFD_GETLK) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_OFD_SETLK) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_OFD_SETLKW) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_GETPIPE_SZ) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_SETPIPE_SZ) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_GET_SEALS) } },
	{ "fcntl", WHEN_ALWAYS, 1, { IS(1, F_ADD_SEALS) } },

	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_PDEATHSIG) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_PDEATHSIG) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_DUMPABLE) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_KEEPCAPS) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_NAME) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_NAME) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_SECCOMP) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_CAPBSET_READ) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_SECUREBITS) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_TIMERSLACK) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_TIMERSLACK) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_CHILD_SUBREAPER) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_CHILD_SUBREAPER) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_NO_NEW_PRIVS) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_NO_NEW_PRIVS) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_THP_DISABLE) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_GET_THP_DISABLE) } },
	{ "prctl", WHEN_ALWAYS, 1, { IS(0, PR_SET_VMA) } },

	{ "arch_prctl", WHEN_ALWAYS, 1, { IS(0, ARCH_PRCTL_SET_GS) } },
	{ "arch_prctl", WHEN_ALWAYS, 1, { IS(0, ARCH_PRCTL_SET_FS) } },
	{ "arch_prctl", WHEN_ALWAYS, 1, { IS(0, ARCH_PRCTL_GET_FS) } },
	{ "arch_prctl", WHEN_ALWAYS, 1, { IS(0, ARCH_PRCTL_GET_GS) } },
	{ "arch_prctl", WHEN_ALWAYS, 1, { IS(0, ARCH_PRCTL_CET_STATUS) } },

	/* Only the caller's own limits; only the question. */
	{ "prlimit64", WHEN_ALWAYS, 1, { IS(0, 0) } },
	{ "personality", WHEN_ALWAYS, 1, { IS(0, LOW_32) } },

	/* Pipes and files; no device, not even the 0:0 whiteout that needs no
	 * privilege since Linux 5.8, nor one that a rename leaves behind. */
	{ "renameat2", WHEN_ALWAYS, 1, { NO_BIT(4, RENAME_WHITEOUT) } },
	{ "mknod", WHEN_ALWAYS, 1, { BITS(1, S_IFMT, S_IFIFO) } },
	{ "mknod", WHEN_ALWAYS, 1, { BITS(1, S_IFMT, S_IFREG) } },
	{ "mknod", WHEN_ALWAYS, 1, { BITS(1, S_IFMT, 0) } },
	{ "mknodat", WHEN_ALWAYS, 1, { BITS(2, S_IFMT, S_IFIFO) } },
	{ "mknodat", WHEN_ALWAYS, 1, { BITS(2, S_IFMT, S_IFREG) } },
	{ "mknodat", WHEN_ALWAYS, 1, { BITS(2, S_IFMT, 0) } },
};
/* clang-format on */
const size_t syscall_n_rows = sizeof(syscall_rows) / sizeof(syscall_rows[0]);

/* Pid 1 answers WHEN_ONCE. */
const struct syscall_row syscall_init_rows[] = {
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, SECCOMP_IOCTL_NOTIF_RECV) } },
	{ "ioctl", WHEN_ALWAYS, 1, { IS(1, SECCOMP_IOCTL_NOTIF_SEND) } },
};
const size_t syscall_n_init_rows =
    sizeof(syscall_init_rows) / sizeof(syscall_init_rows[0]);
