/*
 * executor/sandbox.h - one run from the inside: what a clone of the launcher
 * does to become pid 1 of a sandbox, and the program's process, its child.
 *
 * All that does not depend on a request is done before there is one.  In the
 * initial user namespace and with the launcher's capabilities: control groups,
 * proc, host name, scratch, mounts, loopback, then unshare(NEWUSER | NEWNS |
 * NEWCGROUP), which locks every mount.  A rendezvous: the launcher writes the
 * id maps.  With capabilities over the new namespaces only: forbid further
 * namespaces, take pid 1's ids, fork the program's process.  Pid 1 then gives
 * everything up, and never holds a capability and a request at once.
 *
 * The program's process waits for the request, fills the scratch, confines
 * itself and stops before its first instruction.  A request with directories is
 * taken by pid 1, which mounts them before the user namespace is made.
 */
#ifndef EXECUTOR_SANDBOX_H
#define EXECUTOR_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/channel.h"
#include "executor/cgroup_leaf.h"
#include "executor/confine.h"
#include "executor/launch.h"
#include "executor/scratch.h"
#include "executor/view.h"

/* Name of a process that waits for a request. */
#define SANDBOX_PARKED "bailiff-parked"

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
	bool rootless;               /* one id for pid 1 and program */
	uint32_t flags;              /* LAUNCH_SHAPE of the request to come */
	bool has_directories;        /* it has */
	struct scratch_size scratch; /* the launcher may change it */
	int sync_fd;                 /* to the launcher, for the maps */
	int ask_fd;                  /* the request comes by it */
	int status_fd;               /* to the supervisor */
	int gate_fd;                 /* one byte from it lets the program go */
	int host_ns_fd;  /* the host's mounts, until directories are made */
	int liveness_fd; /* end of file when the launcher is gone */
	/* Made on the way: */
	int std_in_fd, stdin_copy_fd, scratch_fd, proc_fd, program_fd;
	int relay_fd, report_fd;
	int listener_fd; /* pid 1's: says yes to the one exec; or -1 */
	pid_t program;
	int program_pid_fd;
	struct confine_filter filter, init_filter; /* pid 1's: made at BUILD */
};

/* Never returns; in the clone only. */
_Noreturn void sandbox_main(struct sandbox *s);

/* Receive the request; it must be what the sandbox was made for. */
int sandbox_take(struct sandbox *s, struct error *e) MUST_CHECK;

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
/* init.c: pid 1 from then to the end; never returns. */
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

/* Touch what a request will be written to, so that no run waits for pages. */
void sandbox_touch(struct sandbox_memory *memory);

/* Clone flags beside SIGCHLD and CLONE_PIDFD; cgroup_fd -1 for none. */
struct sandbox_clone {
	uint64_t flags;
	int cgroup_fd;
};

/* clone3(2): the pid in the parent, 0 in the child, -1. */
pid_t sandbox_fork(const struct sandbox_clone *how, int *ret_pid_fd,
    struct error *e) MUST_CHECK;

#endif
