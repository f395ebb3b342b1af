/*
 * policy/glob.h - patterns over the paths of files that a program left.  Pure.
 *
 * '*' is any bytes but '/', '?' one such byte; a component "**" is any number
 * of components, none too.  Everything else is itself: no classes, no braces,
 * no escapes.  "*.csv" is a file at the top; with "**" and a slash
 * before it, one anywhere; "out", a slash and "**": all beneath out.
 */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#define GLOB_MAX 128 /* bytes of a pattern with its NUL */

/* Whether it is one: components of plain ASCII, none of them empty, "." or
 * "..", without [ ] { } and backslash, and "**" only as a whole one. */
bool glob_is_fine(const char *pattern);

/*
 * Whether the whole of 'path' matches.  Total for any bytes; at most
 * len * GLOB_MAX steps.  'pattern' is fine.
 */
bool glob_matches(const char *pattern, const char *path, size_t len);

#endif
