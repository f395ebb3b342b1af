/*
 * executor/launch_setup.c - what the launcher opens while it still sees the
 * host, and what it gives up before the first message.  Linked by
 * bailiff-launch.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/knob.h"
#include "executor/launcher.h"

#define BIT(cap) (1ull << (cap))

/* Capabilities that runs take, each with the call that asks for it. */
#define FOR_RUNS                                                              \
	(BIT(CAP_SYS_ADMIN) /* mounts, unshare, setns */ |                    \
	    BIT(CAP_SYS_CHROOT) /* setns to the host's mounts, for helpers */ \
	    | BIT(CAP_SETUID) | BIT(CAP_SETGID) /* id maps, helpers' ids */ | \
	    BIT(CAP_SETPCAP) /* bounding set of helpers */ |                  \
	    BIT(CAP_CHOWN) /* scratch */ | BIT(CAP_NET_ADMIN) /* lo up */ |   \
	    BIT(CAP_DAC_READ_SEARCH) /* bailiff-collect's */)
/* And what only BUILD takes. */
#define FOR_BUILD                                \
	(BIT(CAP_MKNOD) /* /dev of the view */ | \
	    BIT(CAP_DAC_OVERRIDE) /* the tops of cgroup trees are 0555 */)

static int open_directory(
    const char *path, mode_t mode, int *ret_fd, struct error *e)
{
	struct stat st;
	int fd;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return FAIL_SYS(e, "make %s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return FAIL_SYS(e, "open %s", path);
	*ret_fd = fd;
	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat %s", path);
	if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "%s is not root's alone to write: remove it", path);
	return 0;
}

static int open_directories(struct launcher *l, struct error *e)
{
	int top_fd = -1;
	int ret = open_directory(LAUNCHER_RUN_DIR, 0755, &top_fd, e);

	if (top_fd >= 0)
		(void)close(top_fd);
	top_fd = -1;
	if (ret == 0)
		ret = open_directory(SANDBOX_EMPTY, 0755, &top_fd, e);
	if (top_fd >= 0)
		(void)close(top_fd);
	if (ret < 0 ||
	    open_directory(LAUNCHER_RUN_DIR "/uids", 0700, &l->uids_fd, e) < 0)
		return -1;
	return open_directory(
	    LAUNCHER_RUN_DIR "/instances", 0700, &l->instances_fd, e);
}

/* A proc of another pid namespace would make us map a stranger's ids. */
static int open_proc(struct launcher *l, struct error *e)
{
	char text[16] = "";

	l->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (l->proc_fd < 0)
		return FAIL_SYS(e, "open /proc");
	if (readlinkat(l->proc_fd, "self", text, sizeof(text) - 1) < 0)
		return FAIL_SYS(e, "read /proc/self");
	if (strtol(text, NULL, 10) != getpid())
		return FAIL(e, ERROR_UNAVAILABLE,
		    "/proc is of another pid namespace: mount ours");
	l->host_ns_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (l->host_ns_fd < 0)
		return FAIL_SYS(e, "open our mount namespace");
	return 0;
}

/* Our siblings, from the directory of our own executable. */
static int open_sibling(const char *name, int *ret_fd, struct error *e)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	char *slash;

	if (n < 0)
		return FAIL_SYS(e, "read /proc/self/exe");
	if ((size_t)n >= sizeof(path) - LAUNCH_STEP_MAX)
		return FAIL(e, ERROR_LIMIT, "path of bailiff-launch too long");
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return FAIL(e, ERROR_STATE, "/proc/self/exe is no path");
	(void)snprintf(slash + 1, LAUNCH_STEP_MAX, "%s", name);
	*ret_fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (*ret_fd < 0)
		return FAIL_SYS(e, "open %s", path);
	return 0;
}

static int open_liveness(struct launcher *l, struct error *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "make a pipe");
	l->liveness_read_fd = ends[0];
	l->liveness_write_fd = ends[1];
	return 0;
}

static int watch_children(struct launcher *l, struct error *e)
{
	sigset_t mask;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	if (pthread_sigmask(SIG_SETMASK, &mask, NULL) != 0)
		return FAIL(e, ERROR_SYSTEM, "block SIGCHLD");
	l->child_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->child_fd < 0)
		return FAIL_SYS(e, "watch children");
	return 0;
}

/*
 * limits.c wants 1 for every program and cannot raise 0.  With CAP_SYS_RESOURCE
 * we can; without it, 0 is as good unless dumps go to a program of the host.
 */
static int judge_core(struct error *e)
{
	static const struct rlimit one = { 1, 1 };
	struct rlimit now;
	char pattern[128];

	if (getrlimit(RLIMIT_CORE, &now) < 0)
		return FAIL_SYS(e, "read the limit of core dumps");
	if (now.rlim_max > 0 || setrlimit(RLIMIT_CORE, &one) == 0)
		return 0;
	if (knob_read(AT_FDCWD, "/proc/sys/kernel/core_pattern", pattern,
	        sizeof(pattern), e) < 0)
		return -1;
	if (pattern[0] == '|')
		return FAIL(e, ERROR_UNAVAILABLE,
		    "core dumps go to a program and their hard limit is 0: "
		    "start the service with ulimit -Hc 1");
	return 0;
}

