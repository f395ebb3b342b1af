/*
 * executor/seccomp.c - row "filter": the system-call filter, which arrives as
 * data.  Linked by bailiff-launch; knows nothing about its content but one
 * thing that proves it: no filter of ours lets clone3 through.
 */
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memfd.h"
#include "executor/confine.h"

int confine_filter_read(
    int fd, struct sock_filter *to, struct confine_filter *ret, struct error *e)
{
	uint64_t size;
	ssize_t got;

	if (memfd_check(fd, FILTER_LEN_MAX * sizeof(*to), &size, e) < 0)
		return -1;
	if (size == 0 || size % sizeof(*to) != 0)
		return FAIL(e, ERROR_MALFORMED,
		    "a filter of %llu bytes is none", (unsigned long long)size);
	got = pread(fd, to, (size_t)size, 0);
	if (got < 0 || (uint64_t)got != size)
		return FAIL_SYS(e, "read the filter");
	ret->code = to;
	ret->len = (uint16_t)(size / sizeof(*to));
	return 0;
}

static bool asks(const struct confine_filter *filter)
{
	for (uint16_t i = 0; i < filter->len; i++)
		if (filter->code[i].code == (BPF_RET | BPF_K) &&
		    filter->code[i].k == SECCOMP_RET_USER_NOTIF)
			return true;
	return false;
}

int confine_filter_load(
    const struct confine_filter *filter, int *ret_listener_fd, struct error *e)
{
	struct sock_fprog program = { filter->len, filter->code };
	bool wanted = asks(filter);
	long ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    wanted ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program);

	if (ret < 0)
		return FAIL_SYS(
		    e, "load a filter of %u instructions", filter->len);
	*ret_listener_fd = wanted ? (int)ret : -1;
	return 0;
}

int apply_filter(struct confine *c, struct error *e)
{
	return confine_filter_load(&c->filter, &c->listener_fd, e);
}

/*
 * Unfiltered, clone3 of nothing is EINVAL.  Its arguments lie in memory that
 * no filter can read, so ours answer ENOSYS.
 */
int prove_filter(struct confine *c, struct error *e)
{
	long ret = syscall(SYS_clone3, NULL, (size_t)0);

	(void)c;
	if (ret >= 0 || errno != ENOSYS)
		return FAIL(e, ERROR_STATE, "clone3 is not answered by ENOSYS");
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return FAIL(e, ERROR_STATE, "no filter is in force");
	return 0;
}
