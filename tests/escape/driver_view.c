/*
 * tests/escape/driver_view.c - the view sent to the launcher and what every
 * run is handed: code, filters, standard input.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/memfd.h"
#include "driver.h"

static void entry(struct driver *d, uint32_t kind, const char *path,
    const char *target, int fd)
{
	struct launch_entry out = { .kind = kind, .mode = 0755 };
	const struct fd_list fds = { fd >= 0 ? 1 : 0, { fd } };

	(void)snprintf(out.path, sizeof(out.path), "%s", path);
	(void)snprintf(out.target, sizeof(out.target), "%s", target);
	driver_tell(d, LAUNCH_ENTRY, &out, &fds);
}

static void send_view(struct driver *d)
{
	static const char passwd[] = "sandbox:x:1000:1000::/sandbox:/bin/sh\n";
	static const char *const links[] = { "bin", "lib", "lib64", "sbin" };
	/* With faults, what a run calls is to be its own and in order. */
	struct launch_build build = { .landlock_min_abi = 1,
		.ahead = d->o.faults && !d->o.ahead ? 0 : 1,
		.flags = driver_flags(&d->o) };
	const struct fd_list filter = { 1, { d->init_filter_fd } };
	struct error e;
	int fd = open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		driver_die("/usr", NULL);
	entry(d, ENTRY_TREE, "usr", "", fd);
	(void)close(fd);
	for (size_t i = 0; i < 4; i++) {
		char target[32];

		(void)snprintf(target, sizeof(target), "usr/%s", links[i]);
		entry(d, ENTRY_SYMLINK, links[i], target, -1);
	}
	entry(d, ENTRY_DIRECTORY, "etc", "", -1);
	if (memfd_of("passwd", passwd, sizeof(passwd) - 1, &fd, &e) < 0)
		driver_die("passwd", &e);
	entry(d, ENTRY_FILE, "etc/passwd", "", fd);
	(void)close(fd);
	fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		entry(d, ENTRY_FILE, "etc/ld.so.cache", "", fd);
		(void)close(fd);
	}
	if (d->o.entry != NULL)
		entry(d, ENTRY_DIRECTORY, d->o.entry, "", -1);
	if (d->o.whiteout != NULL)
		entry(d, ENTRY_WHITEOUT, d->o.whiteout, "", -1);
	if (getrandom(build.instance, sizeof(build.instance), 0) < 0)
		driver_die("getrandom", NULL);
	printf("instance ");
	for (size_t i = 0; i < sizeof(build.instance); i++)
		printf("%02x", build.instance[i]);
	printf("\n");
	driver_tell(d, LAUNCH_BUILD, &build, &filter);
}

void view_build(struct driver *d)
{
	struct fd_list none;
	uint16_t verb;

	send_view(d);
	verb = driver_hear(d, &d->channel, &launch_reply_protocol, &none);
	if (verb == LAUNCH_FAILED)
		show_failed("build-failed", &d->in.failed);
	if (d->o.start.when == FAULT_START)
		faults_show_start(d);
	if (verb != LAUNCH_READY) {
		printf("not-ready %u\n", verb);
		faults_await_end(d);
		exit(1);
	}
	if (d->o.start.when == FAULT_START)
		show_file("launch", (unsigned long)d->launch, "status");
	if (d->o.start.when == FAULT_START)
		show_file("launch", (unsigned long)d->launch, "mountinfo");
	printf("ready landlock=%u cgroup=%s\n", d->in.ready.landlock_abi,
	    d->in.ready.cgroup_mode);
	printf("launch %d\n", (int)d->launch);
}

static int file_as_memfd(const char *path)
{
	struct error e;
	uint64_t size;
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int fd;

	if (from < 0)
		driver_die(path, NULL);
	if (memfd_copy(from, 16u << 20, &fd, &size, &e) < 0)
		driver_die(path, &e);
	(void)close(from);
	return fd;
}

static int filter_as_memfd(const struct filter *f)
{
	struct error e;
	int fd;

	if (memfd_of("filter", f->code, f->len * sizeof(f->code[0]), &fd, &e) <
	    0)
		driver_die("filter", &e);
	return fd;
}

void view_prepare(struct driver *d)
{
	const struct capabilities all = { .subprocess = true,
		.threads = true,
		.loopback = d->o.loopback,
		.exec_memory = true };
	struct error e;

	if (d->o.filter != NULL) {
		d->filter_fd = file_as_memfd(d->o.filter);
	} else {
		if (filter_compile(&all, &d->filter, &e) < 0)
			driver_die("compile", &e);
		d->filter_fd = filter_as_memfd(&d->filter);
	}
	if (filter_compile_init(&d->filter, &e) < 0)
		driver_die("compile init", &e);
	d->init_filter_fd = filter_as_memfd(&d->filter);
	d->code_fd = file_as_memfd(d->o.code != NULL ? d->o.code : "/dev/null");
	if (memfd_of("stdin", "from stdin\n", 11, &d->stdin_fd, &e) < 0)
		driver_die("stdin", &e);
	if (memfd_of("input", "an input\n", 9, &d->input_fd, &e) < 0)
		driver_die("input", &e);
}
