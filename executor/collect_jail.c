/*
 * executor/collect_jail.c - what bailiff-collect can still do once it looks at
 * files.  Linked by bailiff-collect.
 */
#include "executor/collect_jail.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/jail.h"

/* Without root we have none, and the files are our own uid's. */
static uint64_t read_capability(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2] = { { 0 } };

	if (syscall(SYS_capget, &header, sets) < 0)
		return 0;
	return sets[0].effective & UINT64_C(1) << CAP_DAC_READ_SEARCH;
}

int collect_enter_jail(int scratch_fd, struct error *e)
{
	static const struct jail_call calls[] = {
		{ __NR_openat2, JAIL_ANY, 0 },
		{ __NR_newfstatat, JAIL_ANY, 0 },
		{ __NR_fstat, JAIL_ANY, 0 },
		{ __NR_getdents64, JAIL_ANY, 0 },
		{ __NR_read, JAIL_ANY, 0 },
		{ __NR_write, JAIL_ANY, 0 },
		{ __NR_close, JAIL_ANY, 0 },
		{ __NR_recvmsg, 0, COLLECT_CHANNEL_FD },
		{ __NR_sendmsg, 0, COLLECT_CHANNEL_FD },
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	const struct jail jail = {
		.capabilities = read_capability(),
		.read_fd = scratch_fd,
		.read = JAIL_READ_FILES_AND_DIRECTORIES,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
	};

	return jail_enter(&jail, e);
}
