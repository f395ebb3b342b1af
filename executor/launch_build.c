/*
 * executor/launch_build.c - BUILD: the instance, its control groups, the view.
 * Linked by bailiff-launch.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/cgroup_own.h"
#include "executor/instance.h"
#include "executor/launcher.h"
#include "executor/steps.h"

/* Of a scratch made before anybody asked for one. */
#define SCRATCH_FIRST_BYTES  (16u << 20)
#define SCRATCH_FIRST_INODES 1024

static int act_order(void *context, struct error *e)
{
	struct launcher *l = context;

	if (l->built)
		return FAIL(e, ERROR_STATE, "the view is built already");
	return 0;
}

static int act_landlock(void *context, struct error *e)
{
	struct launcher *l = context;
	uint32_t wanted = l->request.build.landlock_min_abi;

	l->landlock_abi = confine_landlock_abi();
	if (l->landlock_abi == 0)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "this kernel runs without Landlock");
	if (l->landlock_abi < wanted)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "Landlock ABI is %u, the policy wants %u", l->landlock_abi,
		    wanted);
	return 0;
}

/* The peer is who made the channel: the supervisor, as it was at that time. */
static int find_ours(
    const struct launcher *l, struct cgroup_ours *ret, struct error *e)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(l->channel.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return FAIL_SYS(e, "read the supervisor's credentials");
	*ret = (struct cgroup_ours){ getpid(), peer.pid };
	return 0;
}

static int act_cgroup(void *context, struct error *e)
{
	struct launcher *l = context;
	struct cgroup_ours ours;

	if (find_ours(l, &ours, e) < 0 || cgroup_open(&l->cgroups, e) < 0 ||
	    cgroup_serve(&l->cgroups, ours.launcher, e) < 0 ||
	    cgroup_serve(&l->cgroups, ours.supervisor, e) < 0)
		return -1;
	l->grouped = true;
	return 0;
}

/* What was delegated to this account, if anything was. */
static int act_own_cgroup(void *context, struct error *e)
{
	struct launcher *l = context;
	struct cgroup_ours ours;

	if (find_ours(l, &ours, e) < 0)
		return -1;
	return cgroup_open_own(&l->cgroups, &ours, &l->grouped, e);
}

static void name_instance(struct launcher *l)
{
	char *hex = l->cgroups.instance;

	for (size_t i = 0; i < sizeof(l->request.build.instance); i++)
		(void)snprintf(
		    hex + 2 * i, 3, "%02x", l->request.build.instance[i]);
}

/* Made, locked and others swept in one turn, so that none sweeps it unlocked. */
static int act_own_instance(void *context, struct error *e)
{
	struct launcher *l = context;
	AUTO_FD turn_fd = -1;

	if (!l->grouped)
		return 0;
	name_instance(l);
	if (instance_lock_turn(&l->cgroups, &turn_fd, e) < 0 ||
	    cgroup_instance(&l->cgroups, e) < 0 ||
	    instance_lock_group(&l->cgroups, &l->instance_fd, e) < 0)
		return -1;
	return instance_sweep_groups(&l->cgroups, e);
}

static int act_instance(void *context, struct error *e)
{
	struct launcher *l = context;
	char *hex = l->cgroups.instance;

	name_instance(l);
	/* The lock first: a group without one would be nobody's to sweep. */
	if (instance_lock(l->instances_fd, hex, &l->instance_fd, e) < 0)
		return -1;
	return cgroup_instance(&l->cgroups, e);
}

static int act_sweep(void *context, struct error *e)
{
	struct launcher *l = context;

	return instance_sweep(l->instances_fd, &l->cgroups, e);
}

static int act_view(void *context, struct error *e)
{
	struct launcher *l = context;

	/* Any directory does, in a mount namespace of our own. */
	return view_enter(&l->view, l->rootless ? "/usr" : LAUNCHER_RUN_DIR, e);
}

/* Of pid 1 of every run: read once, before any. */
static int act_filter(void *context, struct error *e)
{
	struct launcher *l = context;

	if (l->given.n != 1)
		return FAIL(
		    e, ERROR_MALFORMED, "%zu descriptors came", l->given.n);
	return confine_filter_read(
	    l->given.fd[0], l->memory.init_filter, &l->init_filter, e);
}

static int act_reduce(void *context, struct error *e)
{
	(void)context;
	return launcher_reduce(e);
}

static const struct stage rows[] = {
	{ "order", act_order, "report this" },
	{ "filter", act_filter, "report this: the filter comes from bailiff" },
	{ "landlock", act_landlock,
	    "boot with landlock in lsm=, or lower landlock.min_abi in the "
	    "policy" },
	{ "cgroup", act_cgroup,
	    "run the service where the memory and pids controllers are its own "
	    "to "
	    "hand down (systemd: Delegate=yes), outside a container's root "
	    "group" },
	{ "instance", act_instance, "report this" },
	{ "sweep", act_sweep, "report this" },
	{ "view", act_view,
	    "check the policy's file view, and that this host allows mounts "
	    "and has overlay (modprobe overlay)" },
	{ "capabilities", act_reduce, "report this" },
};

static const struct stage rows_rootless[] = {
	{ "order", act_order, "report this" },
	{ "filter", act_filter, "report this: the filter comes from bailiff" },
	{ "landlock", act_landlock,
	    "boot with landlock in lsm=, or lower landlock.min_abi in the "
	    "policy" },
	{ "cgroup", act_own_cgroup, "see that /proc and /sys are whole" },
	{ "instance", act_own_instance,
	    "see what lives in bailiff/ of your control group" },
	{ "view", act_view,
	    "see that /proc is whole and that this host lets user namespaces "
	    "mount" },
	{ "capabilities", act_reduce, "report this" },
};

int launcher_build(struct launcher *l, struct error *e)
{
	struct launch_failed failed = { .run = 0 };
	struct stages stages =
	    l->rootless ? STAGES(rows_rootless) : STAGES(rows);
	uint32_t abi;

	if (!l->broken && steps_run(stages, l, &failed) == 0)
		l->built = true;
	if (!l->built || l->broken) {
		l->reply.failed = l->broken ? l->why : failed;
		return launcher_reply(l, LAUNCH_FAILED, NULL, e);
	}
	l->ahead = l->request.build.ahead != 0;
	l->park = l->ahead;
	l->next_flags = l->request.build.flags & LAUNCH_SHAPE;
	l->next_scratch =
	    (struct scratch_size){ SCRATCH_FIRST_BYTES, SCRATCH_FIRST_INODES };
	abi = l->landlock_abi;
	l->reply.ready = (struct launch_ready){ .landlock_abi = abi };
	(void)snprintf(l->reply.ready.cgroup_mode,
	    sizeof(l->reply.ready.cgroup_mode), "%s",
	    l->grouped ? cgroup_mode_word(l->cgroups.mode) : "none");
	return launcher_reply(l, LAUNCH_READY, NULL, e);
}
