/*
 * tests/escape/launch_driver.c - plays the supervisor to bailiff-launch: sends
 * a view of this host's /usr, starts runs, prints what it sees.
 *
 *   launch_driver LAUNCH [option...] PROGRAM [ARGUMENT...]
 *     -c FILE   code, copied to /sandbox/main (default: empty)
 *     -n N      runs, one after another (default 1)
 *     -C N      runs at once
 *     -m -p -o -f -s -i -w -u NUMBER   memory, pids, open files, file size,
 *               scratch bytes, inodes, wall ms, cpu ms
 *     -X        no code from the scratch
 *     -L        no loopback, no network rights of Landlock
 *     -F FILE   take this as the program's filter
 *     -I NAME   an input of that name
 *     -E PATH   a further entry of the view, a directory of that path
 *     -W PATH   a whiteout of that path
 *     -S        print the posture of the stopped program and of pid 1
 *     -B        wait for one byte on standard input before each run
 *     -H        hold: never open the gate, wait for a signal
 *     -R        send requests that must be refused, print the replies
 *     -h KIND   start a helper (1 opener, 2 collect), print its status
 *     -Q        read faults from standard input, a line "ROLE CALL OCCURRENCE
 *               ERRNO" for each run (fault.h; role "-": list the calls made),
 *               print what became of it up to a line "case-end"
 *     -K "CALL OCCURRENCE ERRNO"   a fault while the launcher starts; 0 0 0:
 *               list the calls made until it is ready
 *     -x NAME   abuse: kill-launch, close-gate, drop-channel
 *
 * Prints one "key value" line for each thing seen.  Exit 0 if the conversation
 * went as the protocol says, whatever became of the program.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/file.h"
#include "base/memfd.h"
#include "executor/launch.h"
#include "fault.h"
#include "policy/filter.h"

#define RUNS_MAX 16

struct options {
	const char *launch, *code, *filter, *input, *abuse, *entry, *whiteout;
	char **program;
	unsigned long runs, at_once, helper;
	struct fault start;
	bool show, hold, wait, loopback, refuse, no_exec, faults;
	struct launch_run limits;
};

struct one {
	struct launch_started started;
	int fd[LAUNCH_FD_STARTED_N];
	int out_fd, err_fd, program_fd;
};

struct driver {
	struct options o;
	struct channel channel, status;
	pid_t launch;
	int code_fd, stdin_fd, filter_fd, init_filter_fd, input_fd;
	struct launch_run run;
	struct filter filter;
	union {
		struct launch_ready ready;
		struct launch_started started;
		struct launch_failed failed;
		struct launch_release released;
		struct launch_stopped stopped;
		struct launch_ended ended;
	} in;
	struct one ones[RUNS_MAX];
	uint64_t next;
	struct fault_report report;
	double t0; /* of the batch */
};

