/*
 * base/error.h - how every function of ours fails.
 *
 * A function that can fail returns 0 or -1 and takes 'struct error *e' as its
 * last parameter, never NULL.  On -1 *e is filled; on 0 it is untouched.
 * Filling allocates nothing, so it works out of memory and between clone and
 * exec.  The kind is for code, the text is for people.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <errno.h>

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define ERROR_TEXT_MAX    512

enum error_kind {
	ERROR_NONE,
	ERROR_SYSTEM,      /* a system call failed; saved_errno says why */
	ERROR_MALFORMED,   /* a file or a peer broke its format */
	ERROR_DENIED,      /* policy refused the request */
	ERROR_LIMIT,       /* a stated limit was reached */
	ERROR_STATE,       /* a valid message at the wrong moment */
	ERROR_UNAVAILABLE, /* this host lacks a protection or a tool we require */
	ERROR_TAMPERED,    /* the audit log does not verify */
	ERROR_USAGE,       /* the caller's words are off */
	ERROR_CLOSED,      /* the peer closed the channel */
};

struct error {
	enum error_kind kind;
	int saved_errno;
	char text[ERROR_TEXT_MAX]; /* truncated, never unterminated */
};

/*
 * Each of these fills *e and is worth -1, so that a caller writes
 * "return FAIL(...)".  They are macros only so that compilers and analysers
 * can see the -1.  FAIL_SYS appends strerror(errno); FAIL_IN puts context in
 * front of what is there.
 */
#define FAIL(e, kind, ...) (error_fill(e, kind, 0, __VA_ARGS__), -1)
#define FAIL_SYS(e, ...)   (error_fill(e, ERROR_SYSTEM, errno, __VA_ARGS__), -1)
#define FAIL_IN(e, ...)    (error_prefix(e, __VA_ARGS__), -1)

void error_fill(struct error *e, enum error_kind kind, int saved_errno,
    const char *format, ...) PRINTF_LIKE(4, 5);
void error_prefix(struct error *e, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
