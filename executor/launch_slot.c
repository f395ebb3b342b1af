/*
 * executor/launch_slot.c - slots: ids, control groups, channels and a clone
 * that has come as far as it can without a request.  Linked by bailiff-launch.
 * The clone's side is sandbox.c.
 *
 * Joining a control group can wait for a grace period of the kernel, and
 * namespaces take their time: one slot is made ahead, while nobody waits.  It
 * serves one run and is never used again.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <unistd.h>

#include "executor/launcher.h"
#include "executor/omit.h"
#include "executor/steps.h"
#include "executor/uidpool.h"
#include "executor/uids.h"

/* One slot in the making. */
struct making {
	struct launcher *l;
	struct launched *run;
	/* The clone's ends, closed here once it has them. */
	int sync_fd, status_fd, gate_fd;
};

static int act_free(void *context, struct error *e)
{
	struct making *m = context;

	for (size_t i = 0; i < LAUNCH_RUNS_MAX && m->run == NULL; i++)
		if (m->l->runs[i].state == RUN_FREE)
			m->run = &m->l->runs[i];
	if (m->run == NULL)
		return FAIL(e, ERROR_LIMIT, "%d runs at once", LAUNCH_RUNS_MAX);
	*m->run = (struct launched){ .pid_fd = -1,
		.sync_fd = -1,
		.gate_fd = -1,
		.status_fd = -1,
		.uid_lock_fd = -1,
		.leaf.fd = { -1, -1, -1 } };
	return 0;
}

static int act_uids(void *context, struct error *e)
{
	struct making *m = context;
	uint32_t pair = 0;

	if (uidpool_take(m->l->uids_fd, &pair, &m->run->uid_lock_fd, e) < 0)
		return -1;
	m->run->init_id = UID_PAIR(pair);
	m->run->program_id = UID_PAIR(pair) + 1;
	return 0;
}

/* The only id there is, pid 1's as well. */
static int act_own_id(void *context, struct error *e)
{
	struct making *m = context;

	(void)e;
	m->run->init_id = geteuid();
	m->run->program_id = geteuid();
	return 0;
}

static int act_cgroup(void *context, struct error *e)
{
	struct making *m = context;

	if (!m->l->grouped)
		return 0;
	return cgroup_leaf_make(
	    &m->l->cgroups, ++m->l->n_slots, &m->run->leaf, e);
}

static int act_channels(void *context, struct error *e)
{
	struct making *m = context;
	int sync[2];
	int status[2];
	int gate[2];

	if (channel_pair(sync, e) < 0)
		return -1;
	m->run->sync_fd = sync[0];
	m->sync_fd = sync[1];
	if (channel_pair(status, e) < 0)
		return -1;
	m->run->status_fd = status[0];
	m->status_fd = status[1];
	if (pipe2(gate, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make the gate");
	m->gate_fd = gate[0];
	m->run->gate_fd = gate[1];
	return 0;
}

static int act_clone(void *context, struct error *e)
{
	struct making *m = context;
	struct launcher *l = m->l;
	const struct sandbox_clone how = {
		.flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS |
		         omit_from("ipc-namespace", CLONE_NEWIPC) |
		         omit_from("net-namespace", CLONE_NEWNET),
		.cgroup_fd = m->run->leaf.fd[CGROUP_UNIFIED]
	};

	l->sandbox = (struct sandbox){ .ask = &l->memory.ask,
		.view = &l->view,
		.memory = &l->memory,
		.leaf = m->run->leaf,
		.given = &l->memory.given,
		.init_id = m->run->init_id,
		.program_id = m->run->program_id,
		.landlock_abi = l->landlock_abi,
		.rootless = l->rootless,
		.sync_fd = m->sync_fd,
		.status_fd = m->status_fd,
		.gate_fd = m->gate_fd,
		.host_ns_fd = l->host_ns_fd,
		.liveness_fd = l->liveness_read_fd };
	m->run->pid = sandbox_fork(&how, &m->run->pid_fd, e);
	if (m->run->pid < 0)
		return -1;
	if (m->run->pid == 0)
		sandbox_main(&l->sandbox);
	m->run->state = RUN_PARKED;
	return 0;
}

static const struct stage rows[] = {
	{ "request", act_free, "report this" },
	{ "uids", act_uids, "wait for other runs of this host to end" },
	{ "cgroup", act_cgroup,
	    "see that limits can be set in this host's control groups" },
	{ "channels", act_channels, "raise the limit of open files" },
	{ "clone", act_clone,
	    "see that the kernel has all namespaces and memory to spare" },
};

static const struct stage rows_rootless[] = {
	{ "request", act_free, "report this" },
	{ "uids", act_own_id, "report this" },
	{ "cgroup", act_cgroup,
	    "see that limits can be set in the control group of this "
	    "account" },
	{ "channels", act_channels, "raise the limit of open files" },
	{ "clone", act_clone,
	    "see that the kernel has all namespaces and memory to spare" },
};

static void drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static int make(
    struct launcher *l, struct launched **ret, struct launch_failed *failed)
{
	struct making m = {
		.l = l, .sync_fd = -1, .status_fd = -1, .gate_fd = -1
	};
	struct error ignored;
	int done = steps_run(
	    l->rootless ? STAGES(rows_rootless) : STAGES(rows), &m, failed);

	drop(&m.sync_fd);
	drop(&m.status_fd);
	drop(&m.gate_fd);
	if (done == 0) {
		*ret = m.run;
		return 0;
	}
	/* What will not die keeps its slot; the failure says what failed. */
	if (m.run != NULL)
		(void)!launched_end(l, m.run, &ignored);
	return -1;
}

int launcher_slot(
    struct launcher *l, struct launched **ret, struct launch_failed *failed)
{
	for (size_t i = 0; i < LAUNCH_RUNS_MAX; i++)
		if (l->runs[i].state == RUN_PARKED) {
			*ret = &l->runs[i];
			return 0;
		}
	return make(l, ret, failed);
}

void launcher_park(struct launcher *l)
{
	struct launch_failed untold = { .run = 0 };
	struct launched *run = NULL;

	l->park = false;
	/* A failure is told to the next run, which meets it again. */
	(void)!launcher_slot(l, &run, &untold);
}
