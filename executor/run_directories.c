/*
 * executor/run_directories.c - without root, what the launcher cannot see of
 * the directories that a run asks for.  Linked by the supervisor.
 *
 * An overlay shows one mount, and of a directory with others beneath what they
 * hide: such a one is refused.  Root's launcher looks for them in the host's
 * mount namespace (directories.c).  One without root has a copy, which a mount
 * made later may not reach; we are in the host's.
 */
#include "executor/mountinfo.h"
#include "executor/run_posture.h"

static int refuse_mounts(
    const struct run *r, const struct run_input *input, struct error *e)
{
	const struct mountinfo_block block = { (char *)r->s->block,
		SUPERVISOR_BLOCK };
	bool found = false;

	if (mountinfo_below(input->fd, block, &found, e) < 0)
		return FAIL_IN(e, "directory '%s'", input->is.name);
	if (found)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "directory '%s': something is mounted beneath it; name one "
		    "that nothing is mounted beneath",
		    input->is.name);
	return 0;
}

int run_check_directories(const struct run *r, struct error *e)
{
	for (size_t i = 0; r->s->owner.rootless && i < r->n_inputs; i++)
		if (r->inputs[i].is.kind == PROTOCOL_INPUT_DIRECTORY &&
		    refuse_mounts(r, &r->inputs[i], e) < 0)
			return -1;
	return 0;
}
