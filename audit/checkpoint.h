/*
 * audit/checkpoint.h - the signed head that a log keeps of itself, as bytes.
 * Linked by the audit reader.  Whose signature it bears is asked of note_open.
 */
#ifndef AUDIT_CHECKPOINT_H
#define AUDIT_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* *ret is the caller's, to free; NULL where the folder holds no checkpoint. */
int checkpoint_read(
    int audit_fd, uint8_t **ret, size_t *ret_len, struct error *e) MUST_CHECK;

#endif
