/*
 * executor/scratch.h - what a run may write: made ahead of the request, sized
 * and filled when it has come, then the program's.
 */
#ifndef EXECUTOR_SCRATCH_H
#define EXECUTOR_SCRATCH_H

#include <stdint.h>

#include "base/error.h"
#include "executor/launch.h"

struct sandbox;

/* What one scratch may hold; inodes with those of code and inputs. */
struct scratch_size {
	uint64_t bytes, inodes;
};

/* /sandbox, /tmp and /dev/shm; by pid 1, in the launcher's user namespace. */
int sandbox_scratch(struct sandbox *s, struct error *e) MUST_CHECK;

struct scratch_size scratch_size_of(const struct launch_run *ask);
/* Of a mount of the whole scratch, by who may mount. */
int scratch_resize(
    int fd, const struct scratch_size *size, struct error *e) MUST_CHECK;
/* An empty directory in /sandbox, to mount on. */
int scratch_point(
    const struct sandbox *s, const char *name, struct error *e) MUST_CHECK;
/* After the last of those: /sandbox becomes pid 1's. */
int scratch_ready(const struct sandbox *s, struct error *e) MUST_CHECK;
/* Put code and inputs into /sandbox, with pid 1's uid, and hand it over. */
int scratch_fill(const struct sandbox *s, struct error *e) MUST_CHECK;

/*
 * Memory files lie on a mount that lets them be mapped executable: with
 * LAUNCH_NOEXEC *fd, a sealed one, becomes a copy on a mount that does not.
 * That is made ahead, since sandbox_seal forbids it.
 */
int sandbox_stdin_ready(struct sandbox *s, struct error *e) MUST_CHECK;
int sandbox_stdin_copy(
    const struct sandbox *s, int *fd, struct error *e) MUST_CHECK;

#endif
