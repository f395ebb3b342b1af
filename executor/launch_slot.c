/*
 * executor/launch_slot.c - slots: ids, control groups, channels and a clone
 * that comes as far as it can without a request.  Linked by bailiff-launch.
 * The clone's side is sandbox.c.
 *
 * Joining a control group can wait for a grace period of the kernel, and
 * namespaces take their time: slots are made ahead, while nobody waits, each
 * for the shape (LAUNCH_SHAPE) of a request that came lately.  A slot serves
 * one run and is never used again.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <unistd.h>

#include "executor/launcher.h"
#include "executor/omit.h"
#include "executor/steps.h"
#include "executor/uidpool.h"
#include "executor/uids.h"

/* Of a message buffer: as much as most requests take. */
#define TOUCHED 8192

/* One slot in the making. */
struct making {
	struct launcher *l;
	struct launched *run;
	/* What it is for. */
	uint32_t flags;
	bool has_directories;
	struct scratch_size scratch;
	/* The clone's ends, closed here once it has them. */
	int sync_fd, ask_fd, status_fd, gate_fd;
};

static size_t count_runs(const struct launcher *l)
{
	size_t n = 0;

	for (size_t i = 0; i < LAUNCHER_SLOTS; i++)
		if (l->runs[i].state == RUN_BUILDING ||
		    l->runs[i].state == RUN_GOING)
			n++;
	return n;
}

static int act_free(void *context, struct error *e)
{
	struct making *m = context;

	for (size_t i = 0; i < LAUNCHER_SLOTS && m->run == NULL; i++)
		if (m->l->runs[i].state == RUN_FREE)
			m->run = &m->l->runs[i];
	if (m->run == NULL || count_runs(m->l) >= LAUNCH_RUNS_MAX)
		return FAIL(e, ERROR_LIMIT, "%d runs at once", LAUNCH_RUNS_MAX);
	*m->run = (struct launched){ .number = ++m->l->n_slots,
		.flags = m->flags,
		.scratch = m->scratch,
		.pid_fd = -1,
		.sync_fd = -1,
		.ask_fd = -1,
		.gate_fd = -1,
		.status_fd = -1,
		.scratch_fd = -1,
		.uid_lock_fd = -1,
		.leaf = CGROUP_NO_LEAF };
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
	    &m->l->cgroups, m->run->number, &m->run->leaf, e);
}

static int act_channels(void *context, struct error *e)
{
	struct making *m = context;
	int sync[2];
	int ask[2];
	int status[2];
	int gate[2];

	if (channel_pair(sync, e) < 0)
		return -1;
	m->run->sync_fd = sync[0];
	m->sync_fd = sync[1];
	if (channel_pair(ask, e) < 0)
		return -1;
	m->run->ask_fd = ask[0];
	m->ask_fd = ask[1];
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
		.flags = CLONE_NEWNS |
		         omit_from("pid-namespace", CLONE_NEWPID) |
		         omit_from("uts-namespace", CLONE_NEWUTS) |
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
		.flags = m->flags,
		.has_directories = m->has_directories,
		.scratch = m->scratch,
		.init_filter = l->init_filter,
		.sync_fd = m->sync_fd,
		.ask_fd = m->ask_fd,
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

static int make(struct making *m, struct launch_failed *failed)
{
	struct launcher *l = m->l;
	int done;

	m->sync_fd = m->ask_fd = m->status_fd = m->gate_fd = -1;
	done = steps_run(
	    l->rootless ? STAGES(rows_rootless) : STAGES(rows), m, failed);
	drop(&m->sync_fd);
	drop(&m->ask_fd);
	drop(&m->status_fd);
	drop(&m->gate_fd);
	if (done < 0 && m->run != NULL)
		launched_abandon(l, m->run);
	return done;
}

/* The parked one of this shape, or NULL. */
static struct launched *find(struct launcher *l, uint32_t flags)
{
	for (size_t i = 0; i < LAUNCHER_SLOTS; i++)
		if (l->runs[i].state == RUN_PARKED && l->runs[i].flags == flags)
			return &l->runs[i];
	return NULL;
}

static bool has_directories(const struct launch_run *ask)
{
	for (uint64_t i = 0; i < ask->inputs.n; i++)
		if (ask->inputs.items[i].is_directory != 0)
			return true;
	return false;
}

/* Room for one more: the oldest goes. */
static void make_room(struct launcher *l)
{
	struct launched *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < LAUNCHER_SLOTS; i++) {
		struct launched *run = &l->runs[i];

		if (run->state != RUN_PARKED)
			continue;
		n++;
		if (oldest == NULL || run->number < oldest->number)
			oldest = run;
	}
	if (n < LAUNCHER_PARKED_MAX)
		return;
	launched_abandon(l, oldest);
}

int launcher_slot(
    struct launcher *l, struct launched **ret, struct launch_failed *failed)
{
	const struct launch_run *ask = &l->request.run;
	struct making m = { .l = l,
		.flags = ask->flags & LAUNCH_SHAPE,
		.has_directories = has_directories(ask),
		.scratch = scratch_size_of(ask) };

	l->next_flags = m.flags;
	l->next_scratch = m.scratch;
	if (!m.has_directories)
		m.run = find(l, m.flags);
	if (m.run == NULL && make(&m, failed) < 0)
		return -1;
	*ret = m.run;
	return 0;
}

void launcher_park(struct launcher *l)
{
	struct launch_failed untold = { .run = 0 };
	struct making m = {
		.l = l, .flags = l->next_flags, .scratch = l->next_scratch
	};

	l->park = false;
	launched_retry(l);
	if (find(l, m.flags) != NULL)
		return;
	make_room(l);
	/* A failure is told to the next run, which meets it again. */
	(void)!make(&m, &untold);
	/* The clone shares our pages: the next request is not to wait for the
	 * copies. */
	memset(&l->request, 0, sizeof(l->request));
	memset(l->channel.buffer, 0, TOUCHED);
	memset(l->sync.buffer, 0, TOUCHED);
}

/* While it lasts: its maps first; then only that it ends. */
int launched_watch_fd(const struct launched *run)
{
	if (run->state != RUN_BUILDING && run->state != RUN_PARKED)
		return -1;
	return run->sync_fd >= 0 ? run->sync_fd : run->ask_fd;
}
