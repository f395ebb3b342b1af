/*
 * executor/sandbox.h - one run from the inside: what a clone of the launcher
 * does to become pid 1 of a sandbox and to start the program.
 *
 * First, ahead of any request: control groups, proc, host name.  Then it waits
 * for one.  Two halves follow with a rendezvous between them.  Before it, in
 * the initial user namespace and with the launcher's capabilities: scratch,
 * mounts, loopback, then unshare(NEWUSER | NEWNS | NEWCGROUP), which locks
 * every mount.  The launcher then writes the id maps.  After it,
 * with capabilities over the new namespaces only: forbid further namespaces,
 * take pid 1's ids, fork the program, give everything up, wait.
 */
#ifndef EXECUTOR_SANDBOX_H
#define EXECUTOR_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/channel.h"
#include "executor/cgroup.h"
#include "executor/confine.h"
#include "executor/launch.h"
#include "executor/view.h"

/* On the host: the top layer of directories; root's, and nothing is in it. */
#define SANDBOX_EMPTY "/run/bailiff/empty"

/* Memory that a clone works on: its own copy of the launcher's. */
struct sandbox_memory {
	struct channel channel;
	struct launch_run ask;
	struct fd_list given; /* enum launch_run_fd */
	struct sock_filter filter[FILTER_LEN_MAX];
	struct sock_filter init_filter[FILTER_LEN_MAX];
	char *argv[LAUNCH_ARGS_MAX + 1]; /* every argument may be empty */
	char *env[LAUNCH_ENV_MAX + 1];
};

struct sandbox {
	struct launch_run *ask;        /* borrowed; void until it came */
	const struct view *view;       /* borrowed */
	struct sandbox_memory *memory; /* borrowed */
	struct cgroup_leaf leaf;
	struct fd_list *given;        /* borrowed: enum launch_run_fd */
	uint32_t init_id, program_id; /* uid and gid on the host */
	uint32_t landlock_abi;
	bool rootless;   /* one id for pid 1 and program */
	int sync_fd;     /* to the launcher: the request, then the maps */
	int status_fd;   /* to the supervisor */
	int gate_fd;     /* one byte from it lets the program go */
	int host_ns_fd;  /* the host's mounts, until directories are made */
	int liveness_fd; /* end of file when the launcher is gone */
	/* Made on the way: */
	int std_in_fd, scratch_fd, proc_fd, program_fd;
	int relay_fd, report_fd;
	int listener_fd; /* pid 1's: says yes to the one exec; or -1 */
	pid_t program;
	int program_pid_fd;
	struct confine_filter filter, init_filter;
};

/* Never returns; in the clone only. */
_Noreturn void sandbox_main(struct sandbox *s);

/* scratch.c: /sandbox, /tmp and /dev/shm, with code and inputs in them. */
int sandbox_scratch(struct sandbox *s, struct error *e) MUST_CHECK;
/*
 * Memory files lie on a mount that lets them be mapped executable: with
 * LAUNCH_NOEXEC *fd, a sealed one, becomes a copy on a mount that does not.
 */
int sandbox_stdin_copy(struct sandbox *s, int *fd, struct error *e) MUST_CHECK;
/* directories.c: overlays of host directories, in /sandbox. */
int sandbox_directories(struct sandbox *s, struct error *e) MUST_CHECK;
/* namespaces.c */
int sandbox_proc(struct sandbox *s, struct error *e) MUST_CHECK;
int sandbox_host(struct error *e) MUST_CHECK;
int sandbox_loopback(struct sandbox *s, struct error *e) MUST_CHECK;
int sandbox_separate(struct sandbox *s, struct error *e) MUST_CHECK;
int sandbox_seal(struct sandbox *s, struct error *e) MUST_CHECK;
/* program.c: the program's process; never returns. */
_Noreturn void sandbox_program(struct sandbox *s, int report_fd, int gate_fd);
/* init.c: pid 1 from the stop to the end; never returns. */
_Noreturn void sandbox_wait(struct sandbox *s);

/*
 * Send a status without descriptors by write(2), which every filter of ours
 * lets through.
 */
int sandbox_say(struct sandbox *s, int fd, uint16_t verb, const void *message,
    struct error *e) MUST_CHECK;

/*
 * Close all descriptors from 3 on but the 'n' at 'keep', which it sorts.  0 to
 * 2 are the host's null device.
 */
int sandbox_keep_only(int *keep, size_t n, struct error *e) MUST_CHECK;

/* Clone flags beside SIGCHLD and CLONE_PIDFD; cgroup_fd -1 for none. */
struct sandbox_clone {
	uint64_t flags;
	int cgroup_fd;
};

/* clone3(2): the pid in the parent, 0 in the child, -1. */
pid_t sandbox_fork(const struct sandbox_clone *how, int *ret_pid_fd,
    struct error *e) MUST_CHECK;

#endif
