/*
 * executor/trace/trace.bpf.c - the programs that run in the kernel for
 * bailiff-tracer: six tracepoints, filtered by the control group of a run.
 *
 * What they rest on, tried on Linux 6.1 and 6.18: seccomp comes before
 * sys_enter, so a call that the filter answers is a sys_exit without a
 * sys_enter; a new task's first sys_exit is its return from clone, which it
 * never entered; counters cannot be lost, events can, and are counted then.
 * Membership is a task's state, which its children inherit before they can run
 * (sched_process_fork) and which dies with it.
 */
#include "executor/trace/strings.bpf.h"
#include "executor/trace/truth.bpf.h"

#define EPERM       1
#define EACCES      13
#define EINPROGRESS 115
#define PROT_EXEC   4
#define SIGCHLD     17
#define SIGSYS      31
#define RESTART_MIN 512
#define RESTART_MAX 516

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long id)
{
	struct trace_task *t = current_state();
	/* The kernel looks at 32 bits of it: so must we, or be fooled. */
	s32 nr = (s32)id;
	u32 at = bucket(nr);
	struct trace_count *c;
	u32 *what;

	if (t == NULL || own_books(t) == NULL)
		return 0;
	t->call_plane = plane_of(t);
	t->nr = nr;
	t->in = TRACE_TASK_CALL;
	t->given_len = 0;
	t->todo = 0;
	c = count_of(t->slot, t->call_plane, nr);
	if (c != NULL)
		ADD(c->enter, 1);
	GET_ARGS(t->args, regs);
	if (t->call_plane != TRACE_PROGRAM)
		return 0;
	what = bpf_map_lookup_elem(&todo, &at);
	if (what == NULL || *what == 0)
		return 0;
	t->todo = *what;
	read_given(t, *what);
	return 0;
}

static __always_inline void tell_call(
    struct trace_books *b, struct trace_task *t, s64 ret, u32 error)
{
	struct event *e = new_event(TRACE_CALL, t->nr, ret);
	struct file *f;
	u32 len;

	if (e == NULL)
		return;
	e->head.plane = t->call_plane;
	__builtin_memcpy(e->head.args, t->args, sizeof(e->head.args));
	put_given(e, t);
	if ((t->todo & TRACE_DO_OPEN) != 0 && ret >= 0) {
		f = file_of(ret);
		if (f != NULL)
			put_path(e, f);
	} else if ((t->todo & TRACE_DO_ADDRESS) != 0 &&
	           (t->todo & TRACE_DO_TO) == 0 &&
	           (ret >= 0 || error == EINPROGRESS)) {
		f = file_of((u32)t->args[0]);
		if (f != NULL)
			put_address(e, f, (t->todo & TRACE_DO_LOCAL) != 0);
	}
	len = e->head.truth_len != 0 ? TRACE_TRUTH_AT + e->head.truth_len
	                             : e->head.given_len;
	tell(b, t->slot, &e->head, len & 2047);
}

static __always_inline void tell_denied(struct trace_books *b,
    struct trace_task *t, struct pt_regs *regs, s32 nr, s64 ret)
{
	struct trace_record r = { .type = TRACE_DENIED, .nr = nr, .ret = ret };
	u32 plane = plane_of(t);
	struct trace_count *c = count_of(t->slot, plane, nr);

	if (c == NULL)
		return;
	if (ADD(c->denied, 1) >= TRACE_DENIALS_MAX) {
		ADD(b->repeats, 1);
		return;
	}
	r.plane = plane;
	GET_ARGS(r.args, regs);
	tell(b, t->slot, &r, 0);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct trace_task *t = current_state();
	s32 nr = REGS_NR(regs);
	struct trace_books *b;
	struct trace_count *c;
	u32 error = ret < 0 && ret > -4096 ? -ret : 0;
	u32 in;

	if (t == NULL)
		return 0;
	b = own_books(t);
	if (b == NULL)
		return 0;
	in = t->in;
	t->in = TRACE_TASK_IDLE;
	if (in == TRACE_TASK_JOINED) {
		ADD(b->joined, 1);
		return 0;
	}
	if (in == TRACE_TASK_NEW && ret == 0 && IS_FORK(nr)) {
		ADD(b->born, 1);
		return 0;
	}
	if (in != TRACE_TASK_CALL) {
		if (error != 0)
			count_error(b, t->slot, plane_of(t), nr, error);
		tell_denied(b, t, regs, nr, ret);
		return 0;
	}
	if (nr == -1 && t->nr != -1)
		error = 0; /* rt_sigreturn: what it returns is not its own */
	else if (nr != t->nr && !(IS_EXEC(t->nr) && IS_EXEC_BACK(nr)))
		ADD(b->strange, 1);
	c = count_of(t->slot, t->call_plane, t->nr);
	if (c == NULL)
		return 0;
	if (error == 0) {
		ADD(c->ok, 1);
	} else {
		ADD(c->error, 1);
		if (error >= RESTART_MIN && error <= RESTART_MAX)
			ADD(b->restarts, 1);
		count_error(b, t->slot, t->call_plane, t->nr, error);
	}
	if (t->call_plane == TRACE_SETUP)
		return 0;
	if (error != EPERM && error != EACCES &&
	    ((t->todo & TRACE_DO_EVENT) == 0 ||
	        ((t->todo & TRACE_DO_CODE) != 0 &&
	            (t->args[2] & PROT_EXEC) == 0)))
		return 0;
	tell_call(b, t, ret, error);
	return 0;
}

