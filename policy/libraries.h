/*
 * policy/libraries.h - names of libraries: as a policy allows them, a request
 * asks for them, and the files of a directory are called.  Pure.
 */
#ifndef POLICY_LIBRARIES_H
#define POLICY_LIBRARIES_H

#include "policy/policy.h"

/*
 * "NAME" or "NAME==VERSION".  A name is letters, digits and . _ - between them,
 * so it is never an option, a path or a URL of an installer.  Where names
 * fold (PEP 503: case, and . _ - alike), *ret is folded; else
 * a name is lower case.  False when the text is no such thing; *ret is then
 * untouched.
 */
bool library_parse(bool folds, const char *text, struct library *ret);

/* By name, and by version where the policy names one. */
bool library_is_allowed(
    const struct policy_language *l, const struct library *asked);

/*
 * What the file 'name' of the policy's directory holds, by the pattern of the
 * language's data; false if it is none, or not an allowed one.
 */
bool library_of_file(const struct policy_language *l, const char *name);

/* "NAME" or "NAME==VERSION" again. */
#define LIBRARY_TEXT_MAX ((size_t)2 * POLICY_NAME_MAX + 2)
void library_text(const struct library *library, char ret[LIBRARY_TEXT_MAX]);

/* Whether requests of this language may ask for any. */
bool library_any(const struct policy_language *l);

#endif
