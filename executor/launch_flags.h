/*
 * executor/launch_flags.h - what a language's capabilities ask of its sandbox.
 */
#ifndef EXECUTOR_LAUNCH_FLAGS_H
#define EXECUTOR_LAUNCH_FLAGS_H

#include <stdint.h>

#include "executor/launch.h"
#include "policy/policy.h"

/* The part of launch_run.flags that sandboxes are made ahead for. */
static inline uint32_t launch_shape(const struct capabilities *c)
{
	return (c->loopback ? LAUNCH_LOOPBACK : LAUNCH_LANDLOCK_NET) |
	       (c->exec_memory ? 0 : LAUNCH_NOEXEC);
}

#endif
