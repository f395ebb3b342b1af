/*
 * executor/state.c - directories of STATE.  Linked by the supervisor; runs as
 * root, before any peer exists.  STATE itself was checked by service_locate.
 */
#include "executor/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "executor/account.h"
#include "executor/state_directory.h"
#include "executor/uids.h"

#define STAGING_NAME    ".staging"
#define QUARANTINE_NAME ".quarantine"

/* Move every run of one dead supervisor's staging out of the way. */
static int quarantine_runs(int from_fd, struct state *s, struct error *e)
{
	int copy = openat(from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *d;
	int failed = 0;

	if (dir == NULL) {
		own_close(&copy);
		return FAIL_SYS(e, "read a staging directory");
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (failed == 0 && (d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		if (renameat(from_fd, d->d_name, s->quarantine_fd, d->d_name) <
		    0)
			failed = FAIL_SYS(e, "set aside %s", d->d_name);
		else if (s->n_left < STATE_LEFT_MAX)
			(void)snprintf(s->left[s->n_left++], sizeof(s->left[0]),
			    "%.39s", d->d_name);
	}
	(void)closedir(dir);
	return failed;
}

static int sweep_one(
    int all_fd, const char *name, struct state *s, struct error *e)
{
	const struct file_open what = { all_fd, name, O_RDONLY | O_DIRECTORY,
		0 };
	AUTO_FD fd = -1;
	struct error gone;

	if (file_open_beneath(&what, &fd, &gone) < 0)
		return 0; /* its owner has just removed it */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0; /* its supervisor lives */
	if (quarantine_runs(fd, s, e) < 0)
		return -1;
	if (unlinkat(all_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return FAIL_SYS(e, "remove the staging directory %s", name);
	return 0;
}

static int sweep(int all_fd, struct state *s, struct error *e)
{
	int copy = openat(all_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *d;
	int failed = 0;

	if (dir == NULL) {
		own_close(&copy);
		return FAIL_SYS(e, "read the staging directories");
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (failed == 0 && (d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.')
			failed = sweep_one(all_fd, d->d_name, s, e);
	(void)closedir(dir);
	return failed;
}

/* A sweeper may remove our new directory before we have locked it: again. */
static int open_own_staging(
    int all_fd, const char *instance, int *ret_fd, struct error *e)
{
	for (int tries = 0; tries < 8; tries++) {
		struct stat mine;
		struct stat there;
		AUTO_FD fd = -1;

		if (state_directory(all_fd, instance, UID_SUPERVISOR, &fd, e) <
		    0)
			return -1;
		if (flock(fd, LOCK_EX) < 0 || fstat(fd, &mine) < 0)
			return FAIL_SYS(e, "lock the staging directory");
		if (fstatat(all_fd, instance, &there, AT_SYMLINK_NOFOLLOW) <
		        0 ||
		    there.st_ino != mine.st_ino)
			continue;
		*ret_fd = take_fd(&fd);
		return 0;
	}
	return FAIL(e, ERROR_STATE, "the staging directory vanishes");
}

static int open_results(const char *instance, struct state *s, struct error *e)
{
	AUTO_FD all_fd = -1;

	if (state_directory(s->results_fd, QUARANTINE_NAME, UID_SUPERVISOR,
	        &s->quarantine_fd, e) < 0 ||
	    state_directory(
	        s->results_fd, STAGING_NAME, UID_SUPERVISOR, &all_fd, e) < 0)
		return -1;
	if (sweep(all_fd, s, e) < 0)
		return -1;
	return open_own_staging(all_fd, instance, &s->staging_fd, e);
}

static int open_all(const struct service *service, const char *instance,
    struct state *ret, struct error *e)
{
	const struct {
		const char *name;
		uint32_t uid;
		int *fd;
	} rows[] = {
		{ "audit", UID_SIGNER, &ret->audit_fd },
		{ "keys", UID_SIGNER, &ret->keys_fd },
		{ "state", UID_SIGNER, &ret->signer_fd },
		{ "results", UID_SUPERVISOR, &ret->results_fd },
		{ "policies", UID_SUPERVISOR, &ret->policies_fd },
		{ "layers", UID_SUPERVISOR, &ret->layers_fd },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (state_directory(service->state_fd, rows[i].name,
		        rows[i].uid, rows[i].fd, e) < 0)
			return -1;
	return open_results(instance, ret, e);
}

/*
 * Two services of one state directory, each with its own policy, may start at
 * once: between mkdir and chown of one, the other would see a directory of the
 * wrong owner.
 */
int state_open(const struct service *service, const char *instance,
    struct state *ret, struct error *e)
{
	int result;

	if (flock(service->state_fd, LOCK_EX) < 0)
		return FAIL_SYS(e, "lock the state directory");
	result = open_all(service, instance, ret, e);
	(void)flock(service->state_fd, LOCK_UN);
	return result;
}

/* Whether policies/<name> is there already with these bytes. */
static bool is_kept(
    const struct state *state, const char *name, const struct policy *policy)
{
	const struct file_open what = { state->policies_fd, name, O_RDONLY, 0 };
	AUTO_FD fd = -1;
	uint8_t digest[SHA256_BYTES];
	uint64_t size;
	struct error unreadable;

	return file_open_beneath(&what, &fd, &unreadable) == 0 &&
	       sha256_of_fd(fd, digest, &size, &unreadable) == 0 &&
	       memcmp(digest, policy->sha256, sizeof(digest)) == 0;
}

int state_keep_policy(
    const struct state *state, const struct policy *policy, struct error *e)
{
	char hex[SHA256_HEX];
	char name[SHA256_HEX + 8];
	char fresh[SHA256_HEX + 24];
	AUTO_FD fd = -1;

	sha256_hex(policy->sha256, hex);
	(void)snprintf(name, sizeof(name), "%s.json", hex);
	(void)snprintf(fresh, sizeof(fresh), ".%s.%d", hex, (int)getpid());
	if (is_kept(state, name, policy))
		return 0;
	fd = openat(state->policies_fd, fresh,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return FAIL_SYS(e, "keep the policy in policies/");
	if (file_write_all(fd, policy->effective, policy->effective_len, e) <
	        0 ||
	    fchown(fd, account_uid(UID_SUPERVISOR),
	        account_gid(UID_SUPERVISOR)) < 0 ||
	    fsync(fd) < 0 ||
	    renameat(state->policies_fd, fresh, state->policies_fd, name) < 0 ||
	    fsync(state->policies_fd) < 0) {
		int saved_errno = errno;

		(void)unlinkat(state->policies_fd, fresh, 0);
		errno = saved_errno;
		return FAIL_SYS(e, "keep the policy in policies/");
	}
	return 0;
}

void state_done(struct state *s, const char *instance)
{
	char path[sizeof(STAGING_NAME) + 40];

	(void)snprintf(path, sizeof(path), STAGING_NAME "/%s", instance);
	/* Not empty only if a run's folder could not be moved: sweep's case. */
	(void)unlinkat(s->results_fd, path, AT_REMOVEDIR);
}