static _Noreturn void die(const char *what, const struct error *e)
{
	(void)fflush(stdout);
	(void)fprintf(stderr, "driver: %s: %s\n", what,
	    e != NULL ? e->text : strerror(errno));
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void tell(struct driver *d, uint16_t verb, const void *message,
    const struct fd_list *fds)
{
	const struct channel_send what = { &launch_protocol, verb, message,
		fds };
	struct error e;

	if (channel_send(&d->channel, &what, &e) < 0 &&
	    !(d->o.start.at_start && e.kind == ERROR_CLOSED))
		die("send", &e);
}

static uint16_t hear(struct driver *d, struct channel *c,
    const struct wire_protocol *protocol, struct fd_list *fds)
{
	const struct channel_receive what = { protocol, LAUNCH_FD_STARTED_N,
		{ &d->in, sizeof(d->in) } };
	struct error e;
	uint16_t verb = 0;

	fds->n = 0;
	if (channel_receive(c, &what, &verb, fds, &e) < 0) {
		if (d->o.faults && e.kind == ERROR_SYSTEM)
			return 0;
		if (e.kind == ERROR_CLOSED)
			return 0;
		die("receive", &e);
	}
	return verb;
}

static void show_failed(const char *what, const struct launch_failed *f)
{
	printf("%s step=%s errno=%u text=%s remedy=%s\n", what, f->step,
	    f->saved_errno, f->text, f->remedy);
}

static void start_launch(struct driver *d)
{
	struct error e;
	int ends[2];

	int traced[2];

	if (channel_pair(ends, &e) < 0 || channel_pair(traced, &e) < 0)
		die("channel", &e);
	d->launch = fork();
	if (d->launch < 0)
		die("fork", NULL);
	if (d->launch == 0) {
		char name[] = "bailiff-launch";
		char *argv[] = { name, NULL };
		char *env[] = { NULL };
		char go;

		(void)close(traced[0]);
		if (read(traced[1], &go, 1) < 0)
			_exit(1);

		if (dup2(ends[1], 3) < 0 || fcntl(3, F_SETFD, 0) < 0)
			_exit(1);
		(void)execve(d->o.launch, argv, env);
		_exit(127);
	}
	(void)close(ends[1]);
	d->channel.fd = ends[0];
	if (d->o.faults && fault_trace(d->launch, 3,
	                       d->o.start.at_start ? &d->o.start : NULL) < 0)
		die("trace", NULL);
	(void)close(traced[0]);
	(void)close(traced[1]);
}

static void entry(struct driver *d, uint32_t kind, const char *path,
    const char *target, int fd)
{
	struct launch_entry out = { .kind = kind, .mode = 0755 };
	const struct fd_list fds = { fd >= 0 ? 1 : 0, { fd } };

	(void)snprintf(out.path, sizeof(out.path), "%s", path);
	(void)snprintf(out.target, sizeof(out.target), "%s", target);
	tell(d, LAUNCH_ENTRY, &out, &fds);
}

static void send_view(struct driver *d)
{
	static const char passwd[] = "sandbox:x:1000:1000::/sandbox:/bin/sh\n";
	static const char *const links[] = { "bin", "lib", "lib64", "sbin" };
	/* With faults, what a run calls is to be its own and in order. */
	struct launch_build build = { .landlock_min_abi = 1,
		.ahead = d->o.faults ? 0 : 1 };
	struct error e;
	int fd = open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die("/usr", NULL);
	entry(d, ENTRY_TREE, "usr", "", fd);
	(void)close(fd);
	for (size_t i = 0; i < 4; i++) {
		char target[32];

		(void)snprintf(target, sizeof(target), "usr/%s", links[i]);
		entry(d, ENTRY_SYMLINK, links[i], target, -1);
	}
	entry(d, ENTRY_DIRECTORY, "etc", "", -1);
	if (memfd_of("passwd", passwd, sizeof(passwd) - 1, &fd, &e) < 0)
		die("passwd", &e);
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
		die("getrandom", NULL);
	printf("instance ");
	for (size_t i = 0; i < sizeof(build.instance); i++)
		printf("%02x", build.instance[i]);
	printf("\n");
	tell(d, LAUNCH_BUILD, &build, NULL);
}

/* Ours and dead; with a tracer, who reaps it, once that one has let go. */
static bool is_gone(const struct driver *d)
{
	siginfo_t dead = { 0 };
	char path[32];

	if (!d->o.faults)
		return waitid(P_PID, (id_t)d->launch, &dead,
		           WEXITED | WNOHANG | WNOWAIT) == 0 &&
		       dead.si_pid == d->launch;
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)d->launch);
	return faccessat(AT_FDCWD, path, F_OK, 0) != 0;
}

/*
 * A launcher that ends by itself is to clean up first, and would be killed
 * with its tracer.
 */
static void await_launch(struct driver *d)
{
	(void)shutdown(d->channel.fd, SHUT_RDWR);
	for (int i = 0; i < 1000 && !is_gone(d); i++)
		(void)poll(NULL, 0, 10);
	printf("launch-gone %s\n", is_gone(d) ? "yes" : "no");
	(void)fflush(stdout);
}

