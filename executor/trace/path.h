/*
 * executor/trace/path.h - strings of events: paths as the kernel's tree has
 * them, claims beside them, socket addresses.  Pure.  Linked by bailiff-tracer.
 */
#ifndef EXECUTOR_TRACE_PATH_H
#define EXECUTOR_TRACE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct path_bytes {
	size_t len;
	const unsigned char *data;
};

/*
 * Names from the leaf to the root, each with its NUL, to "/a/b" in 'ret', which
 * holds len + 1 bytes or more.  Without names it is "/".
 */
void path_join(
    const struct path_bytes *names, unsigned char *ret, size_t *ret_len);

/*
 * True if 'claim' does not name 'truth' as it stands: another absolute path, or
 * a relative one that is not its tail.  A link on the way is a difference too.
 */
bool path_differs(
    const struct path_bytes *claim, const struct path_bytes *truth);

/* Append "key":"text", or "key_hex":"..." if it is not plain text. */
int path_put(const char *key, const struct path_bytes *bytes,
    struct text_out *out, struct error *e) MUST_CHECK;

/* Append a sockaddr as the program passed it, the same way. */
int path_put_address(const char *key, const struct path_bytes *address,
    struct text_out *out, struct error *e) MUST_CHECK;

#endif
