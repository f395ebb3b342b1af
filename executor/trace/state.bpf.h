/*
 * executor/trace/state.bpf.h - whether a task belongs to a run, and what it was
 * doing; registers of each architecture.  Part of trace.bpf.c.
 */
#ifndef EXECUTOR_TRACE_STATE_BPF_H
#define EXECUTOR_TRACE_STATE_BPF_H

#ifdef __bpf__

#include "executor/trace/maps.bpf.h"

static __always_inline struct trace_books *books_of(u32 slot)
{
	return bpf_map_lookup_elem(&books, &slot);
}

/* The books of a task's run; NULL if that run is over. */
static __always_inline struct trace_books *own_books(struct trace_task *t)
{
	struct trace_books *b = books_of(t->slot);

	return b != NULL && b->generation == t->generation ? b : NULL;
}

/* The state of the current task; NULL if it is in no run. */
static __always_inline struct trace_task *current_state(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct trace_task *t;
	struct trace_run *run;
	struct trace_books *b;
	u64 group;

	if (task->thread_pid->level <= host_level)
		return NULL;
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (t != NULL)
		return t;
	group = bpf_get_current_cgroup_id();
	run = bpf_map_lookup_elem(&runs, &group);
	if (run == NULL)
		return NULL;
	t = bpf_task_storage_get(
	    &tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t == NULL) {
		b = books_of(run->slot);
		if (b != NULL)
			ADD(b->stateless, 1);
		return NULL;
	}
	t->slot = run->slot;
	t->generation = run->generation;
	t->in = TRACE_TASK_JOINED;
	return t;
}

#if defined(__TARGET_ARCH_x86)
/* What was executed comes back as execve, by the numbers of its own kind. */
#define IS_EXEC(nr)          ((nr) == 59 || (nr) == 322)
#define IS_EXEC_BACK(nr)     ((nr) == 59 || (nr) == 11)
#define THREAD_FOREIGN(task) ((task)->thread_info.status & 2) /* TS_COMPAT */
#define REGS_NR(regs)        ((s32)(regs)->orig_ax)
#define IS_FORK(nr)          ((nr) == 56 || (nr) == 57 || (nr) == 58 || (nr) == 435)
#define GET_ARGS(to, regs)             \
	do {                           \
		(to)[0] = (regs)->di;  \
		(to)[1] = (regs)->si;  \
		(to)[2] = (regs)->dx;  \
		(to)[3] = (regs)->r10; \
		(to)[4] = (regs)->r8;  \
		(to)[5] = (regs)->r9;  \
	} while (0)
#else
#define IS_EXEC(nr)      ((nr) == 221 || (nr) == 281)
#define IS_EXEC_BACK(nr) ((nr) == 221 || (nr) == 281)
#define THREAD_FOREIGN(task) \
	((task)->thread_info.flags >> 22 & 1) /* TIF_32BIT */
#define REGS_NR(regs) ((regs)->syscallno)
#define IS_FORK(nr)   ((nr) == 220 || (nr) == 435)
#define GET_ARGS(to, regs)                           \
	do {                                         \
		(to)[0] = (regs)->orig_x0;           \
		(to)[1] = (regs)->user_regs.regs[1]; \
		(to)[2] = (regs)->user_regs.regs[2]; \
		(to)[3] = (regs)->user_regs.regs[3]; \
		(to)[4] = (regs)->user_regs.regs[4]; \
		(to)[5] = (regs)->user_regs.regs[5]; \
	} while (0)
#endif

#endif

#endif
