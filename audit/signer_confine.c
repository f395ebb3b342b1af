/*
 * audit/signer_confine.c - the signer's confinement.  Linked by the signer; runs
 * once, before anything of others is read.
 */
#include "audit/signer_confine.h"

#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

/* struct landlock_ruleset_attr as of ABI 6; older headers know less of it. */
struct handled {
	uint64_t files, net, scoped;
};

/* All that each Landlock ABI can take away: landlock(7). */
static const struct abi {
	size_t size; /* of struct handled, as far as that ABI knows it */
	struct handled handled;
} abis[] = {
	{ 8, { 0x1fff, 0, 0 } },  /* 1: Linux 5.13 */
	{ 8, { 0x3fff, 0, 0 } },  /* 2: refer */
	{ 8, { 0x7fff, 0, 0 } },  /* 3: truncate */
	{ 16, { 0x7fff, 3, 0 } }, /* 4: TCP bind and connect */
	{ 16, { 0xffff, 3, 0 } }, /* 5: ioctl of devices */
	{ 24, { 0xffff, 3, 3 } }, /* 6: abstract sockets, signals */
};

#define ABI_MAX        (sizeof(abis) / sizeof(abis[0]))
#define TRUNCATE_RIGHT ((uint64_t)1 << 14) /* ABI 3 */

static const uint64_t writer_rights =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | TRUNCATE_RIGHT;

/* What a log writer calls; any other call ends it. */
static const int calls[] = {
	SCMP_SYS(accept4),
	SCMP_SYS(brk),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(close),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(fallocate),
	SCMP_SYS(fchmod),
	SCMP_SYS(fdatasync),
	SCMP_SYS(flock),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(fsync),
	SCMP_SYS(ftruncate),
	SCMP_SYS(futex),
	SCMP_SYS(getegid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getsockopt),
	SCMP_SYS(lseek),
	SCMP_SYS(madvise),
	SCMP_SYS(mkdirat),
	SCMP_SYS(mlock),
	SCMP_SYS(munlock),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(newfstatat),
	SCMP_SYS(openat2),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(read),
	SCMP_SYS(recvmsg),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sendmsg),
	SCMP_SYS(unlinkat),
	SCMP_SYS(write),
};

static int no_dump(struct error *e)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return FAIL_SYS(e, "forbid core dumps");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return FAIL_SYS(e, "set no_new_privs");
	return 0;
}

/*
 * The descriptors we hold already confine us by openat2(2); Landlock is a
 * second lock on the same door, so a kernel without it is accepted.
 */
static int lock_files(const int *dir_fds, size_t n_dirs, struct error *e)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	const struct abi *row;
	AUTO_FD ruleset_fd = -1;

	if (abi < 1)
		return 0;
	row = &abis[((size_t)abi < ABI_MAX ? (size_t)abi : ABI_MAX) - 1];
	ruleset_fd = (int)syscall(
	    SYS_landlock_create_ruleset, &row->handled, row->size, 0);
	if (ruleset_fd < 0)
		return FAIL_SYS(e, "make a Landlock ruleset");
	for (size_t i = 0; i < n_dirs; i++) {
		const struct landlock_path_beneath_attr rule = {
			.allowed_access = writer_rights & row->handled.files,
			.parent_fd = dir_fds[i],
		};

		if (syscall(SYS_landlock_add_rule, ruleset_fd,
		        LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
			return FAIL_SYS(e, "allow a directory in Landlock");
	}
	if (syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0)
		return FAIL_SYS(e, "enter Landlock");
	return 0;
}

/* Memory, but never executable memory. */
static int allow_memory(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp data =
	    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int failed = seccomp_rule_add_array(
	    filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, &data);

	if (failed == 0)
		failed = seccomp_rule_add_array(
		    filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, &data);
	return failed;
}

static int fill_filter(scmp_filter_ctx filter)
{
	int failed = allow_memory(filter);

	for (size_t i = 0; failed == 0 && i < sizeof(calls) / sizeof(calls[0]);
	     i++) {
		failed = seccomp_rule_add_array(
		    filter, SCMP_ACT_ALLOW, calls[i], 0, NULL);
		/* poll and its like do not exist on every architecture. */
		if (failed == -EDOM)
			failed = 0;
	}
	return failed;
}

static int lock_calls(struct error *e)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int failed;

	if (filter == NULL)
		return FAIL(e, ERROR_UNAVAILABLE, "make a seccomp filter");
	failed = fill_filter(filter);
	if (failed == 0)
		failed = seccomp_load(filter);
	seccomp_release(filter);
	if (failed != 0) {
		errno = -failed;
		return FAIL_SYS(e, "load the seccomp filter");
	}
	return 0;
}

int signer_confine(const int *dir_fds, size_t n_dirs, struct error *e)
{
	if (no_dump(e) < 0 || lock_files(dir_fds, n_dirs, e) < 0)
		return -1;
	return lock_calls(e);
}
