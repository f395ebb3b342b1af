/*
 * cli/say.h - the lines of a command: errors on standard error, one line each,
 * with every foreign byte escaped; answers on standard output, checked.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stddef.h>

#include "base/error.h"

/* "bailiff: TEXT" on standard error; control characters are escaped. */
void say_line(const char *format, ...) PRINTF_LIKE(1, 2);

/* say_line the error; worth 'exit_code', so that a main can return it. */
int say_failed(const struct error *e, int exit_code);

/*
 * Write all to standard output.  0, or 1 after a line about what went wrong
 * (silent when the reader has left).
 */
int say_out(const char *text, size_t len) MUST_CHECK;

#endif
