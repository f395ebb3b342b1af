/*
 * executor/launch.h - what a supervisor and its launcher say to each other.
 *
 * bailiff-launch holds the capabilities that building a sandbox takes.  It
 * parses no text and resolves no host path of a request: it gets fixed-size
 * members and descriptors.  At start the supervisor describes the file view by
 * ENTRY messages and BUILD; the launcher makes that view its own root, so that
 * every run's CLONE_NEWNS begins with a copy of it.
 *
 * One run: RUN -> STARTED (with descriptors) or FAILED; the run's own status
 * channel says STOPPED (the program stands before its first instruction,
 * confined) or STEP_FAILED, perhaps before STARTED is read; the supervisor
 * reads the posture back and writes one byte to the gate; at the end ENDED.  When cgroup.events says
 * populated 0 the supervisor collects and sends RELEASE -> RELEASED.
 *
 * The launcher kills every run when its channel closes, and pid 1 of a run
 * ends when the launcher is gone, so no run survives either.
 */
#ifndef EXECUTOR_LAUNCH_H
#define EXECUTOR_LAUNCH_H

#include <stdint.h>

#include "base/wire.h"

#define LAUNCH_RUNS_MAX   64
#define LAUNCH_PATH_MAX   256 /* inside the view */
#define LAUNCH_ARGS_MAX   69632
#define LAUNCH_ENV_MAX    8192
#define LAUNCH_NAME_MAX   256
#define LAUNCH_INPUTS_MAX 11 /* of a request, and directories of ours */
#define LAUNCH_STEP_MAX   32
#define LAUNCH_REMEDY_MAX 256
#define LAUNCH_GROUPS_MAX 256

/* Filters travel as memory files of struct sock_filter, at most 4096 long. */

enum launch_verb {
	LAUNCH_ENTRY = 1, /* part of the view; 0 or 1 descriptor */
	LAUNCH_BUILD, /* view complete: build it, and the instance; 1 descriptor,
	               * pid 1's filter */
	LAUNCH_RUN,
	LAUNCH_RELEASE,
	LAUNCH_HELPER, /* start bailiff-opener, -collect or -screen */
};

enum launch_reply_verb {
	LAUNCH_READY = 1,
	LAUNCH_STARTED,
	LAUNCH_FAILED,
	LAUNCH_RELEASED,
};

/* On the status channel of one run, from inside it. */
enum launch_status_verb {
	LAUNCH_STOPPED = 1, /* 1 descriptor: a pidfd of the program */
	LAUNCH_ENDED,
	LAUNCH_STEP_FAILED,
	/* Never to the supervisor: */
	LAUNCH_MAPS,   /* a clone asks its launcher for the id maps; 1
	                * descriptor, the scratch */
	LAUNCH_STANDS, /* the program's process to pid 1, before STOPPED; 0 or 1
	                * descriptor, the listener of its filter */
};

enum launch_entry_kind {
	ENTRY_DIRECTORY = 1, /* an empty directory */
	ENTRY_SYMLINK,       /* path -> target */
	ENTRY_FILE,          /* content copied from the descriptor */
	ENTRY_TREE, /* one mount of the host, by descriptor: a directory enters
	             * as a read-only overlay, a file as a read-only bind */
	ENTRY_WHITEOUT, /* what the tree has there is absent from the view */
};

struct launch_entry {
	uint32_t kind;
	uint32_t mode;
	char path[LAUNCH_PATH_MAX]; /* "usr", "etc/passwd"; no leading slash */
	char target[LAUNCH_PATH_MAX]; /* of a symlink, else "" */
};

struct launch_build {
	uint8_t instance[16];
	uint32_t landlock_min_abi;
	uint32_t ahead; /* whether sandboxes are made ahead of requests */
	uint32_t flags; /* LAUNCH_SHAPE of the request to expect first */
};

struct launch_ready {
	uint32_t landlock_abi;
	char cgroup_mode[LAUNCH_STEP_MAX]; /* "v2", "hybrid", "v1", "none" */
};

enum launch_place {
	LAUNCH_PLACE_FILE, /* a sealed file becomes /sandbox/NAME */
	/* Directories, to be seen there: of the host at /sandbox/NAME, one of ours
	 * at /opt/NAME, where what it holds may be executed. */
	LAUNCH_PLACE_SANDBOX,
	LAUNCH_PLACE_OPT,
};

struct launch_input {
	char name[LAUNCH_NAME_MAX]; /* file name in /sandbox */
	uint32_t is_directory;      /* enum launch_place */
};

struct launch_group {
	uint32_t gid;
};

#define LAUNCH_LANDLOCK_NET 1u /* deny TCP by Landlock as well: no loopback */
#define LAUNCH_LOOPBACK     2u /* bring lo up */
/* Bound memory for each process, having no control group for all of them. */
#define LAUNCH_OWN_MEMORY 8u
#define LAUNCH_NOEXEC     4u /* no code from the scratch: no 'exec_memory' */
/* The program is a sealed memory file, the last descriptor; 'program' is "". */
#define LAUNCH_PRODUCT 16u
/* What a sandbox made ahead has already, so that only such a request gets it. */
#define LAUNCH_SHAPE (LAUNCH_LANDLOCK_NET | LAUNCH_LOOPBACK | LAUNCH_NOEXEC)

