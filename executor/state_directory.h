/*
 * executor/state_directory.h - one directory of STATE: made, given to its user,
 * checked.
 */
#ifndef EXECUTOR_STATE_DIRECTORY_H
#define EXECUTOR_STATE_DIRECTORY_H

#include <stdint.h>

#include "base/error.h"

/*
 * Open 'name' beneath 'dir_fd' for the program of 'role' (uids.h): made with
 * mode 0700 where it is missing; ERROR_STATE, with the remedy, where it belongs
 * to somebody else or others may write to it.
 */
int state_directory(int dir_fd, const char *name, uint32_t role, int *ret_fd,
    struct error *e) MUST_CHECK;

#endif
