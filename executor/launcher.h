/*
 * executor/launcher.h - the state of bailiff-launch and the verbs it serves.
 * One block, allocated at start; nothing is allocated after that.
 */
#ifndef EXECUTOR_LAUNCHER_H
#define EXECUTOR_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/channel.h"
#include "executor/launch.h"
#include "executor/launched.h"
#include "executor/sandbox.h"
#include "executor/view.h"

#define LAUNCHER_CHANNEL_FD  3
#define LAUNCHER_RUN_DIR     "/run/bailiff"
#define LAUNCHER_HELPERS_MAX 256

struct launcher {
	struct channel channel; /* to the supervisor */
	struct channel sync;    /* its fd is that of the run in hand */
	struct fd_list given;   /* descriptors of the message in hand */
	union {
		struct launch_entry entry;
		struct launch_build build;
		struct launch_run run;
		struct launch_release release;
		struct launch_helper helper;
	} request;
	union {
		struct launch_ready ready;
		struct launch_started started;
		struct launch_failed failed;
		struct launch_release released;
	} reply;
	bool rootless, built; /* in our own user namespace: launch_nest.c */
	bool grouped;         /* control groups hold runs, as root's always */
	bool ahead, park; /* ever; now: make one when nothing else is to do */
	uint32_t next_flags; /* of what is made then */
	struct scratch_size next_scratch;
	uint64_t n_slots; /* made so far: the number names a slot's groups */
	bool broken;      /* before BUILD, whose answer tells it */
	struct launch_failed why;
	int proc_fd;    /* the host's /proc */
	int host_ns_fd; /* the host's mount namespace, for helpers */
	int opener_fd, collect_fd, screen_fd;
	int uids_fd, instances_fd, instance_fd;
	int child_fd; /* signalfd of SIGCHLD */
	int liveness_read_fd, liveness_write_fd;
	uint32_t landlock_abi;
	struct cgroups cgroups;
	struct view view;
	struct launched runs[LAUNCHER_SLOTS];
	pid_t helpers[LAUNCHER_HELPERS_MAX]; /* 0: free */
	struct sandbox sandbox;              /* what the next clone gets */
	struct sandbox_memory memory;
	struct confine_filter init_filter; /* lies in 'memory' */
};

/* launch_setup.c: the channel; without it there is nobody to tell.  Then
 * descriptors, directories, capabilities; once, at start. */
int launcher_attach(struct launcher *l, struct error *e) MUST_CHECK;
int launcher_open(struct launcher *l, struct error *e) MUST_CHECK;
/* Give up the capabilities that only building the view took. */
int launcher_reduce(struct error *e) MUST_CHECK;
/* launch_build.c: BUILD; sends READY or FAILED. */
int launcher_build(struct launcher *l, struct error *e) MUST_CHECK;

/* launch_run.c: a run that fails is answered, not an error here. */
int launcher_run(struct launcher *l, struct error *e) MUST_CHECK;
int launcher_release(struct launcher *l, struct error *e) MUST_CHECK;
/* launch_helper.c: HELPER, and their ends. */
int launcher_helper(struct launcher *l, struct error *e) MUST_CHECK;
void launcher_reap_helpers(struct launcher *l);
/* launcher.c: keep the first failure before BUILD, for its answer. */
void launcher_break(
    struct launcher *l, const char *step, const struct error *e);
/* Answer; FAILED takes l->reply.failed as it is. */
int launcher_reply(struct launcher *l, uint16_t verb, const struct fd_list *fds,
    struct error *e) MUST_CHECK;
/* Serve until the channel closes (0) or a peer breaks the protocol (-1). */
int launcher_serve(struct launcher *l, struct error *e) MUST_CHECK;
/* Kill and remove everything of this instance. */
void launcher_close(struct launcher *l);

#endif
