/*
 * executor/posture.c - reads /proc/<pid> of a stopped program.  Linked by the
 * supervisor.
 */
#include "executor/posture.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/own.h"

#define FILE_MAX 65536

/* Each must be another one than ours. */
static const char *const namespaces[POSTURE_NAMESPACES] = { "cgroup", "ipc",
	"mnt", "net", "pid", "user", "uts" };

static int read_text(int dir_fd, const char *name, char **ret, struct error *e)
{
	AUTO_FD fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	uint8_t *data;
	size_t len;

	if (fd < 0)
		return FAIL_SYS(e, "open %s", name);
	if (file_read_all(fd, FILE_MAX, &data, &len, e) < 0)
		return FAIL_IN(e, "%s", name);
	*ret = (char *)data;
	return 0;
}

static int namespace_ino(
    int dir_fd, const char *name, uint64_t *ret, struct error *e)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "ns/%s", name);
	if (fstatat(dir_fd, path, &st, 0) < 0)
		return FAIL_SYS(e, "stat %s", path);
	*ret = st.st_ino;
	return 0;
}

/* The number behind "key:" in a text of lines. */
static int number_after(
    const char *text, const char *key, uint64_t *ret, struct error *e)
{
	const struct number_range range = { 0, UINT32_MAX };
	const char *at = strstr(text, key);
	char digits[16] = "";
	size_t n;

	if (at == NULL)
		return FAIL(e, ERROR_MALFORMED, "no %s", key);
	at += strlen(key);
	at += strspn(at, " \t");
	n = strspn(at, "-0123456789");
	if (n >= sizeof(digits))
		return FAIL(e, ERROR_MALFORMED, "bad %s", key);
	memcpy(digits, at, n);
	return number_parse(digits, key, range, ret, e);
}

/* The words of our line "Groups:", as posture_text_status puts them. */
static void own_groups(const char *status, char ret[POSTURE_LINE_MAX])
{
	const char *at = strstr(status, "\nGroups:");
	size_t len = 0;

	ret[0] = '\0';
	at = at != NULL ? at + sizeof("\nGroups:") - 1 : "";
	for (at += strspn(at, " \t"); *at != '\n' && *at != '\0';
	     at += strspn(at, " \t")) {
		size_t n = strcspn(at, " \t\n");

		if (len + n + 2 > POSTURE_LINE_MAX)
			return; /* differs then, and nothing runs */
		ret[len++] = ' ';
		memcpy(ret + len, at, n);
		len += n;
		ret[len] = '\0';
		at += n;
	}
}

int posture_self(struct posture_self *ret, struct error *e)
{
	AUTO_FD proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD self_fd = -1;
	AUTO_FREE char *status = NULL;
	uint64_t filters;

	if (proc_fd < 0)
		return FAIL_SYS(e, "open /proc");
	self_fd = openat(proc_fd, "self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (self_fd < 0)
		return FAIL_SYS(e, "open /proc/self");
	for (size_t i = 0; i < POSTURE_NAMESPACES; i++)
		if (namespace_ino(
		        self_fd, namespaces[i], &ret->namespace_ino[i], e) < 0)
			return -1;
	if (read_text(self_fd, "status", &status, e) < 0 ||
	    number_after(status, "\nSeccomp_filters:", &filters, e) < 0)
		return FAIL_IN(e, "/proc/self");
	own_groups(status, ret->groups);
	ret->found = malloc(POSTURE_TEXT_MAX);
	ret->expected = malloc(POSTURE_TEXT_MAX);
	if (ret->found == NULL || ret->expected == NULL)
		return FAIL_SYS(e, "allocate posture texts");
	ret->filters = (uint32_t)filters;
	ret->proc_fd = take_fd(&proc_fd);
	return 0;
}

int posture_pid(const struct posture_self *self, int pid_fd, uint32_t *ret_pid,
    struct error *e)
{
	char path[48];
	AUTO_FREE char *text = NULL;
	uint64_t pid;

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pid_fd);
	if (read_text(self->proc_fd, path, &text, e) < 0)
		return -1;
	/* -1 once it has been reaped, 0 if it is in no namespace of ours. */
	if (number_after(text, "\nPid:", &pid, e) < 0 || pid == 0)
		return FAIL(e, ERROR_STATE, "the program has ended");
	*ret_pid = (uint32_t)pid;
	return 0;
}