static void show_calls(const struct fault_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		printf("call %c %ld %u %ld %llx %llx\n", r->calls[i].role,
		    r->calls[i].number, r->calls[i].occurrence,
		    r->calls[i].result, (unsigned long long)r->calls[i].args[0],
		    (unsigned long long)r->calls[i].args[1]);
}

static void show_file(const char *what, unsigned long pid, const char *name)
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

static void build(struct driver *d)
{
	struct fd_list none;
	uint16_t verb;

	send_view(d);
	verb = hear(d, &d->channel, &launch_reply_protocol, &none);
	if (verb == LAUNCH_FAILED)
		show_failed("build-failed", &d->in.failed);
	if (d->o.start.at_start) {
		fault_disarm(&d->report);
		if (d->o.start.occurrence == 0)
			show_calls(&d->report);
		printf("hit %d\n", d->report.hit ? 1 : 0);
	}
	if (verb != LAUNCH_READY) {
		printf("not-ready %u\n", verb);
		await_launch(d);
		exit(1);
	}
	if (d->o.start.at_start)
		show_file("launch", (unsigned long)d->launch, "status");
	if (d->o.start.at_start)
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
		die(path, NULL);
	if (memfd_copy(from, 16u << 20, &fd, &size, &e) < 0)
		die(path, &e);
	(void)close(from);
	return fd;
}

static int filter_as_memfd(const struct filter *f)
{
	struct error e;
	int fd;

	if (memfd_of("filter", f->code, f->len * sizeof(f->code[0]), &fd, &e) <
	    0)
		die("filter", &e);
	return fd;
}

static void prepare(struct driver *d)
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
			die("compile", &e);
		d->filter_fd = filter_as_memfd(&d->filter);
	}
	if (filter_compile_init(&d->filter, &e) < 0)
		die("compile init", &e);
	d->init_filter_fd = filter_as_memfd(&d->filter);
	d->code_fd = file_as_memfd(d->o.code != NULL ? d->o.code : "/dev/null");
	if (memfd_of("stdin", "from stdin\n", 11, &d->stdin_fd, &e) < 0)
		die("stdin", &e);
	if (memfd_of("input", "an input\n", 9, &d->input_fd, &e) < 0)
		die("input", &e);
}

static void put_words(char **from, uint8_t *to, uint64_t *len)
{
	*len = 0;
	for (; *from != NULL; from++) {
		size_t n = strlen(*from) + 1;

		memcpy(to + *len, *from, n);
		*len += n;
	}
}

static void ask(struct driver *d, struct one *one)
{
	char path_env[] = "PATH=/usr/bin:/bin";
	char *env[] = { path_env, NULL };
	struct launch_run *r = &d->run;
	struct fd_list fds = { .n = LAUNCH_FD_INPUTS };
	int out[2];
	int err[2];

	*r = d->o.limits;
	r->run = ++d->next;
	r->flags = d->o.loopback ? LAUNCH_LOOPBACK : LAUNCH_LANDLOCK_NET;
	if (d->o.no_exec)
		r->flags |= LAUNCH_NOEXEC;
	(void)snprintf(r->program, sizeof(r->program), "%s", d->o.program[0]);
	(void)snprintf(r->source, sizeof(r->source), "main");
	put_words(d->o.program, r->argv.data, &r->argv.len);
	put_words(env, r->env.data, &r->env.len);
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		die("pipe", NULL);
	fds.fd[LAUNCH_FD_CODE] = d->code_fd;
	fds.fd[LAUNCH_FD_STDIN] = d->stdin_fd;
	fds.fd[LAUNCH_FD_STDOUT] = out[1];
	fds.fd[LAUNCH_FD_STDERR] = err[1];
	fds.fd[LAUNCH_FD_FILTER] = d->filter_fd;
	fds.fd[LAUNCH_FD_INIT_FILTER] = d->init_filter_fd;
	if (d->o.input != NULL) {
		(void)snprintf(r->inputs.items[0].name,
		    sizeof(r->inputs.items[0].name), "%s", d->o.input);
		r->inputs.n = 1;
		fds.fd[fds.n++] = d->input_fd;
	}
	tell(d, LAUNCH_RUN, r, &fds);
	(void)close(out[1]);
	(void)close(err[1]);
	one->out_fd = out[0];
	one->err_fd = err[0];
}

