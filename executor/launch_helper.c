/*
 * executor/launch_helper.c - HELPER: starts bailiff-opener, bailiff-collect and
 * bailiff-screen with a channel to the supervisor, ids of their own and the few
 * capabilities they begin with.  Linked by bailiff-launch.
 *
 * Helpers live in the host's mount namespace: the opener resolves host paths,
 * and neither is to depend on what a policy's view holds.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/launcher.h"
#include "executor/steps.h"
#include "executor/uids.h"

#define BIT(cap) (1ull << (cap))

struct kind {
	char *name;
	uint32_t id;
	uint64_t capabilities;
};

static const struct kind *kind_of(uint32_t number)
{
	static char opener[] = "bailiff-opener";
	static char collect[] = "bailiff-collect";
	static char screen[] = "bailiff-screen";
	static const struct kind kinds[] = {
		{ opener, UID_OPENER, BIT(CAP_SETUID) | BIT(CAP_SETGID) },
		{ collect, UID_COLLECT, BIT(CAP_DAC_READ_SEARCH) },
		{ screen, UID_SCREEN, 0 },
	};

	switch (number) {
	case HELPER_OPENER:
		return &kinds[0];
	case HELPER_COLLECT:
		return &kinds[1];
	case HELPER_SCREEN:
		return &kinds[2];
	default:
		return NULL;
	}
}

/*
 * A uid other than 0 keeps capabilities over exec only as ambient ones, and
 * only if they are inheritable (capabilities(7)).
 */
static int take_capabilities(uint64_t wanted)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct sets[2];

	for (size_t i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(wanted >> (32 * i));

		sets[i] = (struct __user_cap_data_struct){ part, part, part };
	}
	if (syscall(SYS_capset, &header, sets) < 0)
		return -1;
	for (int cap = 0; cap < 64; cap++)
		if ((wanted & BIT(cap)) != 0 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -1;
	return 0;
}

static int take_identity(const struct kind *kind)
{
	for (int cap = 0; cap < 64; cap++)
		if ((kind->capabilities & BIT(cap)) == 0 &&
		    prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -1;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return -1;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(kind->id, kind->id, kind->id) < 0 ||
	    setresuid(kind->id, kind->id, kind->id) < 0)
		return -1;
	if (take_capabilities(kind->capabilities) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/*
 * In the child.  Nobody hears an error: the supervisor sees its channel close,
 * which is how every failure of a helper looks.
 */
static _Noreturn void become(
    struct launcher *l, const struct kind *kind, int program_fd)
{
	char *argv[] = { kind->name, NULL };
	char *env[] = { NULL };
	sigset_t none;

	(void)sigemptyset(&none);
	if (pthread_sigmask(SIG_SETMASK, &none, NULL) != 0 ||
	    setns(l->host_ns_fd, CLONE_NEWNS) < 0 || chdir("/") < 0 ||
	    take_identity(kind) < 0)
		_exit(1);
	/* All others are close-on-exec; the channel arrives without. */
	if (dup2(l->given.fd[0], LAUNCHER_CHANNEL_FD) < 0)
		_exit(1);
	(void)syscall(SYS_execveat, program_fd, "", argv, env, AT_EMPTY_PATH);
	_exit(1);
}

static int program_of(const struct launcher *l, uint32_t id)
{
	return id == UID_OPENER    ? l->opener_fd
	       : id == UID_COLLECT ? l->collect_fd
	                           : l->screen_fd;
}

static pid_t *free_slot(struct launcher *l)
{
	for (size_t i = 0; i < LAUNCHER_HELPERS_MAX; i++)
		if (l->helpers[i] == 0)
			return &l->helpers[i];
	return NULL;
}

static int start(struct launcher *l, struct error *e)
{
	static const struct sandbox_clone plain = { .cgroup_fd = -1 };
	const struct kind *kind = kind_of(l->request.helper.kind);
	pid_t *slot = free_slot(l);
	int pid_fd = -1;
	pid_t pid;

	if (l->broken)
		return FAIL(e, ERROR_STATE, "the launcher did not start");
	if (kind == NULL || l->given.n != 1)
		return FAIL(e, ERROR_MALFORMED, "no such helper");
	if (slot == NULL)
		return FAIL(
		    e, ERROR_LIMIT, "%d helpers at once", LAUNCHER_HELPERS_MAX);
	pid = sandbox_fork(&plain, &pid_fd, e);
	if (pid < 0)
		return -1;
	if (pid == 0)
		become(l, kind, program_of(l, kind->id));
	(void)close(pid_fd);
	*slot = pid;
	return 0;
}

int launcher_helper(struct launcher *l, struct error *e)
{
	struct launch_failed failed = { .run = 0 };
	struct error why = { 0 };

	if (start(l, &why) == 0)
		return 0;
	(void)steps_failed(
	    "helper", "wait for other runs to end", &why, &failed);
	l->reply.failed = failed;
	return launcher_reply(l, LAUNCH_FAILED, NULL, e);
}

/* By number, so that pid 1 of a run stays for RELEASE to reap. */
void launcher_reap_helpers(struct launcher *l)
{
	for (size_t i = 0; i < LAUNCHER_HELPERS_MAX; i++)
		if (l->helpers[i] != 0 &&
		    waitpid(l->helpers[i], NULL, WNOHANG) == l->helpers[i])
			l->helpers[i] = 0;
}
