/*
 * audit/head.h - state/head: one line of profile c1 that lets a start read
 * only the tail of the log, and the mark below which the log may never fall.
 *
 * Beside size, root, frontier and epoch it carries what the tail needs to be
 * judged: where it begins, the epoch's key and announcement, the open intents.
 * Nobody but the signer reads it; what it says is checked against the log.
 */
#ifndef AUDIT_HEAD_H
#define AUDIT_HEAD_H

#include "audit/chain.h"

#define HEAD_MAX 65536

/* Append the line with its LF. */
int head_format(const struct chain_state *s, struct text_out *out,
    struct error *e) MUST_CHECK;

/*
 * Read it.  ERROR_MALFORMED when it is damaged or contradicts itself (its root
 * is not that of its frontier).
 */
int head_parse(const char *text, size_t len, struct chain_state *ret,
    struct error *e) MUST_CHECK;

/* Replace state/head; 'state_fd' is borrowed. */
int head_write(int state_fd, const struct chain_state *s, enum store_sync sync,
    struct error *e) MUST_CHECK;

/* Read state/head.  ERROR_CLOSED when there is none. */
int head_read(
    int state_fd, struct chain_state *ret, struct error *e) MUST_CHECK;

#endif
