/*
 * executor/service.c - finding the place of a service.  Linked by the fronts
 * and the supervisor, so it needs libc and base only.  The caller's own paths
 * are trusted to be what the caller meant, never to be safe: everything that
 * decides who we talk to is checked on the descriptor.
 */
#include "executor/service.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/own.h"
#include "base/sha256.h"

#define SYSTEM_RUN       "/run/bailiff"
#define SYSTEM_STATE     "/var/lib/bailiff"
#define SYSTEM_POLICY    "/etc/bailiff/policy.json"
#define POLICY_BYTES_MAX 1048576 /* policy/policy.h: POLICY_TEXT_MAX */

static int join(char ret[SERVICE_PATH_MAX], const char *first,
    const char *second, struct error *e)
{
	int n = snprintf(ret, SERVICE_PATH_MAX, "%s%s", first, second);

	if (n < 0 || n >= SERVICE_PATH_MAX)
		return FAIL(e, ERROR_USAGE, "%.80s...: path too long", first);
	return 0;
}

/* The real path of directory 'path', and 'name' beneath it unless it is "". */
static int join_real(const char *path, const char *name,
    char ret[SERVICE_PATH_MAX], struct error *e)
{
	char *real = realpath(path, NULL);
	const char *slash = "/";
	int n;

	if (real == NULL && errno == ENOENT && *name != '\0')
		return FAIL(e, ERROR_USAGE,
		    "%s: the directory that should hold '%s' is missing", path,
		    name);
	if (real == NULL)
		return FAIL_SYS(e, "%s", path);
	if (*name == '\0' || strcmp(real, "/") == 0)
		slash = "";
	n = snprintf(ret, SERVICE_PATH_MAX, "%s%s%s", real, slash, name);
	free(real);
	if (n < 0 || n >= SERVICE_PATH_MAX)
		return FAIL(e, ERROR_USAGE, "%.80s: path too long", name);
	return 0;
}

/*
 * 'path' as an absolute one whose directories hold no link; the last component
 * stays as it is, to be opened without following it.  'path' may be 'ret'.
 */
static int resolve(
    const char *path, char ret[SERVICE_PATH_MAX], struct error *e)
{
	char given[SERVICE_PATH_MAX];
	size_t len = strlen(path);
	const char *parent = ".";
	const char *name = given;
	char *slash;

	if (len >= sizeof(given))
		return FAIL(e, ERROR_USAGE, "%.80s...: path too long", path);
	memcpy(given, path, len + 1);
	while (len > 1 && given[len - 1] == '/')
		given[--len] = '\0';
	slash = strrchr(given, '/');
	if (slash != NULL) {
		name = slash + 1;
		parent = slash == given ? "/" : given;
	}
	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return join_real(given, "", ret, e);
	if (slash != NULL)
		*slash = '\0';
	return join_real(parent, name, ret, e);
}

/* A directory that only this account can have filled. */
static int check_directory(int fd, const char *path, struct error *e)
{
	struct stat st;
	struct statvfs fs;

	if (fstat(fd, &st) < 0 || fstatvfs(fd, &fs) < 0)
		return FAIL_SYS(e, "%s", path);
	if (st.st_uid != geteuid())
		return FAIL(e, ERROR_DENIED,
		    "%s: belongs to uid %u, not to you (uid %u); "
		    "choose another --state",
		    path, st.st_uid, geteuid());
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return FAIL(e, ERROR_DENIED,
		    "%s: others may write to it (mode %04o); "
		    "chmod go-w it if nobody did",
		    path, st.st_mode & 07777);
	if (fs.f_flag & ST_RDONLY)
		return FAIL(e, ERROR_UNAVAILABLE,
		    "%s: its file system is read-only; choose another --state",
		    path);
	return 0;
}

