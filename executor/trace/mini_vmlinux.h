/*
 * executor/trace/mini_vmlinux.h - the few members of kernel structures that
 * trace.bpf.c reads, by hand.  Each is found by name in the running kernel's
 * BTF when the object is loaded (CO-RE); a member that is not there fails the
 * load.  Order and neighbours here mean nothing.
 */
#ifndef EXECUTOR_TRACE_MINI_VMLINUX_H
#define EXECUTOR_TRACE_MINI_VMLINUX_H

#ifdef __bpf__

/* Makes bpf_tracing.h use the kernel's names of registers. */
#define __VMLINUX_H__
#include <linux/types.h>

#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef int pid_t;
typedef _Bool bool;
#define NULL ((void *)0)

#pragma clang attribute push( \
    __attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, sp;
};
struct thread_info {
	unsigned long flags;
	u32 status;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	unsigned long regs[31];
	unsigned long sp, pc, pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
	u64 orig_x0;
	s32 syscallno;
};
struct thread_info {
	unsigned long flags;
};
#endif

struct pid {
	unsigned int level;
};
struct qstr {
	const unsigned char *name;
};
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct inode {
	unsigned short i_mode;
};
struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct mm_struct {
	unsigned long arg_start, arg_end;
};
struct in6_addr {
	u8 bytes[16];
};
struct sock_common {
	unsigned short skc_family;
	__be32 skc_daddr;
	__be16 skc_dport;
	__u16 skc_num;
	__be32 skc_rcv_saddr;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock {
	struct sock_common __sk_common;
};
struct socket {
	struct sock *sk;
};
struct task_struct {
	struct thread_info thread_info;
	struct mm_struct *mm;
	pid_t pid, tgid;
	int exit_code;
	struct pid *thread_pid;
	struct files_struct *files;
};
struct linux_binprm {
	const char *filename;
	struct file *file;
};
struct kernel_siginfo {
	int si_code;
};

#pragma clang attribute pop

#endif

#endif
