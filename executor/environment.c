/*
 * executor/environment.c - inherit nothing, keep nothing.  Linked by the
 * supervisor.
 */
#include "executor/environment.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/spawn.h"
#include "executor/uids.h"

/*
 * A lower hard limit would be inherited by every run.  Descriptors: the gate
 * and the program stand at 4094 and 4095, and the supervisor itself holds
 * about 25 for each run.
 */
static const struct {
	__rlimit_resource_t resource;
	const char *name;
	rlim_t least;
} least_limits[] = {
	{ RLIMIT_NOFILE, "open files (RLIMIT_NOFILE)", 4352 },
	{ RLIMIT_FSIZE, "file size (RLIMIT_FSIZE)", RLIM_INFINITY },
	{ RLIMIT_AS, "address space (RLIMIT_AS)", RLIM_INFINITY },
	{ RLIMIT_DATA, "data (RLIMIT_DATA)", RLIM_INFINITY },
	{ RLIMIT_CPU, "cpu time (RLIMIT_CPU)", RLIM_INFINITY },
	{ RLIMIT_NPROC, "processes (RLIMIT_NPROC)", 1024 },
};

static int check_limits(struct error *e)
{
	for (size_t i = 0; i < sizeof(least_limits) / sizeof(least_limits[0]);
	     i++) {
		struct rlimit now;

		if (getrlimit(least_limits[i].resource, &now) < 0)
			return FAIL_SYS(e, "read limits");
		if (now.rlim_max < least_limits[i].least)
			return FAIL(e, ERROR_UNAVAILABLE,
			    "hard limit of %s is too low (%" PRIu64
			    "); raise it, or start the service elsewhere with "
			    "bailiff-supervisor --allow-nested",
			    least_limits[i].name, (uint64_t)now.rlim_max);
	}
	return 0;
}

static int check_foreign(struct error *e)
{
	int nnp = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	int seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);

	if (nnp < 0 || seccomp < 0)
		return FAIL_SYS(e, "read our own confinement");
	if (nnp != 0 || seccomp != 0)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "started under a foreign %s, which would reach into every "
		    "run; start the service outside of it, or with "
		    "bailiff-supervisor --allow-nested",
		    nnp != 0 ? "no_new_privs" : "seccomp filter");
	return check_limits(e);
}

int environment_check(bool allow_nested, bool *ret_nested, struct error *e)
{
	struct error why;

	*ret_nested = false;
	if (check_foreign(&why) == 0)
		return 0;
	if (!allow_nested || why.kind != ERROR_UNAVAILABLE) {
		*e = why;
		return -1;
	}
	*ret_nested = true;
	return 0;
}

static int clean_descriptors(int first_fd, struct error *e)
{
	AUTO_FD null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_fd < 0)
		return FAIL_SYS(e, "open /dev/null");
	for (int i = 0; i < 3; i++)
		if (dup2(null_fd, i) < 0)
			return FAIL_SYS(e, "point stdio at /dev/null");
	if (null_fd < 3)
		(void)take_fd(&null_fd);
	if (close_range((unsigned)first_fd, ~0u, 0) < 0)
		return FAIL_SYS(e, "close inherited descriptors");
	/* close_range may have closed it; a second close could hit another. */
	(void)take_fd(&null_fd);
	return 0;
}

int environment_clean(int first_fd, struct error *e)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	struct rlimit files;

	/* EPERM: the front made us a session leader already. */
	if (setsid() < 0 && getsid(0) != getpid())
		return FAIL_SYS(e, "leave the starter's session");
	if (chdir("/") < 0)
		return FAIL_SYS(e, "go to /");
	(void)umask(077);
	/* Writing to a peer that left is EPIPE, never a signal. */
	if (!spawn_reset_signals() || sigaction(SIGPIPE, &ignored, NULL) < 0)
		return FAIL_SYS(e, "reset signals");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	if (clearenv() != 0)
		return FAIL_SYS(e, "clear the environment");
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return FAIL_SYS(e, "read limits");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return FAIL_SYS(e, "raise the limit of descriptors");
	return clean_descriptors(first_fd, e);
}

/* To read a posture back, and to end a launcher that does not answer. */
#define KEPT ((UINT64_C(1) << CAP_SYS_PTRACE) | (UINT64_C(1) << CAP_KILL))

static int drop_bounding(struct error *e)
{
	for (int cap = 0; cap < 64; cap++) {
		int has = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (has < 0)
			return 0; /* behind the last one of this kernel */
		if (has == 1 && (KEPT >> cap & 1) == 0 &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return FAIL_SYS(e, "drop capability %d", cap);
	}
	return 0;
}

static int set_capabilities(uint64_t kept, struct error *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32),
		    .permitted = (uint32_t)(kept >> 32) },
	};

	if (syscall(SYS_capset, &head, sets) < 0)
		return FAIL_SYS(e, "give up capabilities");
	return 0;
}

static int prove_dropped(struct error *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2] = { { 0 } };
	uid_t real;
	uid_t effective;
	uid_t saved;

	if (syscall(SYS_capget, &head, sets) < 0 ||
	    getresuid(&real, &effective, &saved) < 0)
		return FAIL_SYS(e, "read back our own privileges");
	if (real != UID_SUPERVISOR || effective != UID_SUPERVISOR ||
	    saved != UID_SUPERVISOR || getgroups(0, NULL) != 0 ||
	    sets[0].permitted != (uint32_t)KEPT ||
	    sets[0].effective != (uint32_t)KEPT || sets[0].inheritable != 0 ||
	    sets[1].permitted != (uint32_t)(KEPT >> 32) ||
	    sets[1].inheritable != 0)
		return FAIL(e, ERROR_STATE, "privileges were not given up");
	/* The proof tries the forbidden thing. */
	if (setresuid(0, 0, 0) == 0)
		return FAIL(e, ERROR_STATE, "root could be taken back");
	return 0;
}

int environment_drop(struct error *e)
{
	if (drop_bounding(e) < 0)
		return -1;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(UID_SUPERVISOR, UID_SUPERVISOR, UID_SUPERVISOR) < 0 ||
	    setresuid(UID_SUPERVISOR, UID_SUPERVISOR, UID_SUPERVISOR) < 0)
		return FAIL_SYS(e, "become the supervisor's own user");
	if (set_capabilities(KEPT, e) < 0)
		return -1;
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "close the way back");
	return prove_dropped(e);
}

int environment_drop_own(struct error *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2] = { { 0 } };

	if (set_capabilities(0, e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return FAIL_SYS(e, "close the way to privileges");
	if (syscall(SYS_capget, &head, sets) < 0)
		return FAIL_SYS(e, "read back our own privileges");
	if ((sets[0].permitted | sets[0].inheritable | sets[1].permitted |
	        sets[1].inheritable) != 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return FAIL(e, ERROR_STATE, "privileges were not given up");
	return 0;
}

int environment_no_zombies(struct error *e)
{
	const struct sigaction unwaited = { .sa_handler = SIG_DFL,
		.sa_flags = SA_NOCLDWAIT };

	if (sigaction(SIGCHLD, &unwaited, NULL) < 0)
		return FAIL_SYS(e, "let children end by themselves");
	return 0;
}
