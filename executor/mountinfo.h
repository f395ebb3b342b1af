/*
 * executor/mountinfo.h - what the kernel's mount table says of a directory.
 * Linked by bailiff-launch and the supervisor.
 */
#ifndef EXECUTOR_MOUNTINFO_H
#define EXECUTOR_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Memory to work in, at least 32768 bytes. */
struct mountinfo_block {
	char *data;
	size_t size;
};

/*
 * Whether the mount that the directory 'fd' lies in has another
 * on it beneath that directory, in this mount namespace.  Linux 5.8.
 */
int mountinfo_below(int fd, struct mountinfo_block block, bool *ret_found,
    struct error *e) MUST_CHECK;

#endif