static int put_namespaces(int dir_fd, const struct posture_self *self,
    struct text_out *out, struct error *e)
{
	for (size_t i = 0; i < POSTURE_NAMESPACES; i++) {
		uint64_t ino;

		if (namespace_ino(dir_fd, namespaces[i], &ino, e) < 0 ||
		    text_printf(out, e, "namespace %s %s\n", namespaces[i],
		        ino != self->namespace_ino[i] ? "own" : "shared") < 0)
			return -1;
	}
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

#define FDS_MAX 64

/* fdinfo, not fd: it asks for CAP_SYS_PTRACE only (Linux 5.14), where the mode
 * of fd would ask for CAP_DAC_READ_SEARCH as well. */
static int put_descriptors(int dir_fd, struct text_out *out, struct error *e)
{
	int fd = openat(dir_fd, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *d;
	int numbers[FDS_MAX];
	size_t n = 0;
	int failed = 0;

	if (dir == NULL) {
		own_close(&fd);
		return FAIL_SYS(e, "open fdinfo");
	}
	/* A table longer than ours differs from ours: the rest may be cut. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
	while (n < FDS_MAX && (d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.')
			numbers[n++] = (int)strtol(d->d_name, NULL, 10);
	(void)closedir(dir);
	if (n > 0)
		qsort(numbers, n, sizeof(numbers[0]), compare_numbers);
	failed = text_printf(out, e, "descriptors");
	for (size_t i = 0; failed == 0 && i < n; i++)
		failed = text_printf(out, e, " %d", numbers[i]);
	return failed == 0 ? text_printf(out, e, "\n") : -1;
}

/* Of its parent: pid 1 of the run, which is confined before it says STOPPED. */
static int put_init(const char *status, const struct posture_self *self,
    const struct posture_names *names, struct text_out *out, struct error *e)
{
	AUTO_FREE char *text = NULL;
	char path[32];
	uint64_t pid;

	if (number_after(status, "\nPPid:", &pid, e) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%" PRIu64 "/status", pid);
	if (read_text(self->proc_fd, path, &text, e) < 0)
		return -1;
	return posture_text_init(text, names, out, e);
}

/* The parts of the text that come from one file each, in order. */
static int put_bounds(const char *limits, const char *cgroup,
    const struct posture_names *names, struct text_out *out, struct error *e)
{
	if (posture_text_limits(limits, out, e) < 0)
		return -1;
	if (names->expected->lone)
		return posture_text_memory(limits, out, e);
	return posture_text_cgroup(cgroup, names, out, e);
}

static int put_files(int dir_fd, const struct posture_self *self,
    const struct posture_names *names, struct text_out *out, struct error *e)
{
	AUTO_FREE char *status = NULL;
	AUTO_FREE char *uid_map = NULL;
	AUTO_FREE char *gid_map = NULL;
	AUTO_FREE char *setgroups_text = NULL;
	AUTO_FREE char *limits = NULL;
	AUTO_FREE char *cgroup = NULL;
	AUTO_FREE char *mounts = NULL;

	if (read_text(dir_fd, "status", &status, e) < 0 ||
	    read_text(dir_fd, "uid_map", &uid_map, e) < 0 ||
	    read_text(dir_fd, "gid_map", &gid_map, e) < 0 ||
	    read_text(dir_fd, "setgroups", &setgroups_text, e) < 0 ||
	    read_text(dir_fd, "limits", &limits, e) < 0 ||
	    read_text(dir_fd, "cgroup", &cgroup, e) < 0 ||
	    read_text(dir_fd, "mountinfo", &mounts, e) < 0)
		return -1;
	if (posture_text_status(status, names, out, e) < 0 ||
	    put_init(status, self, names, out, e) < 0 ||
	    put_namespaces(dir_fd, self, out, e) < 0 ||
	    posture_text_map("uid_map", uid_map, names, out, e) < 0 ||
	    posture_text_map("gid_map", gid_map, names, out, e) < 0 ||
	    posture_text_map("setgroups", setgroups_text, names, out, e) < 0)
		return -1;
	if (put_bounds(limits, cgroup, names, out, e) < 0 ||
	    put_descriptors(dir_fd, out, e) < 0 ||
	    text_printf(out, e, "landlock %u\nsteps %u\n", names->landlock_abi,
	        names->steps) < 0)
		return -1;
	return posture_text_mounts(mounts, names, out, e);
}

int posture_check(const struct posture_self *self, int pid_fd,
    const struct posture_names *names, struct posture *ret, struct error *e)
{
	/* One byte is left for the NUL. */
	struct text_out found = { self->found, POSTURE_TEXT_MAX - 1, 0 };
	struct text_out expected = { self->expected, POSTURE_TEXT_MAX - 1, 0 };
	struct pollfd ended = { .fd = pid_fd, .events = POLLIN };
	char path[16];
	uint32_t pid;
	AUTO_FD dir_fd = -1;

	if (posture_pid(self, pid_fd, &pid, e) < 0)
		return FAIL_IN(e, "posture");
	(void)snprintf(path, sizeof(path), "%u", pid);
	dir_fd = openat(self->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return FAIL_SYS(e, "posture: open /proc/%u", pid);
	if (put_files(dir_fd, self, names, &found, e) < 0 ||
	    posture_text_expected(names->expected, &expected, e) < 0)
		return FAIL_IN(e, "posture");
	/* Still there, so the number meant this process all along. */
	if (poll(&ended, 1, 0) != 0)
		return FAIL(e, ERROR_STATE, "posture: the program has ended");
	found.data[found.len] = '\0';
	expected.data[expected.len] = '\0';
	sha256_of(found.data, found.len, ret->sha256);
	return posture_text_compare(expected.data, found.data, &ret->facts, e);
}
