/*
 * executor/run_patience.c - answers that do not come.  Linked by the
 * supervisor.  The numbers, with their reasons, are in patience.h.
 */
#include "executor/patience.h"

#include "executor/peers.h"
#include "executor/run_steps.h"
#include "executor/run_trace.h"

void run_expect(struct run *r, enum run_due whose, uint64_t within_us)
{
	r->due[whose] = loop_now_us() + within_us;
}

/* The text is what to do about it; its number alone says "too late". */
static void late(struct error *e, const char *remedy)
{
	error_fill(e, ERROR_LIMIT, 0, "%s", remedy);
	e->saved_errno = ETIME;
}

/*
 * First only this run is given up, since its clone may hang and the launcher be
 * well.  A launcher that does not answer RELEASE either is killed, and with it
 * all that it holds.
 */
static void launcher_late(struct run *r)
{
	const struct launch_release release = { .run = r->number };
	struct error e;

	if (r->is_released) {
		launcher_kill(r->s->launch_pid_fd);
		supervisor_lose_launcher(r->s);
		return;
	}
	late(&e,
	    "the launcher does not build the sandbox; look at the host's load "
	    "and at dmesg, then try again");
	run_fail(r, PHASE_SETUP, "launcher.timeout", &e);
	r->is_released = true;
	supervisor_tell_launcher(r->s, LAUNCH_RELEASE, &release, NULL);
	run_expect(r, DUE_LAUNCHER, PATIENCE_RELEASE);
	run_end(r);
}

static void init_late(struct run *r)
{
	struct error e;

	late(&e,
	    "pid 1 of the run does not confine the program; look at the host's "
	    "load and at dmesg, then try again");
	run_fail(r, PHASE_SETUP, "init.timeout", &e);
	run_end(r);
}

static void death_late(struct run *r)
{
	struct error e;

	late(&e,
	    "a process of the run does not die; look for it with ps, state D, "
	    "and at dmesg");
	run_fail(r, PHASE_COLLECT, "kill.timeout", &e);
	r->is_undead = true;
	run_end(r);
}

static void signer_late(struct run *r)
{
	supervisor_lose(r->s, "the signer does not answer (signer.timeout)");
}

static void helper_late(struct run *r)
{
	if (r->stage == RUN_OPENING)
		run_open_late(r);
	else
		run_collect_late(r);
}

uint64_t run_patience(struct run *r, uint64_t now_us)
{
	static void (*const acts[DUE_N])(struct run * r) = {
		[DUE_LAUNCHER] = launcher_late,
		[DUE_INIT] = init_late,
		[DUE_DEATH] = death_late,
		[DUE_SIGNER] = signer_late,
		[DUE_TRACER] = run_trace_late,
		[DUE_HELPER] = helper_late,
	};
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < DUE_N; i++) {
		if (r->due[i] != 0 && r->due[i] <= now_us) {
			r->due[i] = 0;
			acts[i](r);
		}
		if (r->due[i] != 0 && r->due[i] < next)
			next = r->due[i];
	}
	return next;
}
