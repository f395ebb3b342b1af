/*
 * tests/unit/test_verdict.c - facts of a run, and the words they come to.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "executor/verdict.h"

/* A run that was released; what differs is named in each row. */
#define RUN       .released = true, .phase = PHASE_RUN, .cpu_max_us = 1000000
#define CODE(n)   .ended = true, .exit_kind = EXIT_CODE, .exit_value = (n)
#define SIGNAL(n) .ended = true, .exit_kind = EXIT_SIGNAL, .exit_value = (n)

static const struct row {
	const char *name;
	struct verdict_facts facts;
	struct verdict must;
} rows[] = {
	{ "exit 0", { RUN, CODE(0) },
	    { STATUS_OK, PHASE_RUN, KILLER_NONE, EXIT_CODE, 0, false } },
	{ "exit 3", { RUN, CODE(3) },
	    { STATUS_ERROR, PHASE_RUN, KILLER_NONE, EXIT_CODE, 3, false } },
	{ "own signal", { RUN, SIGNAL(SIGKILL) },
	    { STATUS_ERROR, PHASE_RUN, KILLER_NONE, EXIT_SIGNAL, SIGKILL,
	        false } },
	{ "wall", { RUN, .kill = KILLER_WALL },
	    { STATUS_TIMEOUT, PHASE_RUN, KILLER_WALL, EXIT_ABSENT, 0, false } },
	{ "wall by pid 1", { RUN, .init_wall = true, .ended = true },
	    { STATUS_TIMEOUT, PHASE_RUN, KILLER_WALL, EXIT_ABSENT, 0, false } },
	{ "cpu", { RUN, .kill = KILLER_CPU },
	    { STATUS_TIMEOUT, PHASE_RUN, KILLER_CPU, EXIT_ABSENT, 0, false } },
	{ "cpu by the kernel", { RUN, SIGNAL(SIGXCPU), .cpu_us = 1000000 },
	    { STATUS_TIMEOUT, PHASE_RUN, KILLER_CPU, EXIT_SIGNAL, SIGXCPU,
	        false } },
	{ "SIGXCPU of its own making", { RUN, SIGNAL(SIGXCPU), .cpu_us = 999 },
	    { STATUS_ERROR, PHASE_RUN, KILLER_NONE, EXIT_SIGNAL, SIGXCPU,
	        false } },
	{ "memory", { RUN, SIGNAL(SIGKILL), .oom_kills = 1 },
	    { STATUS_MEMORY, PHASE_RUN, KILLER_MEMORY, EXIT_SIGNAL, SIGKILL,
	        false } },
	{ "a child out of memory, the rest goes on",
	    { RUN, CODE(0), .oom_kills = 1 },
	    { STATUS_MEMORY, PHASE_RUN, KILLER_MEMORY, EXIT_CODE, 0, false } },
	{ "memory seen before the wall",
	    { RUN, .kill = KILLER_WALL, .oom_kills = 2 },
	    { STATUS_MEMORY, PHASE_RUN, KILLER_MEMORY, EXIT_ABSENT, 0,
	        false } },
	{ "output", { RUN, .kill = KILLER_OUTPUT },
	    { STATUS_KILLED, PHASE_RUN, KILLER_OUTPUT, EXIT_ABSENT, 0,
	        false } },
	{ "forbidden call", { RUN, SIGNAL(SIGSYS) },
	    { STATUS_KILLED, PHASE_RUN, KILLER_SYSCALL, EXIT_SIGNAL, SIGSYS,
	        false } },
	{ "cancelled", { RUN, .kill = KILLER_CLIENT },
	    { STATUS_CANCELLED, PHASE_RUN, KILLER_CLIENT, EXIT_ABSENT, 0,
	        false } },
	{ "cancelled while out of memory",
	    { RUN, .kill = KILLER_CLIENT, .oom_kills = 1 },
	    { STATUS_CANCELLED, PHASE_RUN, KILLER_CLIENT, EXIT_ABSENT, 0,
	        false } },
	{ "cancelled while being built", { .kill = KILLER_CLIENT },
	    { STATUS_CANCELLED, PHASE_SETUP, KILLER_CLIENT, EXIT_ABSENT, 0,
	        false } },
	{ "cancelled, then a step failed",
	    { .kill = KILLER_CLIENT,
	        .step_failed = true,
	        .failed_in = PHASE_SETUP },
	    { STATUS_CANCELLED, PHASE_SETUP, KILLER_CLIENT, EXIT_ABSENT, 0,
	        false } },
	{ "a step failed", { .step_failed = true, .failed_in = PHASE_SETUP },
	    { STATUS_ERROR, PHASE_SETUP, KILLER_NONE, EXIT_ABSENT, 0, true } },
	{ "too little memory to be built",
	    { .step_failed = true, .failed_in = PHASE_SETUP, .oom_kills = 1 },
	    { STATUS_MEMORY, PHASE_SETUP, KILLER_MEMORY, EXIT_ABSENT, 0,
	        false } },
	{ "pid 1 killed with the rest for memory",
	    { RUN, .step_failed = true, .failed_in = PHASE_RUN,
	        .oom_kills = 2 },
	    { STATUS_MEMORY, PHASE_RUN, KILLER_MEMORY, EXIT_ABSENT, 0,
	        false } },
	{ "launcher lost", { RUN, .kill = KILLER_SUPERVISOR },
	    { STATUS_KILLED, PHASE_RUN, KILLER_SUPERVISOR, EXIT_ABSENT, 0,
	        false } },
	{ "pid 1 lost", { RUN, .step_failed = true, .failed_in = PHASE_RUN },
	    { STATUS_ERROR, PHASE_RUN, KILLER_NONE, EXIT_ABSENT, 0, true } },
	{ "results lost",
	    { RUN, CODE(0), .step_failed = true, .failed_in = PHASE_COLLECT },
	    { STATUS_ERROR, PHASE_COLLECT, KILLER_NONE, EXIT_CODE, 0, true } },
	{ "results lost after a timeout",
	    { RUN, .kill = KILLER_WALL, .step_failed = true,
	        .failed_in = PHASE_COLLECT },
	    { STATUS_TIMEOUT, PHASE_RUN, KILLER_WALL, EXIT_ABSENT, 0, true } },
};

