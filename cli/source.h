/*
 * cli/source.h - the code and the standard input of `bailiff run`, read as the
 * caller and sealed before anything is asked of a service.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <stddef.h>

#include "base/error.h"

/* No policy may allow more; the policy's own limits are far below. */
#define SOURCE_BYTES_MAX 67108864

enum source_kind {
	SOURCE_FILE,
	SOURCE_STDIN,
	SOURCE_TEXT
};

struct source {
	enum source_kind kind;
	const char *from; /* path, or the code itself; borrowed */
};

/*
 * Read the code into a sealed memory file; *ret_fd is the caller's.  Refused
 * in one line: what is neither file nor pipe, more than SOURCE_BYTES_MAX bytes
 * (before they are read, where their number is known), a NUL byte.
 * *ret_language is the language that the name's extension or a "#!" line tells
 * (static), or NULL.
 */
int source_read(const struct source *from, int *ret_fd,
    const char **ret_language, struct error *e) MUST_CHECK;

/*
 * Read a file to be sent along, by the first 'len' bytes of 'path'; refused as
 * source_read does, but it may hold any bytes.
 */
int source_input(
    const char *path, size_t len, int *ret_fd, struct error *e) MUST_CHECK;

enum source_stdin {
	SOURCE_STDIN_READ,
	SOURCE_STDIN_EMPTY
};

/*
 * Standard input to its end, or nothing when 'how' says so, when it is closed
 * or a terminal.  *ret_fd is a sealed memory file of the caller's.
 */
int source_stdin(
    enum source_stdin how, int *ret_fd, struct error *e) MUST_CHECK;

#endif