/* Descriptors, in this order. */
enum launch_run_fd {
	LAUNCH_FD_CODE,  /* sealed */
	LAUNCH_FD_STDIN, /* what becomes 0, 1, 2 of the program */
	LAUNCH_FD_STDOUT,
	LAUNCH_FD_STDERR,
	LAUNCH_FD_FILTER, /* the program's */
	LAUNCH_FD_INPUTS, /* first of n inputs; files are sealed */
};

/* With all inputs, and the product. */
#define LAUNCH_FDS_MAX (LAUNCH_FD_INPUTS + LAUNCH_INPUTS_MAX + 1)

struct launch_run {
	uint64_t run; /* chosen by the supervisor; never 0, never twice */
	uint32_t flags;
	uint64_t wall_ms; /* pid 1 ends the run one second after this */
	uint64_t cpu_ms;
	uint64_t memory;
	uint64_t pids;
	uint64_t open_files;
	uint64_t file_size;
	uint64_t scratch_bytes;
	uint64_t scratch_inodes;
	char program[LAUNCH_PATH_MAX];      /* inside the view, absolute */
	char source[LAUNCH_NAME_MAX];       /* name of the code in /sandbox */
	WIRE_BLOB_OF(LAUNCH_ARGS_MAX) argv; /* each and a NUL, argv[0] first */
	WIRE_BLOB_OF(LAUNCH_ENV_MAX) env;   /* each NAME=VALUE and a NUL */
	WIRE_LIST_OF(struct launch_input, LAUNCH_INPUTS_MAX) inputs;
	/* As whom directories are read. */
	uint32_t uid, gid;
	WIRE_LIST_OF(struct launch_group, LAUNCH_GROUPS_MAX) groups;
};

/* Descriptors of STARTED, in this order; -1 is never sent: fewer come. */
enum launch_started_fd {
	LAUNCH_FD_INIT,    /* pidfd of pid 1 of the run */
	LAUNCH_FD_GATE,    /* write one byte to let the program go */
	LAUNCH_FD_STATUS,  /* status channel, our end */
	LAUNCH_FD_SCRATCH, /* read-only view of the scratch, for collection */
	/* Without control groups (READY says "none") nothing more comes: pid 1's pidfd
	 * kills the run, and tells that it is dead. */
	LAUNCH_FD_LONE_N,
	LAUNCH_FD_KILL =
	    LAUNCH_FD_LONE_N,  /* cgroup.kill of the v2 leaf, writable */
	LAUNCH_FD_EVENTS,      /* cgroup.events of the v2 leaf */
	LAUNCH_FD_CPU,         /* cpu.stat of the v2 leaf */
	LAUNCH_FD_MEMORY_PEAK, /* memory.peak or memory.max_usage_in_bytes; the
	                        * value is a number, or memory.current on v2
	                        * kernels before 5.19 (sampled) */
	LAUNCH_FD_MEMORY_OOM,  /* memory.events.local or memory.oom_control:
	                        * a line "oom_kill N" */
	LAUNCH_FD_PIDS_PEAK, /* pids.peak if there is one, else pids.current */
	LAUNCH_FD_PIDS_EVENTS, /* pids.events: a line "max N" */
	LAUNCH_FD_STARTED_N,
};

struct launch_started {
	uint64_t run;
	uint32_t init_pid;              /* in the initial pid namespace */
	uint32_t init_uid, program_uid; /* in the initial user namespace */
	char cgroup[LAUNCH_PATH_MAX];   /* "bailiff/<instance>/<slot>", or "" */
	uint64_t group; /* id of its v2 leaf, as the kernel counts; 0: none */
};

struct launch_failed {
	uint64_t run; /* 0: BUILD or HELPER */
	char step[LAUNCH_STEP_MAX];
	uint32_t saved_errno;
	char text[ERROR_TEXT_MAX];
	char remedy[LAUNCH_REMEDY_MAX];
};

struct launch_release {
	uint64_t run;
};

/* Rows of executor/confine.c: a program that stops has all of them. */
#define LAUNCH_CONFINE_STEPS 9

struct launch_stopped {
	/* of the ruleset in force, proven by the sentinel */
	uint32_t landlock_abi;
	uint32_t steps; /* confinement rows applied and proven */
};

struct launch_stands {
	uint64_t run, wall_ms;
	uint32_t landlock_abi, steps;
	char program[LAUNCH_PATH_MAX]; /* as asked for */
};

struct launch_ended {
	uint32_t exit_kind; /* enum event_exit: 1 code, 2 signal */
	uint32_t exit_value;
	uint32_t wall; /* 1: pid 1 itself ended it at wall limit + 1 s */
};

enum launch_helper_kind {
	HELPER_OPENER = 1,
	HELPER_COLLECT,
	HELPER_SCREEN,
};

/* One descriptor: the helper's end of a channel; it becomes its fd 3. */
struct launch_helper {
	uint32_t kind;
};

extern const struct wire_protocol launch_protocol;
extern const struct wire_protocol launch_reply_protocol;
extern const struct wire_protocol launch_status_protocol;

#endif
