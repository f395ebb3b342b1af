/*
 * cli/audit_place.c - finds and opens a log, then gives up all but reading it.
 * Linked by bailiff-audit.  Paths are the caller's own; what lies beneath is
 * hostile.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/own.h"
#include "cli/audit.h"

#define DIRECTORY    (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

#define PLACE_FDS    (4 + PIN_DIRECTORIES)

#define SYSTEM_STATE "/var/lib/bailiff"
#define SYSTEM_PINS  "/etc/bailiff/keys.d"

/* NOLINTBEGIN(concurrency-mt-unsafe): getenv in a program of one thread */

static int join(
    char ret[AUDIT_PATH_MAX], const char *a, const char *b, struct error *e)
{
	int n = snprintf(ret, AUDIT_PATH_MAX, "%s/%s", a, b);

	if (n < 0 || n >= AUDIT_PATH_MAX)
		return FAIL(e, ERROR_USAGE, "%.60s...: path too long", a);
	return 0;
}

static int default_state(char ret[AUDIT_PATH_MAX], struct error *e)
{
	const char *base = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (geteuid() == 0) {
		(void)snprintf(ret, AUDIT_PATH_MAX, "%s", SYSTEM_STATE);
		return 0;
	}
	if (base != NULL && base[0] == '/')
		return join(ret, base, "bailiff", e);
	if (home == NULL || home[0] != '/')
		return FAIL(e, ERROR_USAGE,
		    "no HOME to look for a log in; name its folder");
	return join(ret, home, ".local/state/bailiff", e);
}

static void open_pins(struct audit_place *ret)
{
	const char *home = getenv("HOME");
	AUTO_FD home_fd = -1;
	size_t n = 0;

	if (geteuid() != 0 && home != NULL && home[0] == '/') {
		home_fd = open(home, DIRECTORY);
		ret->pin_fds[n++] =
		    openat(home_fd, ".config/bailiff", DIRECTORY);
	}
	ret->pin_fds[n] = open(SYSTEM_PINS, DIRECTORY);
}

/* NOLINTEND(concurrency-mt-unsafe) */

void audit_place_open_pins(struct audit_place *ret)
{
	*ret = (struct audit_place)AUDIT_PLACE_NONE;
	open_pins(ret);
}

static int open_results(struct audit_place *ret, int state_fd,
    const char *state, const char *results, struct error *e)
{
	if (results == NULL)
		return 0;
	if (results[0] == '\0' && state_fd < 0)
		return FAIL(e, ERROR_USAGE,
		    "%s is no state directory; name the results: --results "
		    "DIR",
		    state);
	ret->results_fd = results[0] == '\0'
	                      ? openat(state_fd, "results", DIRECTORY)
	                      : open(results, DIRECTORY);
	if (ret->results_fd < 0)
		return FAIL_SYS(e, "%s%s", results[0] == '\0' ? state : "",
		    results[0] == '\0' ? "/results" : results);
	return 0;
}

static int open_log(struct audit_place *ret, const char *dir,
    const char *results, struct error *e)
{
	AUTO_FD fd = open(dir, DIRECTORY);
	AUTO_FD state_fd = -1;

	if (fd < 0)
		return FAIL_SYS(e, "%s", dir);
	(void)snprintf(ret->path, sizeof(ret->path), "%s", dir);
	ret->log_fd = openat(fd, "log", DIRECTORY);
	if (ret->log_fd < 0 && errno == ENOENT) {
		state_fd = take_fd(&fd);
		fd = openat(state_fd, "audit", DIRECTORY);
		if (fd < 0 && errno == ENOENT)
			return FAIL(e, ERROR_USAGE,
			    "%s: holds neither log/ nor audit/, so no log is "
			    "here; name the folder of one",
			    dir);
		if (fd < 0)
			return FAIL_SYS(e, "%s/audit", dir);
		if (join(ret->path, dir, "audit", e) < 0)
			return -1;
		ret->log_fd = openat(fd, "log", DIRECTORY);
	}
	if (ret->log_fd < 0)
		return FAIL_SYS(e, "%s/log", ret->path);
	ret->audit_fd = take_fd(&fd);
	return open_results(ret, state_fd, dir, results, e);
}

