/*
 * executor/ids.c - rows "ids", "capabilities" and "privileges".  Linked by
 * bailiff-launch; runs inside a run's user namespace, where two ids exist.
 *
 * Facts: setresuid(2) drops no capability here, since we never are uid 0 of
 * the namespace; a new user namespace comes with a full bounding set.
 */
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/confine.h"
#include "executor/uids.h"

/* A set is 64 bits wide. */
#define CAPABILITIES_MAX 64
#define SECUREBITS                                                       \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |    \
	    SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

int apply_ids(struct confine *c, struct error *e)
{
	const gid_t gid = UID_INSIDE_PROGRAM;
	const uid_t uid = UID_INSIDE_PROGRAM;

	(void)c;
	if (setresgid(gid, gid, gid) < 0)
		return FAIL_SYS(e, "take the program's gid");
	if (setresuid(uid, uid, uid) < 0)
		return FAIL_SYS(e, "take the program's uid");
	return 0;
}

int prove_ids(struct confine *c, struct error *e)
{
	uid_t uid[3];
	gid_t gid[3];
	int n_groups = getgroups(0, NULL);

	if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 ||
	    getresgid(&gid[0], &gid[1], &gid[2]) < 0)
		return FAIL_SYS(e, "read ids");
	for (size_t i = 0; i < 3; i++)
		if (uid[i] != UID_INSIDE_PROGRAM ||
		    gid[i] != UID_INSIDE_PROGRAM)
			return FAIL(
			    e, ERROR_STATE, "an id is not the program's");
	/* The supervisor compares which they are. */
	if (n_groups != c->n_groups)
		return FAIL(
		    e, ERROR_STATE, "%d supplementary groups", n_groups);
	/* Neither root, which has no number here, nor pid 1's uid, which has. */
	if (setresuid(0, 0, 0) == 0)
		return FAIL(e, ERROR_STATE, "became root");
	if (setresuid(UID_INSIDE_INIT, UID_INSIDE_INIT, UID_INSIDE_INIT) == 0)
		return FAIL(e, ERROR_STATE, "became pid 1's uid");
	return 0;
}

static int set_none(struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	if (syscall(SYS_capset, &header, none) < 0)
		return FAIL_SYS(e, "empty the capability sets");
	return 0;
}

/*
 * Whether 'cap' is the first that the kernel has no name for, which it says by
 * EINVAL.  It has all that our headers know, so that nothing else can pass for
 * the end and leave the rest in the set.
 */
static bool is_end(int cap)
{
	return errno == EINVAL && cap > CAP_LAST_CAP;
}

int confine_drop_capabilities(struct error *e)
{
	int cap = 0;

	while (
	    cap < CAPABILITIES_MAX && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
		cap++;
	if (cap < CAPABILITIES_MAX && !is_end(cap))
		return FAIL_SYS(e, "drop capability %d for good", cap);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return FAIL_SYS(e, "clear ambient capabilities");
	if (prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0) < 0)
		return FAIL_SYS(e, "lock the securebits");
	return set_none(e);
}

int apply_capabilities(struct confine *c, struct error *e)
{
	(void)c;
	return confine_drop_capabilities(e);
}

static int prove_sets(struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct sets[2];

	if (syscall(SYS_capget, &header, sets) < 0)
		return FAIL_SYS(e, "read the capability sets");
	for (size_t i = 0; i < 2; i++)
		if ((sets[i].effective | sets[i].permitted |
		        sets[i].inheritable) != 0)
			return FAIL(e, ERROR_STATE, "a capability is left");
	return 0;
}

/* One capability is in neither set, or does not exist: then *ret_end. */
static int prove_one(int cap, bool *ret_end, struct error *e)
{
	int bound = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

	*ret_end = bound < 0 && is_end(cap);
	if (*ret_end)
		return 0;
	if (bound < 0)
		return FAIL_SYS(e, "look for capability %d", cap);
	if (bound != 0)
		return FAIL(e, ERROR_STATE,
		    "capability %d is in the bounding set", cap);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) != 0)
		return FAIL(e, ERROR_STATE, "capability %d is ambient", cap);
	return 0;
}

int prove_capabilities(struct confine *c, struct error *e)
{
	bool end = false;

	(void)c;
	if (prove_sets(e) < 0)
		return -1;
	for (int cap = 0; cap < CAPABILITIES_MAX && !end; cap++)
		if (prove_one(cap, &end, e) < 0)
			return -1;
	if (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != SECUREBITS)
		return FAIL(e, ERROR_STATE, "securebits are not locked");
	if (prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0)
		return FAIL(e, ERROR_STATE, "securebits can be cleared");
	return 0;
}

int apply_privileges(struct confine *c, struct error *e)
{
	(void)c;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return FAIL_SYS(e, "forbid new privileges");
	return 0;
}

int prove_privileges(struct confine *c, struct error *e)
{
	(void)c;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return FAIL(e, ERROR_STATE, "new privileges are possible");
	return 0;
}