/* In the parent, before the child can run: nothing of it is missed. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct trace_record r = { .type = TRACE_FORK };
	struct trace_task *t = bpf_task_storage_get(&tasks, parent, 0, 0);
	struct trace_books *b = t != NULL ? own_books(t) : NULL;
	struct trace_task *n;

	if (t == NULL || b == NULL)
		return 0;
	n = bpf_task_storage_get(
	    &tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (n == NULL) {
		ADD(b->stateless, 1);
		return 0;
	}
	n->slot = t->slot;
	n->generation = t->generation;
	n->plane = t->plane;
	n->in = TRACE_TASK_NEW;
	r.nr = t->nr;
	r.plane = t->plane;
	r.ret = child->pid;
	r.args[0] = child->tgid;
	tell(b, t->slot, &r, 0);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(
    on_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct trace_task *t = current_state();
	struct trace_books *b = t != NULL ? own_books(t) : NULL;
	struct mm_struct *mm = task->mm;
	struct event *e;
	u64 size;
	long n;

	if (t == NULL || b == NULL)
		return 0;
	t->plane = TRACE_PROGRAM;
	e = new_event(TRACE_EXEC, -1, 0);
	if (e == NULL)
		return 0;
	e->head.plane = TRACE_PROGRAM;
	e->head.args[0] = old_pid;
	n = bpf_probe_read_kernel_str(e->data, TRACE_GIVEN_MAX, bprm->filename);
	e->head.given_len = n > 0 ? n : 0;
	if (n == TRACE_GIVEN_MAX)
		e->head.flags |= TRACE_CUT_GIVEN;
	put_path(e, bprm->file);
	size = mm->arg_end - mm->arg_start;
	e->head.argv_size = size;
	if (size > TRACE_ARGV_MAX - 1) {
		size = TRACE_ARGV_MAX - 1;
		e->head.flags |= TRACE_CUT_ARGV;
	}
	if (bpf_probe_read_user(e->data + TRACE_ARGV_AT,
	        size & (TRACE_ARGV_MAX - 1), (void *)mm->arg_start) != 0)
		size = 0;
	e->head.argv_len = size;
	tell(b, t->slot, &e->head,
	    TRACE_ARGV_AT + (size & (TRACE_ARGV_MAX - 1)));
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct *task)
{
	struct trace_record r = { .nr = -1 };
	struct trace_task *t = current_state();
	struct trace_books *b = t != NULL ? own_books(t) : NULL;
	struct pt_regs *regs;

	if (t == NULL || b == NULL)
		return 0;
	r.ret = task->exit_code;
	r.plane = t->plane;
	if (t->in != TRACE_TASK_CALL && (r.ret & 0x7f) == SIGSYS) {
		/* The filter killed this thread: no other trace of the call. */
		regs = (void *)bpf_task_pt_regs(task);
		r.nr = REGS_NR(regs);
		r.plane = plane_of(t);
		r.type = TRACE_KILLED;
		tell(b, t->slot, &r, 0);
		return 0;
	}
	if (t->in == TRACE_TASK_CALL) {
		ADD(b->unfinished, 1);
		r.nr = t->nr;
	}
	t->in = TRACE_TASK_IDLE;
	r.type = TRACE_EXIT;
	tell(b, t->slot, &r, 0);
	return 0;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int number, struct kernel_siginfo *info,
    struct task_struct *to, int group, int result)
{
	struct trace_record r = { .type = TRACE_SIGNAL, .nr = number };
	struct trace_books *b;
	struct trace_task *t;
	int code = 0;

	if (number == SIGCHLD)
		return 0;
	t = bpf_task_storage_get(&tasks, to, 0, 0);
	b = t != NULL ? own_books(t) : NULL;
	if (t == NULL || b == NULL)
		return 0;
	r.plane = t->plane;
	r.ret = result;
	r.args[0] = to->pid;
	/* 0, 1 and 2 stand for a sender without particulars. */
	if ((unsigned long)info > 2)
		bpf_probe_read_kernel(&code, sizeof(code), &info->si_code);
	r.args[1] = (u32)code;
	r.args[2] = group;
	tell(b, t->slot, &r, 0);
	return 0;
}

/* Attached to nothing but to see whether attaching anew would work. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(probe, struct task_struct *task)
{
	return 0;
}