/* False if the run was refused. */
static bool started(struct driver *d)
{
	struct fd_list fds;
	struct one *one;
	uint16_t verb = hear(d, &d->channel, &launch_reply_protocol, &fds);

	if (verb == LAUNCH_FAILED) {
		show_failed("failed", &d->in.failed);
		return false;
	}
	if (verb != LAUNCH_STARTED || fds.n != LAUNCH_FD_STARTED_N) {
		printf("not-started %u\n", verb);
		exit(1);
	}
	one = &d->ones[d->in.started.run % RUNS_MAX];
	one->started = d->in.started;
	memcpy(one->fd, fds.fd, sizeof(one->fd));
	return true;
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
		die(path, NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Pid:", 4) == 0)
			pid = strtoul(line + 4, NULL, 10);
	(void)fclose(f);
	return pid;
}

static void show_fds(unsigned long pid)
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

static void show_posture(struct one *one)
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

/* True at the stop, false if a step failed. */
static bool stopped(struct driver *d, struct one *one)
{
	struct fd_list fds;
	uint16_t verb;

	d->status.fd = one->fd[LAUNCH_FD_STATUS];
	verb = hear(d, &d->status, &launch_status_protocol, &fds);
	if (verb == LAUNCH_STEP_FAILED)
		show_failed("step-failed", &d->in.failed);
	else if (verb != LAUNCH_STOPPED || fds.n != 1)
		printf("not-stopped %u\n", verb);
	if (verb != LAUNCH_STOPPED || fds.n != 1)
		return false;
	one->program_fd = fds.fd[0];
	printf("stopped steps=%u landlock=%u\n", d->in.stopped.steps,
	    d->in.stopped.landlock_abi);
	return true;
}

static void drain(const char *name, int fd)
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
		die(name, NULL);
	text[n] = '\0';
	for (char *p = text; *p != '\0'; p++)
		*p = *p == '\n' ? ' ' : *p;
	printf("counter %s %s\n", name, text);
}

static void show_counters(const struct one *one)
{
	show_counter("events", one->fd[LAUNCH_FD_EVENTS]);
	show_counter("cpu", one->fd[LAUNCH_FD_CPU]);
	show_counter("memory-peak", one->fd[LAUNCH_FD_MEMORY_PEAK]);
	show_counter("memory-oom", one->fd[LAUNCH_FD_MEMORY_OOM]);
	show_counter("pids-peak", one->fd[LAUNCH_FD_PIDS_PEAK]);
	show_counter("pids-events", one->fd[LAUNCH_FD_PIDS_EVENTS]);
}

static void show_scratch(const struct one *one)
{
	int dir = openat(
	    one->fd[LAUNCH_FD_SCRATCH], "sandbox/main", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0)
		die("scratch", NULL);
	printf("scratch main uid=%u mode=%o size=%ld write=%s\n", st.st_uid,
	    st.st_mode & 07777, (long)st.st_size,
	    mkdirat(one->fd[LAUNCH_FD_SCRATCH], "sandbox/x", 0700) < 0
	        ? strerror(errno)
	        : "yes");
	(void)close(dir);
}

