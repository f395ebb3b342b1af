/*
 * executor/posture.h - read the posture of a stopped program back from the
 * kernel and compare it with what the policy compiled to.
 *
 * The program stands in a read of its gate, before its first instruction; the
 * files of /proc/<pid> are open to us by CAP_SYS_PTRACE (proc(5)).
 */
#ifndef EXECUTOR_POSTURE_H
#define EXECUTOR_POSTURE_H

#include <stdint.h>

#include "base/sha256.h"
#include "executor/posture_text.h"

#define POSTURE_NAMESPACES 7

/* Our own side, read once at start. */
struct posture_self {
	int proc_fd; /* owned: /proc */
	uint64_t namespace_ino[POSTURE_NAMESPACES];
	uint32_t filters;              /* seccomp filters on ourselves */
	char groups[POSTURE_LINE_MAX]; /* ours, each behind a space */
	char *found;                   /* owned buffers of POSTURE_TEXT_MAX */
	char *expected;
};

int posture_self(struct posture_self *ret, struct error *e) MUST_CHECK;

struct posture {
	uint8_t sha256[SHA256_BYTES]; /* of the text */
	uint64_t facts;
};

/* The process behind a pidfd; ERROR_STATE if it has ended. */
int posture_pid(const struct posture_self *self, int pid_fd, uint32_t *ret_pid,
    struct error *e) MUST_CHECK;

/* ERROR_STATE naming the first difference: the program must not run. */
int posture_check(const struct posture_self *self, int pid_fd,
    const struct posture_names *names, struct posture *ret,
    struct error *e) MUST_CHECK;

#endif