static int raise_limits(struct error *e)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return FAIL_SYS(e, "read the limit of open files");
	files.rlim_cur = files.rlim_max;
	if (files.rlim_max <= FILTER_PROGRAM_FD)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "hard limit of open files is %llu, we need %d: ulimit -Hn",
		    (unsigned long long)files.rlim_max, FILTER_PROGRAM_FD + 1);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return FAIL_SYS(e, "raise the limit of open files");
	return 0;
}

static int reduce_bounds(uint64_t keep, struct error *e)
{
	for (int cap = 0; cap < 64; cap++) {
		int has = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		/* The kernel has all that our headers know. */
		if (has < 0 && (errno != EINVAL || cap <= CAP_LAST_CAP))
			return FAIL_SYS(e, "look for capability %d", cap);
		if ((keep & BIT(cap)) != 0 || has != 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return FAIL_SYS(e, "drop capability %d", cap);
	}
	return 0;
}

/* What the bounding set loses, no child of ours in this namespace regains. */
static int reduce(uint64_t keep, struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct sets[2];

	if (reduce_bounds(keep, e) < 0)
		return -1;
	if (syscall(SYS_capget, &header, sets) < 0)
		return FAIL_SYS(e, "read capabilities");
	for (size_t i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(keep >> (32 * i));

		if ((sets[i].permitted & part) != part)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "capabilities 0x%x of root are missing: start the "
			    "service with them",
			    part & ~sets[i].permitted);
		sets[i] = (struct __user_cap_data_struct){ part, part, 0 };
	}
	if (syscall(SYS_capset, &header, sets) < 0)
		return FAIL_SYS(e, "reduce capabilities");
	return 0;
}

int launcher_reduce(struct error *e)
{
	return reduce(FOR_RUNS, e);
}

static int judge_start(struct error *e)
{
	int type = 0;
	socklen_t len = sizeof(type);

	if (getsockopt(LAUNCHER_CHANNEL_FD, SOL_SOCKET, SO_TYPE, &type, &len) <
	        0 ||
	    type != SOCK_SEQPACKET)
		return FAIL(e, ERROR_USAGE,
		    "descriptor 3 is no channel: started by "
		    "bailiff-supervisor only");
	/* What we open must not land on a standard stream. */
	for (int fd = 0; fd < LAUNCHER_CHANNEL_FD; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return FAIL_SYS(e, "descriptor %d is closed", fd);
	if (syscall(SYS_close_range, LAUNCHER_CHANNEL_FD + 1, ~0u, 0) < 0)
		return FAIL_SYS(e, "close inherited descriptors");
	return 0;
}

static int detach(struct error *e)
{
	if (fcntl(LAUNCHER_CHANNEL_FD, F_SETFD, FD_CLOEXEC) < 0)
		return FAIL_SYS(e, "keep the channel from children");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "forbid dumps");
	/* The kernel's name for us is "exe" once launch_nest.c has run. */
	(void)prctl(PR_SET_NAME, "bailiff-launch", 0, 0, 0);
	(void)umask(022);
	if (chdir("/") < 0)
		return FAIL_SYS(e, "enter /");
	return 0;
}

int launcher_attach(struct launcher *l, struct error *e)
{
	l->channel.fd = LAUNCHER_CHANNEL_FD;
	l->instance_fd = -1;
	l->rootless = geteuid() != 0;
	l->view.rootless = l->rootless;
	for (size_t i = 0; i < CGROUP_TREES; i++) {
		l->cgroups.top_fd[i] = -1;
		l->cgroups.instance_fd[i] = -1;
	}
	if (judge_start(e) < 0 || detach(e) < 0)
		return -1;
	return watch_children(l, e);
}

/* What only root has: ids to give out, and helpers with ids of their own. */
static int open_as_root(struct launcher *l, struct error *e)
{
	if (setgroups(0, NULL) < 0)
		return FAIL_SYS(e, "drop groups");
	if (open_directories(l, e) < 0)
		return -1;
	if (open_sibling("bailiff-opener", &l->opener_fd, e) < 0 ||
	    open_sibling("bailiff-collect", &l->collect_fd, e) < 0)
		return -1;
	return open_sibling("bailiff-screen", &l->screen_fd, e);
}

int launcher_open(struct launcher *l, struct error *e)
{
	if (raise_limits(e) < 0 || judge_core(e) < 0 || open_proc(l, e) < 0)
		return -1;
	if (!l->rootless && open_as_root(l, e) < 0)
		return -1;
	if (open_liveness(l, e) < 0 || view_open(&l->view, e) < 0)
		return -1;
	return reduce(FOR_RUNS | FOR_BUILD, e);
}
