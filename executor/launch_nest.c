/*
 * executor/launch_nest.c - the launcher of an account that is not root: a user
 * namespace in which it has the capabilities that building sandboxes takes.
 * Linked by bailiff-launch; runs before anything else, with one thread.
 *
 * It executes itself anew in there.  Memory belongs to the user namespace of
 * its exec (ptrace(2)), so the supervisor, whose uid owns the namespace, can
 * read back the posture of what grows from it; a run, whose namespace is a
 * further one, has no such right over its own pid 1.
 */
#include "executor/launch_nest.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/knob.h"

/* The caller's own ids map to themselves, and no others (user_namespaces(7)).
 */
static int write_own_maps(uid_t uid, gid_t gid, struct error *e)
{
	char map[48];

	if (knob_write(AT_FDCWD, "/proc/self/setgroups", "deny", e) < 0)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	if (knob_write(AT_FDCWD, "/proc/self/uid_map", map, e) < 0)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	return knob_write(AT_FDCWD, "/proc/self/gid_map", map, e);
}

/* Over exec a uid other than 0 keeps ambient capabilities alone. */
static int keep_capabilities(struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct sets[2];

	if (syscall(SYS_capget, &header, sets) < 0)
		return FAIL_SYS(e, "read capabilities");
	for (size_t i = 0; i < 2; i++)
		sets[i].inheritable = sets[i].permitted;
	if (syscall(SYS_capset, &header, sets) < 0)
		return FAIL_SYS(e, "keep capabilities");
	for (unsigned int cap = 0; cap < 64; cap++)
		if ((sets[cap / 32].permitted >> cap % 32 & 1) != 0 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return FAIL_SYS(e, "keep capability %u", cap);
	return 0;
}

int launcher_nest(char *name, struct error *e)
{
	static char nested[] = LAUNCHER_NESTED;
	char *argv[] = { name, nested, NULL };
	char *env[] = { NULL };
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return FAIL_SYS(e,
		    "this host gives ordinary accounts no user namespace "
		    "(user.max_user_namespaces, "
		    "kernel.unprivileged_userns_clone, AppArmor)");
	if (write_own_maps(uid, gid, e) < 0 || keep_capabilities(e) < 0)
		return FAIL_IN(e, "user namespace");
	(void)execve("/proc/self/exe", argv, env);
	return FAIL_SYS(e, "execute bailiff-launch in a user namespace");
}
