/*
 * executor/landlock.c - row "landlock": a second answer to what the mounts
 * already refuse.  Linked by bailiff-launch.
 *
 * One ruleset only: a second one, stacked, silently loses REFER.  All rights
 * that the running ABI knows are handled, so that whatever no rule grants is
 * refused (landlock(7)).  Numbers are the kernel's own ABI; Debian 12's
 * headers stop at ABI 2.
 */
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "executor/confine.h"
#include "executor/omit.h"

/* struct landlock_ruleset_attr as of ABI 6. */
struct ruleset {
	uint64_t fs, net, scoped;
};

#define FS_TRUNCATE (1ull << 14) /* ABI 3 */
#define NET_ALL     3ull         /* ABI 4: bind and connect of TCP */
#define SCOPE_ALL   3ull         /* ABI 6: abstract sockets, signals */

#define READ_DIR    LANDLOCK_ACCESS_FS_READ_DIR
#define READ_FILE   LANDLOCK_ACCESS_FS_READ_FILE
#define READ        (READ_FILE | READ_DIR)
#define RUN         (READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define DEVICE      (READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
/* Of a file, when a rule is about a file and not a directory. */
#define FILE_ONLY (RUN & ~(uint64_t)READ_DIR)
/* Everything but what makes or drives devices. */
#define WORK                                                               \
	(RUN | DEVICE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                    \
	    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |   \
	    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |   \
	    LANDLOCK_ACCESS_FS_REFER)

struct rule {
	const char *path;
	uint64_t allowed;
};

/* Entries of the view come on top of these, with RUN. */
static const struct rule rules[] = {
	{ "/", READ_DIR }, /* names may be listed: ls / */
	{ "/proc", READ },
	{ "/dev/null", DEVICE },
	{ "/dev/zero", DEVICE },
	{ "/dev/full", DEVICE },
	{ "/dev/random", DEVICE },
	{ "/dev/urandom", DEVICE },
	{ "/dev/shm", WORK },
	{ "/sandbox", WORK },
	{ "/tmp", WORK },
};

uint32_t confine_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (uint32_t)abi : 0;
}

/* What file-system rights an ABI knows. */
static uint64_t known(uint32_t abi)
{
	static const unsigned int bits[] = { 0, 13, 14, 15, 15, 16 };
	size_t last = sizeof(bits) / sizeof(bits[0]) - 1;

	return (1ull << bits[abi < last ? abi : last]) - 1;
}

static int add_rule(
    int ruleset_fd, const struct rule *rule, uint32_t abi, struct error *e)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = rule->allowed & known(abi)
	};
	AUTO_FD fd = open(rule->path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL_SYS(e, "open %s", rule->path);
	if (!S_ISDIR(st.st_mode))
		attr.allowed_access &= FILE_ONLY | DEVICE;
	attr.parent_fd = fd;
	if (syscall(SYS_landlock_add_rule, ruleset_fd,
	        LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
		return FAIL_SYS(e, "rule for %s", rule->path);
	return 0;
}

static int add_tops(int ruleset_fd, const struct confine *c, struct error *e)
{
	for (size_t i = 0; i < c->view->n_tops; i++) {
		char path[VIEW_NAME_MAX + 1];
		const struct rule rule = { path, RUN };

		(void)snprintf(path, sizeof(path), "/%s", c->view->tops[i]);
		if (add_rule(ruleset_fd, &rule, c->landlock_abi, e) < 0)
			return -1;
	}
	return 0;
}

/* All that is covered stands by now: a rule is about the inode it names. */
int confine_landlock_ready(const struct confine *c, struct error *e)
{
	uint32_t abi = c->landlock_abi;
	struct ruleset handled = { .fs = known(abi) };
	AUTO_FD fd = -1;

	/* Loopback needs TCP; the network namespace bounds it to that. */
	if (abi >= 4 && (c->flags & LAUNCH_LANDLOCK_NET) != 0)
		handled.net = NET_ALL;
	if (abi >= 6)
		handled.scoped = omit_from("landlock-scope", SCOPE_ALL);
	/* Older kernels take the longer struct as long as its tail is zero. */
	fd = (int)syscall(
	    SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	if (fd < 0)
		return FAIL_SYS(e, "make a Landlock ruleset");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (add_rule(fd, &rules[i], abi, e) < 0)
			return -1;
	if (add_tops(fd, c, e) < 0)
		return -1;
	if (syscall(SYS_dup3, fd, CONFINE_RULESET_FD, O_CLOEXEC) < 0)
		return FAIL_SYS(e, "place the Landlock ruleset");
	return 0;
}

int apply_landlock(struct confine *c, struct error *e)
{
	(void)c;
	if (syscall(SYS_landlock_restrict_self, CONFINE_RULESET_FD, 0) < 0)
		return FAIL_SYS(e, "restrict by Landlock");
	(void)close(CONFINE_RULESET_FD);
	return 0;
}

/*
 * Its mode lets anybody read the sentinel, and no rule covers it: only
 * Landlock can say EACCES.
 */
int prove_landlock(struct confine *c, struct error *e)
{
	AUTO_FD fd = open(VIEW_SENTINEL, O_RDONLY | O_CLOEXEC);

	(void)c;
	if (fd >= 0)
		return FAIL(e, ERROR_STATE, "%s can be read", VIEW_SENTINEL);
	if (errno != EACCES)
		return FAIL_SYS(e, "open %s", VIEW_SENTINEL);
	return 0;
}