static void ended(struct driver *d, struct one *one)
{
	struct fd_list fds;
	struct pollfd dead = { one->fd[LAUNCH_FD_INIT], POLLIN, 0 };
	uint16_t verb;

	d->status.fd = one->fd[LAUNCH_FD_STATUS];
	verb = hear(d, &d->status, &launch_status_protocol, &fds);
	printf("ms-to-end %.3f\n", now_ms() - d->t0);
	if (verb == LAUNCH_ENDED)
		printf("ended kind=%u value=%u wall=%u\n",
		    d->in.ended.exit_kind, d->in.ended.exit_value,
		    d->in.ended.wall);
	else if (verb == LAUNCH_STEP_FAILED)
		show_failed("step-failed", &d->in.failed);
	else
		printf("ended-silent %u\n", verb);
	if (poll(&dead, 1, 20000) != 1)
		die("pid 1 does not die", NULL);
}

/* False if the launcher is gone. */
static bool release(struct driver *d, struct one *one)
{
	struct launch_release out = { one->started.run };
	struct fd_list fds;
	uint16_t verb;

	tell(d, LAUNCH_RELEASE, &out, NULL);
	verb = hear(d, &d->channel, &launch_reply_protocol, &fds);
	if (verb == LAUNCH_FAILED)
		show_failed("release-failed", &d->in.failed);
	else
		printf("released %s\n",
		    verb == LAUNCH_RELEASED && d->in.released.run == out.run
		        ? "yes"
		        : "no");
	for (size_t i = 0; i < LAUNCH_FD_STARTED_N; i++)
		(void)close(one->fd[i]);
	(void)close(one->program_fd);
	(void)close(one->out_fd);
	(void)close(one->err_fd);
	return verb != 0;
}

static void abuse(struct driver *d, struct one *one)
{
	if (strcmp(d->o.abuse, "kill-launch") == 0)
		(void)kill(d->launch, SIGKILL);
	if (strcmp(d->o.abuse, "drop-channel") == 0)
		(void)close(d->channel.fd);
	if (strcmp(d->o.abuse, "close-gate") == 0)
		(void)close(one->fd[LAUNCH_FD_GATE]);
}

static void go(struct driver *d, struct one *one)
{
	if (d->o.abuse != NULL && strcmp(d->o.abuse, "close-gate") == 0) {
		abuse(d, one);
		return;
	}
	if (write(one->fd[LAUNCH_FD_GATE], "g", 1) != 1 && !d->o.faults)
		die("gate", NULL);
	if (d->o.abuse != NULL)
		abuse(d, one);
}

static void finish(struct driver *d, struct one *one)
{
	drain("stdout", one->out_fd);
	drain("stderr", one->err_fd);
	ended(d, one);
	show_counters(one);
	show_scratch(one);
	if (d->o.abuse == NULL || strcmp(d->o.abuse, "close-gate") == 0)
		(void)release(d, one);
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

static void show_launch(const struct driver *d)
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

/* 'n' runs side by side. */
static void batch(struct driver *d, unsigned long n)
{
	uint64_t first = d->next + 1;
	uint64_t good[RUNS_MAX];
	size_t n_good = 0;
	double t0;
	char byte;

	(void)fflush(stdout);
	if (d->o.wait && read(STDIN_FILENO, &byte, 1) != 1)
		die("no byte to begin", NULL);
	t0 = now_ms();
	d->t0 = t0;
	for (unsigned long i = 0; i < n; i++)
		ask(d, &d->ones[(first + i) % RUNS_MAX]);
	for (unsigned long i = 0; i < n; i++)
		if (started(d))
			good[n_good++] = d->in.started.run;
	for (size_t i = 0; i < n_good; i++) {
		struct one *one = &d->ones[good[i] % RUNS_MAX];

		if (!stopped(d, one)) {
			(void)release(d, one);
			good[i] = 0;
			continue;
		}
		printf("ms-to-stop %.2f\n", now_ms() - t0);
		if (d->o.show)
			show_posture(one);
		if (d->o.hold) {
			(void)fflush(stdout);
			(void)pause();
		}
		go(d, one);
	}
	for (size_t i = 0; i < n_good; i++)
		if (good[i] != 0)
			finish(d, &d->ones[good[i] % RUNS_MAX]);
	printf("ms-whole %.2f\n", now_ms() - t0);
	show_launch(d);
}

/* The child of the launcher that is no sandbox, from the list of them; 0. */
static unsigned long helper_of(const char *children)
{
	unsigned long pid = 0;

	for (char *at = NULL; *children != '\0'; children = at) {
		unsigned long child = strtoul(children, &at, 10);
		char path[64];
		char name[32] = "";
		FILE *f;

		if (at == children)
			break;
		(void)snprintf(path, sizeof(path), "/proc/%lu/comm", child);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL &&
		    (strncmp(name, "bailiff-opener", 14) == 0 ||
		        strncmp(name, "bailiff-collect", 15) == 0))
			pid = child;
		(void)fclose(f);
	}
	return pid;
}

