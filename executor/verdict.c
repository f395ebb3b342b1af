/*
 * executor/verdict.c - the order of executor/verdict.h as code.  Linked by the
 * supervisor.  Every fact comes from the kernel or from pid 1 of the run,
 * never from the program's output.
 */
#include "executor/verdict.h"

#include <signal.h>

/* What it means that we killed for this reason. */
static enum status status_of_kill(enum killer killer)
{
	switch (killer) {
	case KILLER_WALL:
	case KILLER_CPU:
		return STATUS_TIMEOUT;
	case KILLER_MEMORY:
		return STATUS_MEMORY;
	case KILLER_CLIENT:
		return STATUS_CANCELLED;
	case KILLER_NONE:
	case KILLER_PIDS:
	case KILLER_OUTPUT:
	case KILLER_DISK:
	case KILLER_SYSCALL:
	case KILLER_TRACER:
	case KILLER_SUPERVISOR:
	case KILLER_N:
		break;
	}
	return STATUS_KILLED;
}

static bool died_by(const struct verdict_facts *f, uint32_t signal_number)
{
	return f->ended && f->exit_kind == EXIT_SIGNAL &&
	       f->exit_value == signal_number;
}

/*
 * RLIMIT_CPU is the kernel's own guard behind our sampling: SIGXCPU first,
 * SIGKILL one second later.
 */
static bool died_of_cpu(const struct verdict_facts *f)
{
	return f->cpu_us >= f->cpu_max_us &&
	       (died_by(f, SIGXCPU) || died_by(f, SIGKILL));
}

static enum killer killer_of(const struct verdict_facts *f)
{
	if (f->kill == KILLER_CLIENT)
		return KILLER_CLIENT;
	if (f->oom_kills > 0)
		return KILLER_MEMORY;
	if (f->kill != KILLER_NONE)
		return f->kill;
	if (f->init_wall)
		return KILLER_WALL;
	if (died_of_cpu(f))
		return KILLER_CPU;
	if (died_by(f, SIGSYS))
		return KILLER_SYSCALL;
	return KILLER_NONE;
}

void verdict_decide(const struct verdict_facts *f, struct verdict *ret)
{
	struct verdict v = { .status = STATUS_OK, .phase = PHASE_RUN };

	if (f->step_failed && f->failed_in == PHASE_SETUP &&
	    f->kill != KILLER_CLIENT && f->oom_kills == 0) {
		v.status = STATUS_ERROR;
		v.phase = PHASE_SETUP;
		v.names_step = true;
		*ret = v;
		return;
	}
	v.killed_by = killer_of(f);
	v.names_step = f->step_failed && (v.killed_by == KILLER_NONE ||
	                                     f->failed_in == PHASE_COLLECT);
	v.phase = f->released ? f->phase : PHASE_SETUP;
	if (f->ended && f->released && f->kill == KILLER_NONE) {
		v.exit_kind = f->exit_kind;
		v.exit_value = f->exit_value;
	}
	if (v.killed_by != KILLER_NONE) {
		v.status = status_of_kill(v.killed_by);
		*ret = v;
		return;
	}
	if (!f->ended || f->step_failed || f->exit_kind != EXIT_CODE ||
	    f->exit_value != 0)
		v.status = STATUS_ERROR;
	if (f->step_failed)
		v.phase = f->failed_in;
	*ret = v;
}
