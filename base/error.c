/*
 * base/error.c - fills struct error.  Linked by every program; trusts nothing.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_fill(struct error *e, enum error_kind kind, int saved_errno,
    const char *format, ...)
{
	va_list args;
	size_t used;

	e->kind = kind;
	e->saved_errno = saved_errno;
	va_start(args, format);
	(void)vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	if (saved_errno == 0)
		return;
	used = strlen(e->text);
	/* strerrordesc_np is async-signal-safe and thread-safe (glibc 2.32). */
	(void)snprintf(e->text + used, sizeof(e->text) - used, ": %s",
	    strerrordesc_np(saved_errno) != NULL ? strerrordesc_np(saved_errno)
	                                         : "unknown error");
}

void error_prefix(struct error *e, const char *format, ...)
{
	char rest[ERROR_TEXT_MAX];
	va_list args;
	size_t used;

	memcpy(rest, e->text, sizeof(rest));
	va_start(args, format);
	(void)vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	used = strlen(e->text);
	(void)snprintf(e->text + used, sizeof(e->text) - used, ": %.*s",
	    (int)(sizeof(rest) - 1), rest);
}
