/*
 * executor/confine.h - what a process gives up before user code runs in it.
 */
#ifndef EXECUTOR_CONFINE_H
#define EXECUTOR_CONFINE_H

#include <linux/filter.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/launch.h"
#include "executor/view.h"
#include "policy/filter.h"

/*
 * Fixed numbers of the program's process, all above its RLIMIT_NOFILE, so that
 * it can never make one of them itself.  RULESET and REPORT are gone at the
 * stop.
 */
#define CONFINE_RULESET_FD (FILTER_PROGRAM_FD - 3)
#define CONFINE_REPORT_FD  (FILTER_PROGRAM_FD - 2)
#define CONFINE_GATE_FD    (FILTER_PROGRAM_FD - 1)
#define CONFINE_OPEN_FILES (FILTER_PROGRAM_FD - 63) /* most that we grant */

/* A loaded filter; 'code' is borrowed. */
struct confine_filter {
	uint16_t len;
	struct sock_filter *code;
};

struct confine {
	const struct launch_run *ask; /* borrowed; void until it came */
	const struct view *view;      /* borrowed */
	uint32_t flags;               /* LAUNCH_SHAPE of what is asked for */
	struct confine_filter filter;
	int std_fd[3];                      /* become 0, 1, 2 */
	int report_fd, gate_fd, program_fd; /* become the numbers above */
	uint32_t landlock_abi;
	/* Supplementary groups that cannot be given up: 0 unless rootless. */
	int n_groups;
	int listener_fd;  /* out: of the filter, -1 if it asks nobody */
	uint32_t n_steps; /* out: rows applied and proven */
};

/*
 * Confine this process, row by row; nothing of it can be undone.  First, ahead
 * of any request, the rows that need none; then the others, and the proof of
 * all.  On failure *ret names the row, and the process must end.
 */
int confine_ahead(struct confine *c, struct launch_failed *ret) MUST_CHECK;
int confine_program(struct confine *c, struct launch_failed *ret) MUST_CHECK;

/* Rows, one file each; see steps.h.  ids.c: */
int apply_ids(struct confine *c, struct error *e) MUST_CHECK;
int prove_ids(struct confine *c, struct error *e) MUST_CHECK;
int apply_capabilities(struct confine *c, struct error *e) MUST_CHECK;
int prove_capabilities(struct confine *c, struct error *e) MUST_CHECK;
int apply_privileges(struct confine *c, struct error *e) MUST_CHECK;
int prove_privileges(struct confine *c, struct error *e) MUST_CHECK;
/* limits.c */
int apply_limits(struct confine *c, struct error *e) MUST_CHECK;
int prove_limits(struct confine *c, struct error *e) MUST_CHECK;
/* process.c */
int apply_session(struct confine *c, struct error *e) MUST_CHECK;
int prove_session(struct confine *c, struct error *e) MUST_CHECK;
int apply_descriptors(struct confine *c, struct error *e) MUST_CHECK;
int prove_descriptors(struct confine *c, struct error *e) MUST_CHECK;
int apply_signals(struct confine *c, struct error *e) MUST_CHECK;
int prove_signals(struct confine *c, struct error *e) MUST_CHECK;
/* landlock.c; the ruleset is made ahead, once all mounts are there. */
int confine_landlock_ready(const struct confine *c, struct error *e) MUST_CHECK;
int apply_landlock(struct confine *c, struct error *e) MUST_CHECK;
int prove_landlock(struct confine *c, struct error *e) MUST_CHECK;
/* seccomp.c */
int apply_filter(struct confine *c, struct error *e) MUST_CHECK;
int prove_filter(struct confine *c, struct error *e) MUST_CHECK;

/* The ABI of the running kernel's Landlock; 0 if it has none. */
uint32_t confine_landlock_abi(void);

/* Read a filter from a sealed memory file into 'to' (FILTER_LEN_MAX rows). */
int confine_filter_read(int fd, struct sock_filter *to,
    struct confine_filter *ret, struct error *e) MUST_CHECK;

/*
 * *ret_listener_fd, close-on-exec, answers the calls that the filter asks
 * about (SECCOMP_RET_USER_NOTIF); -1 if there are none.
 */
int confine_filter_load(const struct confine_filter *filter,
    int *ret_listener_fd, struct error *e) MUST_CHECK;

/* Empty every capability set of this process, and lock them so. */
int confine_drop_capabilities(struct error *e) MUST_CHECK;

#endif