/* Open directory 'path', made with 'mode' when it is missing. */
static int open_directory(
    const char *path, mode_t mode, int *ret_fd, struct error *e)
{
	struct stat st;
	bool made = mkdir(path, mode) == 0;
	AUTO_FD fd = -1;

	if (!made && errno != EEXIST)
		return FAIL_SYS(e, "make %s", path);
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return FAIL(e, ERROR_DENIED,
		    "%s: is a symbolic link; name the directory itself", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return FAIL_SYS(e, "open %s", path);
	/* The umask took bits away; only what we made is ours to change. */
	if (made && fchmod(fd, mode) < 0)
		return FAIL_SYS(e, "chmod %s", path);
	if (check_directory(fd, path, e) < 0)
		return -1;
	*ret_fd = take_fd(&fd);
	return 0;
}

/* The state directory of an account that is not root; parents are made. */
static int default_state(char ret[SERVICE_PATH_MAX], struct error *e)
{
	/* NOLINTBEGIN(concurrency-mt-unsafe): one thread, nobody sets */
	const char *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	/* NOLINTEND(concurrency-mt-unsafe) */

	if (geteuid() == 0)
		return join(ret, SYSTEM_STATE, "", e);
	if (xdg != NULL && xdg[0] == '/') {
		if (join(ret, xdg, "/bailiff", e) < 0)
			return -1;
	} else if (home == NULL || home[0] != '/') {
		return FAIL(e, ERROR_USAGE,
		    "no HOME to keep state in; name a directory by --state");
	} else if (join(ret, home, "/.local/state/bailiff", e) < 0) {
		return -1;
	}
	/* XDG base directories: what is missing is made with mode 0700. */
	for (char *at = strchr(ret + 1, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(ret, 0700) < 0 && errno != EEXIST)
			return FAIL_SYS(e, "make %s", ret);
		*at = '/';
	}
	return 0;
}

static int open_run(struct service *s, struct error *e)
{
	char path[SERVICE_PATH_MAX];
	char key[64];
	char hex[SHA256_HEX];
	uint8_t digest[SHA256_BYTES];
	struct stat st;
	AUTO_FD system_fd = -1;
	int n;

	if (geteuid() != 0) {
		if (join(path, s->state, "/run", e) < 0)
			return -1;
		return open_directory(path, 0700, &s->run_fd, e);
	}
	if (fstat(s->state_fd, &st) < 0)
		return FAIL_SYS(e, "%s", s->state);
	n = snprintf(key, sizeof(key), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	sha256_of(key, (size_t)n, digest);
	sha256_hex(digest, hex);
	hex[16] = '\0';
	/* Others pass through it to the system service's socket. */
	if (open_directory(SYSTEM_RUN, 0755, &system_fd, e) < 0 ||
	    join(path, SYSTEM_RUN "/", hex, e) < 0)
		return -1;
	return open_directory(path, 0700, &s->run_fd, e);
}

static void find_home(char ret[SERVICE_PATH_MAX])
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, nobody sets */
	const char *home = geteuid() != 0 ? getenv("HOME") : NULL;

	ret[0] = '\0';
	if (home != NULL && home[0] == '/' && strlen(home) < SERVICE_PATH_MAX)
		memcpy(ret, home, strlen(home) + 1);
}

int service_locate_state(
    const char *state, struct service *ret, struct error *e)
{
	find_home(ret->home);
	ret->state_fd = -1;
	ret->run_fd = -1;
	if (state == NULL) {
		if (default_state(ret->state, e) < 0)
			return FAIL_IN(e, "state directory");
		state = ret->state;
	}
	if (*state == '\0')
		return FAIL(e, ERROR_USAGE, "--state needs a directory");
	if (resolve(state, ret->state, e) < 0 ||
	    open_directory(ret->state, 0700, &ret->state_fd, e) < 0 ||
	    open_run(ret, e) < 0) {
		service_done(ret);
		return FAIL_IN(e, "state directory");
	}
	return 0;
}

static int hash_policy(int fd, struct service *s, struct error *e)
{
	struct stat st;
	uint64_t size;

	if (fstat(fd, &st) < 0)
		return FAIL_SYS(e, "stat");
	if (!S_ISREG(st.st_mode))
		return FAIL(e, ERROR_USAGE, "is no regular file");
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return FAIL(e, ERROR_DENIED,
		    "belongs to uid %u, neither yours nor root's; copy it",
		    st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return FAIL(e, ERROR_DENIED,
		    "others may write to it (mode %04o); chmod go-w it",
		    st.st_mode & 07777);
	if (st.st_size > POLICY_BYTES_MAX)
		return FAIL(e, ERROR_LIMIT,
		    "%jd bytes; a policy has at most %d", (intmax_t)st.st_size,
		    POLICY_BYTES_MAX);
	if (sha256_of_fd(fd, s->policy_sha256, &size, e) < 0)
		return -1;
	if (size > POLICY_BYTES_MAX)
		return FAIL(e, ERROR_LIMIT, "it grows while it is read");
	return 0;
}

static int locate_policy(const char *policy, struct service *s, struct error *e)
{
	struct stat st;
	AUTO_FD fd = -1;

	if (policy == NULL && lstat(SYSTEM_POLICY, &st) == 0)
		policy = SYSTEM_POLICY;
	if (policy != NULL && *policy == '\0')
		return FAIL(e, ERROR_USAGE, "--policy needs a file");
	if (policy != NULL
	        ? resolve(policy, s->policy, e) < 0
	        : service_data_path(geteuid() == 0 ? "policies/default.json"
	                                           : "policies/user.json",
	              s->policy, e) < 0)
		return -1;
	fd = open(s->policy, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		return FAIL(e, ERROR_DENIED,
		    "%s: is a symbolic link; name the file itself", s->policy);
	if (fd < 0)
		return FAIL_SYS(e, "open %s", s->policy);
	if (hash_policy(fd, s, e) < 0)
		return FAIL_IN(e, "%s", s->policy);
	return 0;
}

int service_locate(
    const char *state, const char *policy, struct service *ret, struct error *e)
{
	ret->state_fd = -1;
	ret->run_fd = -1;
	/* First what is only read, so that a wrong policy makes no directory. */
	if (locate_policy(policy, ret, e) < 0)
		return FAIL_IN(e, "policy");
	return service_locate_state(state, ret, e);
}

void service_done(struct service *s)
{
	own_close(&s->state_fd);
	own_close(&s->run_fd);
	s->state_fd = -1;
	s->run_fd = -1;
}

void service_socket_name(const struct service *s, char ret[SERVICE_NAME_MAX])
{
	char hex[SHA256_HEX];

	sha256_hex(s->policy_sha256, hex);
	(void)snprintf(ret, SERVICE_NAME_MAX, "%.16s.sock", hex);
}

/* PREFIX, from PREFIX/bin/x or PREFIX/libexec/bailiff/x. */
static int prefix(char ret[SERVICE_PATH_MAX], struct error *e)
{
	static const char *const places[] = { "/bin", "/libexec/bailiff" };
	ssize_t n = readlink("/proc/self/exe", ret, SERVICE_PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return FAIL_SYS(e, "read /proc/self/exe");
	ret[n] = '\0';
	/* A replaced program reads "x (deleted)": still in its directory. */
	slash = strrchr(ret, '/');
	if (slash == NULL)
		return FAIL(e, ERROR_STATE, "/proc/self/exe is no path");
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t len = strlen(ret);
		size_t tail = strlen(places[i]);

		if (len >= tail && strcmp(ret + len - tail, places[i]) == 0) {
			ret[len - tail] = '\0';
			return 0;
		}
	}
	return FAIL(e, ERROR_UNAVAILABLE,
	    "%s: not in bin/ or libexec/bailiff/ of an installation", ret);
}

static int path_of(const char *folder, const char *name,
    char ret[SERVICE_PATH_MAX], struct error *e)
{
	size_t len;
	int n;

	if (prefix(ret, e) < 0)
		return -1;
	len = strlen(ret);
	n = snprintf(ret + len, SERVICE_PATH_MAX - len, "%s%s", folder, name);
	if (n < 0 || (size_t)n >= SERVICE_PATH_MAX - len)
		return FAIL(
		    e, ERROR_LIMIT, "installed too deep: path too long");
	return 0;
}

int service_program_path(
    const char *name, char ret[SERVICE_PATH_MAX], struct error *e)
{
	return path_of("/libexec/bailiff/", name, ret, e);
}

int service_data_path(
    const char *name, char ret[SERVICE_PATH_MAX], struct error *e)
{
	return path_of("/share/bailiff/", name, ret, e);
}
