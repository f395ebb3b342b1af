/*
 * tests/escape/driver_show.c - prints what the kernel says of a run and of the
 * launcher.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

void show_failed(const char *what, const struct launch_failed *f)
{
	printf("%s step=%s errno=%u text=%s remedy=%s\n", what, f->step,
	    f->saved_errno, f->text, f->remedy);
}

void show_file(const char *what, unsigned long pid, const char *name)
{
	char path[64];
	char line[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%lu/%s", pid, name);
	f = fopen(path, "r");
	if (f == NULL) {
		printf("%s %s unreadable\n", what, name);
		return;
	}
	while (fgets(line, sizeof(line), f) != NULL)
		printf("%s %s %s", what, name, line);
	(void)fclose(f);
}

static void show_links(const char *what, unsigned long pid, const char *dir,
    const char *const *names)
{
	for (; *names != NULL; names++) {
		char path[64];
		char target[256];
		ssize_t n;

		(void)snprintf(
		    path, sizeof(path), "/proc/%lu/%s/%s", pid, dir, *names);
		n = readlink(path, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		printf("%s %s/%s %s\n", what, dir, *names, target);
	}
}

static unsigned long pid_of(int pid_fd)
{
	char path[64];
	char line[128];
	unsigned long pid = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pid_fd);
	f = fopen(path, "r");
	if (f == NULL)
		driver_die(path, NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Pid:", 4) == 0)
			pid = strtoul(line + 4, NULL, 10);
	(void)fclose(f);
	return pid;
}

void show_fds(unsigned long pid)
{
	char command[96];

	(void)fflush(stdout);
	(void)snprintf(command, sizeof(command), "/proc/%lu/fd", pid);
	printf("program fds");
	for (int fd = 0; fd < 4200; fd++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/%d", command, fd);
		if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			printf(" %d", fd);
	}
	printf("\n");
}

void show_posture(struct one *one)
{
	static const char *const ns[] = { "cgroup", "ipc", "mnt", "net", "pid",
		"user", "uts", NULL };
	static const char *const files[] = { "status", "limits", "mountinfo",
		"uid_map", "gid_map", "setgroups", "cgroup", NULL };
	unsigned long pid = pid_of(one->program_fd);

	printf("program pid %lu\n", pid);
	for (size_t i = 0; files[i] != NULL; i++)
		show_file("program", pid, files[i]);
	show_links("program", pid, "ns", ns);
	show_fds(pid);
	show_file("init", one->started.init_pid, "status");
	printf("ids init=%u program=%u\n", one->started.init_uid,
	    one->started.program_uid);
}

void show_output(const char *name, int fd)
{
	char block[4096];
	size_t total = 0;
	ssize_t n = 0;

	(void)fflush(stdout);
	while (total < 65536 && (n = read(fd, block, sizeof(block))) > 0) {
		total += (size_t)n;
		for (ssize_t i = 0; i < n; i++)
			(void)putchar(block[i]);
	}
	printf("%s end %zu\n", name, total);
}

static void show_counter(const char *name, int fd)
{
	char text[1024];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		driver_die(name, NULL);
	text[n] = '\0';
	for (char *p = text; *p != '\0'; p++)
		*p = *p == '\n' ? ' ' : *p;
	printf("counter %s %s\n", name, text);
}

void show_counters(const struct one *one)
{
	show_counter("events", one->fd[LAUNCH_FD_EVENTS]);
	show_counter("cpu", one->fd[LAUNCH_FD_CPU]);
	show_counter("memory-peak", one->fd[LAUNCH_FD_MEMORY_PEAK]);
	show_counter("memory-oom", one->fd[LAUNCH_FD_MEMORY_OOM]);
	show_counter("pids-peak", one->fd[LAUNCH_FD_PIDS_PEAK]);
	show_counter("pids-events", one->fd[LAUNCH_FD_PIDS_EVENTS]);
}

void show_scratch(const struct one *one)
{
	int dir = openat(
	    one->fd[LAUNCH_FD_SCRATCH], "sandbox/main", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0)
		driver_die("scratch", NULL);
	printf("scratch main uid=%u mode=%o size=%ld write=%s\n", st.st_uid,
	    st.st_mode & 07777, (long)st.st_size,
	    mkdirat(one->fd[LAUNCH_FD_SCRATCH], "sandbox/x", 0700) < 0
	        ? strerror(errno)
	        : "yes");
	(void)close(dir);
}

static unsigned int count_fds(pid_t pid)
{
	char path[64];
	unsigned int n = 0;

	for (int fd = 0; fd < 512; fd++) {
		(void)snprintf(
		    path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			n++;
	}
	return n;
}

/* It makes the next sandbox ahead: at rest is when the number stays. */
static unsigned int settled_fds(pid_t pid)
{
	unsigned int n = count_fds(pid);
	int same = 0;

	for (int i = 0; i < 500 && same < 20; i++) {
		unsigned int now = count_fds(pid);

		same = now == n ? same + 1 : 0;
		n = now;
		(void)poll(NULL, 0, 10);
	}
	return n;
}

void show_launch(const struct driver *d)
{
	static const char *const rows[] = { "VmRSS:", "RssAnon:" };
	char path[64];
	char line[512];
	unsigned int n_fds = settled_fds(d->launch);
	unsigned int n_mounts = 0;
	FILE *f;

	(void)snprintf(
	    path, sizeof(path), "/proc/%d/mountinfo", (int)d->launch);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n_mounts++;
	if (f != NULL)
		(void)fclose(f);
	printf("launch-holds fds=%u mounts=%u\n", n_fds, n_mounts);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)d->launch);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		for (size_t i = 0; i < 2; i++)
			if (strncmp(line, rows[i], strlen(rows[i])) == 0)
				printf("launch-%s", line);
	if (f != NULL)
		(void)fclose(f);
}