static void start_helper(struct driver *d)
{
	struct launch_helper out = { (uint32_t)d->o.helper };
	struct error e;
	struct fd_list fds = { .n = 1 };
	struct pollfd gone;
	int ends[2];
	char children[64];
	char text[256];
	unsigned long pid = 0;
	FILE *f;

	if (channel_pair(ends, &e) < 0)
		die("channel", &e);
	fds.fd[0] = ends[1];
	tell(d, LAUNCH_HELPER, &out, &fds);
	(void)close(ends[1]);
	gone = (struct pollfd){ ends[0], POLLIN, 0 };
	(void)snprintf(children, sizeof(children), "/proc/%d/task/%d/children",
	    (int)d->launch, (int)d->launch);
	/* It is there once its name is its own. */
	for (int i = 0; i < 500 && poll(&gone, 1, 10) == 0; i++) {
		f = fopen(children, "r");
		if (f == NULL || fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		if (f != NULL)
			(void)fclose(f);
		pid = helper_of(text);
		if (pid != 0 && i > 20)
			break;
	}
	if (gone.revents != 0 || pid == 0) {
		printf("helper-gone\n");
		return;
	}
	show_file("helper", pid, "status");
	show_fds(pid);
	(void)close(ends[0]);
}

/* False if the launcher is gone. */
static bool fault_one(struct driver *d, const struct fault *fault)
{
	const struct pollfd gone = { d->channel.fd, POLLIN, 0 };
	struct one *one = &d->ones[(d->next + 1) % RUNS_MAX];
	struct pollfd now = gone;
	char byte;
	bool stands;

	fault_arm(fault);
	one->program_fd = -1;
	ask(d, one);
	(void)poll(&now, 1, -1);
	if (recv(d->channel.fd, &byte, 1, MSG_PEEK) <= 0) {
		drain("stdout", one->out_fd);
		return false;
	}
	if (!started(d)) {
		drain("stdout", one->out_fd);
		(void)close(one->out_fd);
		(void)close(one->err_fd);
		return true;
	}
	stands = stopped(d, one);
	if (stands && d->o.show)
		show_posture(one);
	if (stands)
		go(d, one);
	drain("stdout", one->out_fd);
	if (stands)
		ended(d, one);
	now = gone;
	if (poll(&now, 1, 0) != 0)
		return false;
	return release(d, one);
}

static void faults(struct driver *d)
{
	char line[80];
	bool alive = true;

	while (alive && fgets(line, sizeof(line), stdin) != NULL) {
		struct fault fault = { 0 };

		if (sscanf(line, "%c %ld %u %d", &fault.role, &fault.number,
		        &fault.occurrence, &fault.error) != 4)
			exit(2);
		if (fault.role == '-')
			fault.role = '\0';
		printf("case %s", line);
		alive = fault_one(d, &fault);
		fault_disarm(&d->report);
		if (fault.role == '\0')
			show_calls(&d->report);
		if (!alive)
			await_launch(d);
		printf("hit %d\ncase-end\n", d->report.hit ? 1 : 0);
		(void)fflush(stdout);
	}
}

static void refuse(struct driver *d)
{
	struct launch_release no_run = { 99 };
	struct launch_run *r = &d->run;
	struct fd_list fds;

	tell(d, LAUNCH_RELEASE, &no_run, NULL);
	(void)started(d);
	*r = d->o.limits;
	r->run = 7;
	tell(d, LAUNCH_RUN, r, NULL);
	(void)started(d);
	fds.n = LAUNCH_FD_INPUTS;
	for (size_t i = 0; i < fds.n; i++)
		fds.fd[i] = d->stdin_fd;
	r->open_files = 5000;
	tell(d, LAUNCH_RUN, r, &fds);
	(void)started(d);
	r->open_files = 64;
	r->run = 0;
	tell(d, LAUNCH_RUN, r, &fds);
	(void)started(d);
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0')
		die("a number", NULL);
	return n;
}

static void parse_start(const char *text, struct options *o)
{
	o->faults = true;
	o->start = (struct fault){ .role = 'L', .at_start = true };
	if (sscanf(text, "%ld %u %d", &o->start.number, &o->start.occurrence,
	        &o->start.error) != 3)
		die("a fault", NULL);
}

static void parse(int argc, char **argv, struct options *o)
{
	int c;

	o->runs = 1;
	o->at_once = 1;
	o->loopback = true;
	o->limits = (struct launch_run){ .wall_ms = 20000,
		.cpu_ms = 20000,
		.memory = 256u << 20,
		.pids = 32,
		.open_files = 64,
		.file_size = 8u << 20,
		.scratch_bytes = 16u << 20,
		.scratch_inodes = 256 };
	while ((c = getopt(argc, argv,
	            "+c:n:C:m:p:o:f:s:i:w:u:LXF:I:E:W:BSHRQK:h:x:")) != -1)
		/* clang-format off */
		switch (c) {
		case 'c': o->code = optarg; break;
		case 'n': o->runs = number(optarg); break;
		case 'C': o->at_once = number(optarg); break;
		case 'm': o->limits.memory = number(optarg); break;
		case 'p': o->limits.pids = number(optarg); break;
		case 'o': o->limits.open_files = number(optarg); break;
		case 'f': o->limits.file_size = number(optarg); break;
		case 's': o->limits.scratch_bytes = number(optarg); break;
		case 'i': o->limits.scratch_inodes = number(optarg); break;
		case 'w': o->limits.wall_ms = number(optarg); break;
		case 'u': o->limits.cpu_ms = number(optarg); break;
		case 'L': o->loopback = false; break;
		case 'X': o->no_exec = true; break;
		case 'F': o->filter = optarg; break;
		case 'I': o->input = optarg; break;
		case 'E': o->entry = optarg; break;
		case 'W': o->whiteout = optarg; break;
		case 'S': o->show = true; break;
		case 'B': o->wait = true; break;
		case 'H': o->hold = true; break;
		case 'R': o->refuse = true; break;
		case 'Q': o->faults = true; break;
		case 'K': parse_start(optarg, o); break;
		case 'h': o->helper = number(optarg); break;
		case 'x': o->abuse = optarg; break;
		default: exit(2);
		}
	/* clang-format on */
	if (argc - optind < 2 || o->at_once >= RUNS_MAX)
		exit(2);
	o->launch = argv[optind];
	o->program = &argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct driver *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return 1;
	parse(argc, argv, &d->o);
	if (d->o.faults)
		(void)signal(SIGPIPE, SIG_IGN);
	start_launch(d);
	prepare(d);
	build(d);
	if (d->o.refuse)
		refuse(d);
	if (d->o.helper != 0)
		start_helper(d);
	if (d->o.faults) {
		(void)fflush(stdout);
		faults(d);
		await_launch(d);
		return 0;
	}
	for (unsigned long i = 0; i < d->o.runs; i++)
		batch(d, d->o.at_once);
	printf("done\n");
	(void)fflush(stdout);
	(void)close(d->channel.fd);
	(void)waitpid(d->launch, NULL, 0);
	return 0;
}
