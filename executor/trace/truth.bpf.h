/*
 * executor/trace/truth.bpf.h - which file or peer a descriptor really is, read
 * from the kernel's own structures.  Part of trace.bpf.c.
 */
#ifndef EXECUTOR_TRACE_TRUTH_BPF_H
#define EXECUTOR_TRACE_TRUTH_BPF_H

#ifdef __bpf__

#include "executor/trace/tell.bpf.h"

#define AF_INET     2
#define AF_INET6    10
#define MODE_TYPE   0xf000
#define MODE_SOCKET 0xc000
#define PATH_DEPTH  32

static __always_inline struct file *file_of(u64 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct files_struct *files = task->files;
	struct fdtable *table = BPF_CORE_READ(files, fdt);
	struct file **list = BPF_CORE_READ(table, fd);
	struct file *f = NULL;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&f, sizeof(f), list + fd);
	return f;
}

/* A walk from a file to the root of what it can be seen from. */
struct walk {
	struct dentry *at;
	struct mount *in;
	u32 len;
	u32 whole;
};

/* One name, or from the root of a mount to where it is mounted; 1 ends it. */
static long climb(u32 step, struct walk *w)
{
	u32 zero = 0;
	struct event *e = bpf_map_lookup_elem(&scratch, &zero);
	struct dentry *at = w->at;
	struct mount *in = w->in;
	struct dentry *parent = BPF_CORE_READ(at, d_parent);
	long n;

	if (at == BPF_CORE_READ(in, mnt.mnt_root) || at == parent) {
		w->at = BPF_CORE_READ(in, mnt_mountpoint);
		w->in = BPF_CORE_READ(in, mnt_parent);
		w->whole = w->in == in;
		return w->whole;
	}
	if (e == NULL || w->len >= TRACE_TRUTH_MAX - 256)
		return 1;
	n = bpf_probe_read_kernel_str(e->data + TRACE_TRUTH_AT + (w->len & 511),
	    256, BPF_CORE_READ(at, d_name.name));
	if (n <= 0)
		return 1;
	w->len += n;
	w->at = parent;
	return 0;
}

/*
 * The path of an open file by the kernel's own tree: names from the leaf to the
 * root, each with its NUL, at 'truth'.  By bpf_loop (Linux 5.17): the verifier
 * of 6.1 would look at a loop of ours once for each of its ways.
 */
static __always_inline void put_path(struct event *e, struct file *f)
{
	struct walk w = { .at = BPF_CORE_READ(f, f_path.dentry) };

	w.in = (void *)BPF_CORE_READ(f, f_path.mnt) -
	       bpf_core_field_offset(struct mount, mnt);
	bpf_loop(PATH_DEPTH, climb, &w, 0);
	if (!w.whole)
		e->head.flags |= TRACE_CUT_TRUTH;
	e->head.truth_len = w.len;
}

static __always_inline void put_address(
    struct event *e, struct file *f, int own)
{
	struct trace_address *to = (void *)(e->data + TRACE_TRUTH_AT);
	struct socket *s;
	struct sock *k;

	if ((BPF_CORE_READ(f, f_inode, i_mode) & MODE_TYPE) != MODE_SOCKET)
		return;
	s = BPF_CORE_READ(f, private_data);
	k = BPF_CORE_READ(s, sk);
	__builtin_memset(to, 0, sizeof(*to));
	to->family = BPF_CORE_READ(k, __sk_common.skc_family);
	to->port =
	    own ? __builtin_bswap16(BPF_CORE_READ(k, __sk_common.skc_num))
	        : BPF_CORE_READ(k, __sk_common.skc_dport);
	if (to->family == AF_INET) {
		u32 four = own ? BPF_CORE_READ(k, __sk_common.skc_rcv_saddr)
		               : BPF_CORE_READ(k, __sk_common.skc_daddr);

		__builtin_memcpy(to->address, &four, sizeof(four));
	} else if (to->family == AF_INET6) {
		if (own)
			BPF_CORE_READ_INTO((struct in6_addr *)to->address, k,
			    __sk_common.skc_v6_rcv_saddr);
		else
			BPF_CORE_READ_INTO((struct in6_addr *)to->address, k,
			    __sk_common.skc_v6_daddr);
	} else {
		to->port = 0;
	}
	e->head.truth_len = sizeof(*to);
}

#endif

#endif
