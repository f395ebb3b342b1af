/*
 * base/jail.c - self-confinement of helpers.  Linked by bailiff-opener,
 * bailiff-collect and bailiff-audit; trusts its caller, who is still itself at this point.
 */
#include "base/jail.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

/* From the number of a call past the two halves of its argument. */
#define ARGUMENT_SKIP 5
/* Rows of up to six instructions, and four around them. */
#define FILTER_MAX (JAIL_CALLS_MAX * 8 + 4)

/* struct landlock_ruleset_attr as of ABI 7; older headers know less of it. */
struct landlock_handled {
	uint64_t files, net, scoped;
};

/* What each Landlock ABI can take away: rows of landlock(7). */
static const struct landlock_abi {
	size_t size; /* of landlock_handled, as far as that ABI knows it */
	struct landlock_handled handled;
} landlock_abis[] = {
	{ 8, { 0x1fff, 0, 0 } },  /* 1: Linux 5.13 */
	{ 8, { 0x3fff, 0, 0 } },  /* 2: refer */
	{ 8, { 0x7fff, 0, 0 } },  /* 3: truncate */
	{ 16, { 0x7fff, 3, 0 } }, /* 4: TCP bind and connect */
	{ 16, { 0xffff, 3, 0 } }, /* 5: ioctl of devices */
	{ 24, { 0xffff, 3, 3 } }, /* 6: abstract sockets, signals */
};

static int no_dump(struct error *e)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return FAIL_SYS(e, "forbid core dumps");
	return 0;
}

static int no_new_privileges(struct error *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return FAIL_SYS(e, "set no_new_privs");
	return 0;
}

static int allow_reading(
    int ruleset_fd, int read_fd, enum jail_read read, struct error *e)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
		.parent_fd = read_fd,
	};

	if (read_fd < 0)
		return 0;
	if (read == JAIL_READ_FILES_AND_DIRECTORIES)
		rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (syscall(SYS_landlock_add_rule, ruleset_fd,
	        LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return FAIL_SYS(e, "allow reading beneath a directory");
	return 0;
}

static int restrict_files(const struct jail *j, struct error *e)
{
	size_t known = sizeof(landlock_abis) / sizeof(landlock_abis[0]);
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	const struct landlock_abi *row;
	AUTO_FD ruleset_fd = -1;
	AUTO_FD proof_fd = -1;

	if (abi < 1)
		return FAIL_SYS(e, "Landlock is missing");
	row = &landlock_abis[((size_t)abi < known ? (size_t)abi : known) - 1];
	ruleset_fd = (int)syscall(
	    SYS_landlock_create_ruleset, &row->handled, row->size, 0);
	if (ruleset_fd < 0)
		return FAIL_SYS(e, "make a Landlock ruleset");
	if (allow_reading(ruleset_fd, j->read_fd, j->read, e) < 0)
		return -1;
	for (size_t i = 0; i < j->n_more; i++)
		if (allow_reading(ruleset_fd, j->more_fds[i], j->read, e) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0)
		return FAIL_SYS(e, "enter Landlock");
	/* No helper lists directories and has "/" as its 'read_fd'. */
	proof_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proof_fd >= 0 || errno != EACCES)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "Landlock did not refuse \"/\"");
	return 0;
}

static int set_capabilities(uint64_t kept, struct error *e)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	uint32_t low = (uint32_t)kept;
	uint32_t high = (uint32_t)(kept >> 32);
	struct __user_cap_data_struct sets[2] = { { low, low, 0 },
		{ high, high, 0 } };

	/* The ambient set ends with the inheritable one. */
	if (syscall(SYS_capset, &header, sets) < 0)
		return FAIL_SYS(e, "drop capabilities");
	if (syscall(SYS_capget, &header, sets) < 0)
		return FAIL_SYS(e, "read capabilities back");
	if (sets[0].effective != low || sets[0].permitted != low ||
	    sets[1].effective != high || sets[1].permitted != high ||
	    sets[0].inheritable != 0 || sets[1].inheritable != 0)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "capabilities are still there");
	return 0;
}

struct filter {
	size_t n;
	struct sock_filter code[FILTER_MAX];
};

static void emit(struct filter *f, struct sock_filter instruction)
{
	f->code[f->n++] = instruction;
}

static void emit_load(struct filter *f, size_t offset)
{
	emit(f, (struct sock_filter)BPF_STMT(
	            BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Go on if the loaded word is 'value', else skip 'skip' instructions. */
static void emit_equals(struct filter *f, uint32_t value, uint8_t skip)
{
	emit(f, (struct sock_filter)BPF_JUMP(
	            BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}

static void emit_call(struct filter *f, const struct jail_call *call)
{
	size_t argument = offsetof(struct seccomp_data, args) +
	                  (size_t)(call->argument < 0 ? 0 : call->argument) *
	                      sizeof(uint64_t);

	emit_load(f, offsetof(struct seccomp_data, nr));
	if (call->argument == JAIL_ANY) {
		emit_equals(f, (uint32_t)call->number, 1);
	} else {
		/* Both machines we build for are little-endian.  What skips
		 * goes behind the RET below. */
		emit_equals(f, (uint32_t)call->number, ARGUMENT_SKIP);
		emit_load(f, argument);
		emit_equals(f, call->value, ARGUMENT_SKIP - 2);
		emit_load(f, argument + sizeof(uint32_t));
		emit_equals(f, 0, ARGUMENT_SKIP - 4);
	}
	emit(f,
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static int restrict_calls(const struct jail *j, struct error *e)
{
	static const struct jail_call proof = { __NR_prctl, 0, PR_GET_SECCOMP };
	struct filter f = { .n = 0 };
	struct sock_fprog program = { .filter = f.code };

	if (j->n_calls > JAIL_CALLS_MAX)
		return FAIL(e, ERROR_STATE, "allow-list too long");
	emit_load(&f, offsetof(struct seccomp_data, arch));
	emit_equals(&f, NATIVE_ARCH, 1);
	emit(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
	emit(&f, (struct sock_filter)BPF_STMT(
	             BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	for (size_t i = 0; i < j->n_calls; i++)
		emit_call(&f, &j->calls[i]);
	emit_call(&f, &proof);
	emit(&f, (struct sock_filter)BPF_STMT(
	             BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	program.len = (unsigned short)f.n;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return FAIL_SYS(e, "load the system call filter");
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return FAIL(
		    e, ERROR_UNAVAILABLE, "no system call filter in force");
	return 0;
}

int jail_enter(const struct jail *j, struct error *e)
{
	if (no_dump(e) < 0 || no_new_privileges(e) < 0 ||
	    restrict_files(j, e) < 0 ||
	    set_capabilities(j->capabilities, e) < 0 ||
	    restrict_calls(j, e) < 0)
		return FAIL_IN(e, "confine this helper");
	return 0;
}