int audit_place_open(const char *dir, const char *results,
    struct audit_place *ret, struct error *e)
{
	char state[AUDIT_PATH_MAX];

	*ret = (struct audit_place)AUDIT_PLACE_NONE;
	if (dir == NULL) {
		if (default_state(state, e) < 0)
			return -1;
		dir = state;
	}
	if (open_log(ret, dir, results, e) < 0) {
		audit_place_close(ret);
		return -1;
	}
	open_pins(ret);
	return 0;
}

int audit_place_open_policies(struct audit_place *p, struct error *e)
{
	if (p->results_fd < 0)
		return 0;
	p->policies_fd =
	    openat(p->results_fd, "../policies", DIRECTORY | O_NOFOLLOW);
	if (p->policies_fd < 0 && errno != ENOENT)
		return FAIL_SYS(e,
		    "policies/ beside the results, which must be a folder and "
		    "no link");
	return 0;
}

void audit_place_close(struct audit_place *p)
{
	own_close(&p->audit_fd);
	own_close(&p->log_fd);
	own_close(&p->results_fd);
	own_close(&p->policies_fd);
	for (size_t i = 0; i < PIN_DIRECTORIES; i++)
		own_close(&p->pin_fds[i]);
	*p = (struct audit_place)AUDIT_PLACE_NONE;
}

/* Root needs this one to read what belongs to the signer's account. */
static uint64_t read_capability(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2] = { { 0 } };

	if (syscall(SYS_capget, &header, sets) < 0)
		return 0;
	return sets[0].effective & 1u << CAP_DAC_READ_SEARCH;
}

int audit_confine(const struct audit_place *places, size_t n, struct error *e)
{
	static const struct jail_call calls[] = {
		{ __NR_read, JAIL_ANY, 0 },
		{ __NR_pread64, JAIL_ANY, 0 },
		{ __NR_write, JAIL_ANY, 0 },
		{ __NR_close, JAIL_ANY, 0 },
		{ __NR_fstat, JAIL_ANY, 0 },
		{ __NR_newfstatat, JAIL_ANY, 0 },
		{ __NR_lseek, JAIL_ANY, 0 },
		{ __NR_openat, JAIL_ANY, 0 }, /* Landlock bounds both */
		{ __NR_openat2, JAIL_ANY, 0 },
		{ __NR_getdents64, JAIL_ANY, 0 },
		{ __NR_fcntl, 1, F_GETFL }, /* fdopendir */
		{ __NR_fcntl, 1, F_SETFD },
		{ __NR_flock, JAIL_ANY, 0 },
		{ __NR_mmap, 2, PROT_READ | PROT_WRITE },
		{ __NR_munmap, JAIL_ANY, 0 },
		{ __NR_mremap, JAIL_ANY, 0 },
		{ __NR_brk, JAIL_ANY, 0 },
		{ __NR_madvise, JAIL_ANY, 0 },
		{ __NR_sysinfo, JAIL_ANY, 0 }, /* qsort of much */
		{ __NR_getrandom, JAIL_ANY, 0 },
		{ __NR_clock_nanosleep, JAIL_ANY, 0 }, /* show --follow */
		{ __NR_exit_group, JAIL_ANY, 0 },
	};
	int fds[AUDIT_PLACES_MAX * PLACE_FDS];
	struct jail jail = {
		.capabilities = read_capability(),
		.read_fd = -1,
		.read = JAIL_READ_FILES_AND_DIRECTORIES,
		.n_calls = sizeof(calls) / sizeof(calls[0]),
		.calls = calls,
		.more_fds = fds,
	};

	if (n > AUDIT_PLACES_MAX)
		return FAIL(e, ERROR_LIMIT, "confine: too many places");
	for (size_t i = 0; i < n; i++) {
		const struct audit_place *p = &places[i];
		const int of_place[PLACE_FDS] = { p->audit_fd, p->log_fd,
			p->results_fd, p->policies_fd, p->pin_fds[0],
			p->pin_fds[1] };

		memcpy(fds + jail.n_more, of_place, sizeof(of_place));
		jail.n_more += PLACE_FDS;
	}
	return jail_enter(&jail, e);
}
