/*
 * executor/peers.h - what the supervisor tells its log of our programs, and its
 * own launcher.  The signer: executor/signer_start.h.
 */
#ifndef EXECUTOR_PEERS_H
#define EXECUTOR_PEERS_H

#include "audit/client.h"
#include "base/channel.h"
#include "executor/launch.h"
#include "executor/service.h"
#include "executor/signer_start.h"
#include "executor/state.h"
#include "executor/template.h"

struct launcher_start {
	const struct template *view; /* borrowed */
	const uint8_t *instance;     /* borrowed, 16 bytes */
	uint32_t landlock_min_abi;
	uint32_t flags;     /* LAUNCH_SHAPE of the request to expect first */
	int init_filter_fd; /* borrowed: of pid 1 of every run */
	struct channel *channel; /* borrowed; gets the launcher's channel */
};

/*
 * Start bailiff-launch, send it the view and wait until it stands in it and
 * has moved us into our own cgroup.  What it cannot do is ERROR_UNAVAILABLE
 * with step, errno and remedy.  On success the channel is non-blocking and
 * *ret_pid_fd, owned by the caller, is its pidfd.
 */
int launcher_start(const struct launcher_start *start, struct launch_ready *ret,
    int *ret_pid_fd, struct error *e) MUST_CHECK;

/* It does not answer any more.  Takes root or CAP_KILL. */
void launcher_kill(int pid_fd);

#endif
