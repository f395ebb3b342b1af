/*
 * executor/describe.h - what a front may know of the policy: DESCRIBE.
 */
#ifndef EXECUTOR_DESCRIBE_H
#define EXECUTOR_DESCRIBE_H

#include <stdint.h>

#include "executor/session.h"

/* Queue LANGUAGE for each language, then DESCRIBED; or FAILED. */
void describe_to(struct session *c, uint64_t request);

#endif
