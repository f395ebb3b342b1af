/*
 * audit/signer_confine.h - what the signer gives up before it reads a key, a
 * log or a message.  Private to the signer.
 */
#ifndef AUDIT_SIGNER_CONFINE_H
#define AUDIT_SIGNER_CONFINE_H

#include <stddef.h>

#include "base/error.h"

/*
 * In order: no core dump, not traceable by its own uid, no new privileges, no
 * file but those beneath 'dir_fds' (Landlock, where the kernel has it), and of
 * system calls only those of a writer of logs.  Nothing is undone.
 */
int signer_confine(
    const int *dir_fds, size_t n_dirs, struct error *e) MUST_CHECK;

#endif