static void each_set_of_facts_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verdict v;

		verdict_decide(&rows[i].facts, &v);
		if (v.status != rows[i].must.status ||
		    v.phase != rows[i].must.phase ||
		    v.killed_by != rows[i].must.killed_by ||
		    v.exit_kind != rows[i].must.exit_kind ||
		    v.exit_value != rows[i].must.exit_value ||
		    v.names_step != rows[i].must.names_step)
			fail_msg("%s: %s %s %u, exit %u %u", rows[i].name,
			    status_word(v.status), phase_word(v.phase),
			    (unsigned)v.killed_by, (unsigned)v.exit_kind,
			    v.exit_value);
	}
}

/* Every combination gives words of the lists, and never "ok" by mistake. */
static void no_set_of_facts_is_ok_unless_the_program_was(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 1u << 6; bits++)
		for (unsigned killer = 0; killer < KILLER_N; killer++) {
			struct verdict_facts f = {
				.released = bits & 1,
				.phase = PHASE_RUN,
				.step_failed = bits & 2,
				.failed_in = PHASE_COLLECT,
				.init_wall = bits & 4,
				.ended = bits & 8,
				.exit_kind = EXIT_CODE,
				.exit_value = bits & 16 ? 1 : 0,
				.oom_kills = bits & 32 ? 1 : 0,
				.kill = (enum killer)killer,
				.cpu_max_us = 1,
			};
			struct verdict v;

			verdict_decide(&f, &v);
			assert_non_null(status_word(v.status));
			assert_non_null(phase_word(v.phase));
			if (v.status == STATUS_OK) {
				assert_true(f.ended && f.exit_value == 0);
				assert_true(killer == KILLER_NONE);
				assert_true(f.oom_kills == 0 && !f.init_wall);
				assert_false(f.step_failed);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_set_of_facts_has_its_words),
		cmocka_unit_test(no_set_of_facts_is_ok_unless_the_program_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
