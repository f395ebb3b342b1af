/*
 * executor/verdict.h - what a run came to: facts in, words out.  Pure.
 */
#ifndef EXECUTOR_VERDICT_H
#define EXECUTOR_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/event.h"

struct verdict_facts {
	enum phase phase;     /* of what ran: PHASE_RUN, or what came before */
	bool released;        /* the gate was opened: user code could begin */
	bool step_failed;     /* a step of ours failed; phase below */
	enum phase failed_in; /* PHASE_SETUP, PHASE_RUN or PHASE_COLLECT */
	enum killer kill;     /* why we killed it; KILLER_NONE if we did not */
	bool init_wall;       /* pid 1 ended it at its own, later deadline */
	bool ended;           /* pid 1 told how the program ended */
	enum event_exit exit_kind;
	uint32_t exit_value;
	uint64_t oom_kills; /* the kernel's counter of its cgroup */
	uint64_t cpu_us, cpu_max_us;
};

struct verdict {
	enum status status;
	enum phase phase;
	enum killer killed_by;
	enum event_exit exit_kind;
	uint32_t exit_value;
	bool names_step; /* the failed step belongs into the record */
};

/*
 * Total.  The first that holds: the client cancelled; the kernel killed for
 * memory; a step of ours failed before user code ran; we killed; the kernel
 * killed at the cpu limit or for a forbidden call; pid 1 was lost; the
 * program's own exit.  A failed collection turns only a run that nothing
 * killed into an error.  That pid 1 was lost is no failure of ours when the
 * kernel or we killed it: memory.oom.group takes it along.
 */
void verdict_decide(const struct verdict_facts *facts, struct verdict *ret);

#endif
