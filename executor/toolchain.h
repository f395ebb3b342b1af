/*
 * executor/toolchain.h - a language on this host.  Private to the supervisor.
 */
#ifndef EXECUTOR_TOOLCHAIN_H
#define EXECUTOR_TOOLCHAIN_H

#include "executor/launch.h"
#include "executor/sources.h"

/* How programs of one language start here; index as in the policy. */
struct toolchain {
	bool missing;
	char program[LAUNCH_PATH_MAX];    /* in the view */
	int filter_fd, compile_filter_fd; /* owned; struct sock_filter[] */
	uint8_t identity[SHA256_BYTES];   /* of the program's file, as it was */
	struct sources sources;           /* of libraries; n 0: none */
	int installer_fd;                 /* owned; its code */
};

#endif
