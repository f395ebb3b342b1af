/*
 * executor/confine.c - the table of confinement, and the one loop over it.
 * Linked by bailiff-launch; runs in the program's process, after clone and
 * before exec, and allocates nothing.
 */
#include "executor/confine.h"

#include "executor/omit.h"
#include "executor/steps.h"

#define INTERNAL "this is a fault of bailiff or of the kernel: report it"
#define LANDLOCK \
	"boot a kernel with Landlock in its list of LSMs (lsm=landlock,...)"

/* clang-format off */
static const struct step steps[] = {
	{ "session",       apply_session,      prove_session,
	    INTERNAL, AHEAD },
	/* Before the limit on them, above which some of them stand. */
	{ "descriptors",   apply_descriptors,  prove_descriptors,
	    "give the program a readable stdin and writable stdout and stderr",
	    WITH_REQUEST },
	{ "limits",        apply_limits,       prove_limits,
	    "start the service with higher hard limits (ulimit -H)",
	    WITH_REQUEST },
	{ "signals",       apply_signals,      prove_signals,
	    INTERNAL, AHEAD },
	/* While the capabilities can still change them; until then code and
	 * inputs become pid 1's. */
	{ "ids",           apply_ids,          prove_ids,
	    INTERNAL, WITH_REQUEST },
	{ "capabilities",  apply_capabilities, prove_capabilities,
	    INTERNAL, WITH_REQUEST },
	/* Landlock and seccomp without capabilities demand it. */
	{ "privileges",    apply_privileges,   prove_privileges,
	    INTERNAL, WITH_REQUEST },
	{ "landlock",      apply_landlock,     prove_landlock,
	    LANDLOCK, WITH_REQUEST },
	/* Last: it would refuse the calls that prove the others. */
	{ "filter",        apply_filter,       prove_filter,
	    "check the policy's capabilities: bailiff policy check",
	    WITH_REQUEST },
};
/* clang-format on */

#define STEPS_N     (sizeof(steps) / sizeof(steps[0]))
#define STEP_FILTER (STEPS_N - 1)

_Static_assert(STEPS_N == LAUNCH_CONFINE_STEPS, "the supervisor counts them");

enum act {
	APPLY,
	PROVE
};

static int do_row(const struct step *s, enum act act, struct confine *c,
    struct launch_failed *ret)
{
	struct error e = { 0 };

	if (omit_has(s->name))
		return 0;
	if (act == APPLY && s->apply(c, &e) < 0)
		return steps_failed(s->name, s->remedy, &e, ret);
	if (act == PROVE && s->prove(c, &e) < 0) {
		(void)FAIL_IN(&e, "prove");
		return steps_failed(s->name, s->remedy, &e, ret);
	}
	if (act == PROVE)
		c->n_steps++;
	return 0;
}

int confine_ahead(struct confine *c, struct launch_failed *ret)
{
	struct error e = { 0 };

	for (size_t i = 0; i < STEP_FILTER; i++)
		if (steps[i].when == AHEAD &&
		    do_row(&steps[i], APPLY, c, ret) < 0)
			return -1;
	if (!omit_has("landlock") && confine_landlock_ready(c, &e) < 0)
		return steps_failed("landlock", LANDLOCK, &e, ret);
	return 0;
}

int confine_program(struct confine *c, struct launch_failed *ret)
{
	c->n_steps = 0;
	for (size_t i = 0; i < STEP_FILTER; i++)
		if (steps[i].when == WITH_REQUEST &&
		    do_row(&steps[i], APPLY, c, ret) < 0)
			return -1;
	/* From the final state, since a later row may undo an earlier one. */
	for (size_t i = 0; i < STEP_FILTER; i++)
		if (do_row(&steps[i], PROVE, c, ret) < 0)
			return -1;
	if (do_row(&steps[STEP_FILTER], APPLY, c, ret) < 0)
		return -1;
	return do_row(&steps[STEP_FILTER], PROVE, c, ret);
}
