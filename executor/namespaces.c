/*
 * executor/namespaces.c - what a run sees of the system: processes, names,
 * network, and no way to further namespaces.  Linked by bailiff-launch; runs
 * in the clone, which is pid 1 of a new pid namespace already.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/oom.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/knob.h"
#include "executor/mounts.h"
#include "executor/omit.h"
#include "executor/sandbox.h"

#define HOST_NAME "sandbox"

/*
 * The program gets processes of its own uid and nothing else of /proc.  The
 * full one stays detached, for one write in sandbox_seal: a proc cannot be
 * mounted from inside the new user namespace.
 */
int sandbox_proc(struct sandbox *s, struct error *e)
{
	static const struct mounts_new lesser = { .type = "proc",
		.attributes =
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		.options = {
		    { "subset", "pid" }, { "hidepid", "invisible" } } };
	static const struct mounts_new full = { .type = "proc",
		.attributes =
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	AUTO_FD fd = -1;

	if (mounts_make(omit_has("proc-subset") ? &full : &lesser, &fd, e) <
	        0 ||
	    mounts_make(&full, &s->proc_fd, e) < 0)
		return -1;
	/* The host's, which had to be there for these two (view_user.c). */
	if (s->rootless && umount2("/proc", MNT_DETACH) < 0)
		return FAIL_SYS(e, "take the host's proc off");
	if (mounts_attach(fd, AT_FDCWD, "/proc", e) < 0)
		return -1;
	/* A host without memory takes it from runs first, whatever the service
	 * was given.  Landlock keeps the program from changing it. */
	return knob_write_number(
	    AT_FDCWD, "/proc/self/oom_score_adj", OOM_SCORE_ADJ_MAX, e);
}

static int raise_loopback(struct error *e)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request;

	if (fd < 0)
		return FAIL_SYS(e, "open a socket for lo");
	memset(&request, 0, sizeof(request));
	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "lo");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return FAIL_SYS(e, "bring lo up");
	return 0;
}

int sandbox_loopback(struct sandbox *s, struct error *e)
{
	if ((s->flags & LAUNCH_LOOPBACK) != 0)
		return raise_loopback(e);
	return 0;
}

int sandbox_host(struct error *e)
{
	/* Without a namespace of its own it would be the host's name. */
	if (omit_has("uts-namespace"))
		return 0;
	if (sethostname(HOST_NAME, strlen(HOST_NAME)) < 0)
		return FAIL_SYS(e, "set the host name");
	if (setdomainname("", 0) < 0)
		return FAIL_SYS(e, "clear the domain name");
	return 0;
}

/*
 * What a user namespace uses up is also charged to its owner, the effective
 * uid that made it: pending signals, memory locks, namespaces.  Were that
 * root, one run could use up what all others and the host's root may have.
 * The real uid stays 0, so that no limit on processes comes from it.
 */
static int own_by(uint32_t id, struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct sets[2];

	if (setresuid((uid_t)-1, id, (uid_t)-1) < 0)
		return FAIL_SYS(e, "take the owner's uid");
	/* The effective set is gone, the permitted one is not. */
	if (syscall(SYS_capget, &header, sets) < 0)
		return FAIL_SYS(e, "read capabilities");
	sets[0].effective = sets[0].permitted;
	sets[1].effective = sets[1].permitted;
	if (syscall(SYS_capset, &header, sets) < 0)
		return FAIL_SYS(e, "keep capabilities");
	/* Or /proc/<pid>/uid_map would not be root's to write. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "forbid dumps");
	return 0;
}

/*
 * The new user namespace owns only a copy of the mounts, all locked, and the
 * cgroup namespace, rooted at the leaves joined before.  pid, net, ipc and uts
 * stay property of the initial one: capabilities in here mean nothing there.
 */
int sandbox_separate(struct sandbox *s, struct error *e)
{
	if (!s->rootless && own_by(s->init_id, e) < 0)
		return -1;
	if (unshare(CLONE_NEWNS |
	            (int)omit_from("user-namespace", CLONE_NEWUSER) |
	            (int)omit_from("cgroup-namespace", CLONE_NEWCGROUP)) < 0)
		return FAIL_SYS(e, "make the user namespace");
	return 0;
}

static const char *const kinds[] = { "user", "mnt", "pid", "net", "ipc", "uts",
	"cgroup", "time" };

/* CAP_SYS_RESOURCE in the namespace is what these files ask for. */
int sandbox_seal(struct sandbox *s, struct error *e)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char path[64];

		if (omit_has("namespace-limits"))
			break;

		(void)snprintf(
		    path, sizeof(path), "sys/user/max_%s_namespaces", kinds[i]);
		if (knob_write(s->proc_fd, path, "0", e) < 0 ||
		    knob_expect(s->proc_fd, path, 0, e) < 0)
			return -1;
	}
	(void)close(s->proc_fd);
	s->proc_fd = -1;
	/* The launcher's session keyring is not for a run; kernels without
	 * keyrings have none to share. */
	if (omit_has("keyring"))
		return 0;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
	    errno != ENOSYS)
		return FAIL_SYS(e, "leave the session keyring");
	return 0;
}
