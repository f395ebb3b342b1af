/*
 * executor/launch_nest.h - how the launcher of an account that is not root
 * comes to the capabilities that building sandboxes takes.
 */
#ifndef EXECUTOR_LAUNCH_NEST_H
#define EXECUTOR_LAUNCH_NEST_H

#include "base/error.h"

/* What it calls itself with once it is in a user namespace of its own. */
#define LAUNCHER_NESTED "--nested"

/* Enter one and execute ourselves in it; returns only if that fails, -1. */
int launcher_nest(char *name, struct error *e) MUST_CHECK;

#endif
